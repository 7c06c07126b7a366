import type { Match } from "../schema.ts";
import type { ProductBody } from "../../../schema/bodies.ts";
import type { ApiError } from "../../../schema/errors.ts";
import type { Precondition } from "../../../db/entity_tag.ts";
import type { ProductKey } from "../../../db/products/change/keys.ts";
import type { Restoration } from "../../history/db/restorations.ts";

/** An operation on a product. Its body is valid. */
export type BatchOperation =
  | { method: "create"; body: ProductBody }
  | {
    method: "update";
    id: string;
    body: ProductBody;
    precondition?: Precondition | undefined;
  }
  | {
    method: "delete";
    id: string;
    /** The id as the client sent it. */
    sentId: string;
    precondition?: Precondition | undefined;
  }
  | { method: "restore" } & Restoration
  | {
    method: "upsert";
    key: MatchedKey;
    body: ProductBody;
    /** The error if it would update a product. The body is then empty. */
    updateError?: ApiError | undefined;
    /** The error if it would create a product, because none has the key. */
    creationError?: ApiError | undefined;
  };

/** The key by which an upsert finds its product, and the field of the body that has it. */
export interface MatchedKey extends ProductKey {
  match: Match;
}

/** An operation at its place in the batch. */
export interface Placed {
  index: number;
  operation: BatchOperation;
}

/** The body of an operation, empty for one that has none. */
export function bodyIn(operation: BatchOperation): ProductBody {
  return "body" in operation ? operation.body : {};
}
