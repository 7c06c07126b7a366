import { ApiError } from "../../schema/errors.ts";
import { uuidv7 } from "../uuid.ts";
import { notFound } from "./read.ts";
import type { Matched } from "./rounds.ts";
import type { Change } from "./row.ts";
import type { Precondition } from "./statements.ts";

/** The answer to an operation that succeeded. */
export interface Done {
  status: 200 | 201;
  /** JSON text. */
  data: string;
}

/** What an operation does to one product. */
export interface Task extends Change {
  index: number;
  /** The id as it was sent, of a product to delete. */
  deletedAs?: string;
  precondition?: Precondition | undefined;
}

/** What the operation does, or its answer where it does nothing. */
export function taskOf(
  { index, operation, products }: Matched,
): Task | Done | ApiError {
  const [product, another] = products;
  switch (operation.method) {
    case "create":
      return { index, id: uuidv7(), body: operation.body, isNew: true };
    case "update": {
      if (!product) return notFound(operation.id);
      const { id, body, precondition } = operation;
      return { index, id, body, isNew: false, precondition };
    }
    case "delete": {
      const { id, sentId, precondition } = operation;
      if (!product) return unmet(precondition) ?? deleted(sentId, false);
      const task = { index, id, body: {}, isNew: false, precondition };
      return { ...task, deletedAs: sentId };
    }
    case "upsert": {
      const { match, value, updated, created } = operation;
      if (another) return ambiguous(match);
      if (!product && match === "product_code") {
        return new ApiError("NOT_FOUND", `No product with the code "${value}"`);
      }
      const body = product ? updated : created;
      if (body instanceof ApiError) return body;
      return { index, id: product?.id ?? uuidv7(), body, isNew: !product };
    }
  }
}

/** The answer to a deletion. */
export function deleted(sentId: string, isDeleted: boolean): Done {
  const data = JSON.stringify({ id: sentId, deleted: isDeleted });
  return { status: 200, data };
}

/** The failure of a precondition by the product as it is, if it fails. */
export function unmet(
  precondition: Precondition | undefined,
  product?: string,
): ApiError | undefined {
  try {
    precondition?.(product);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function ambiguous(match: string): ApiError {
  return new ApiError("AMBIGUOUS", `Several products have this ${match}`);
}
