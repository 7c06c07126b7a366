import { ApiError } from "../../schema/errors.ts";
import { uuidv7 } from "../uuid.ts";
import { notFound } from "./read.ts";
import type { Matched } from "./rounds.ts";
import type { Change } from "./row.ts";
import type { Precondition } from "./write.ts";

/** The answer to a successful operation. */
export interface Success {
  status: 200 | 201;
  /** JSON text. */
  data: string;
}

/** The write of one product by an operation. */
export interface Task extends Change {
  index: number;
  /** For a deletion, the id as the client sent it. */
  deletedAs?: string;
  precondition?: Precondition | undefined;
}

/** The write of an operation, or its answer if it writes nothing. */
export function taskOf(
  { index, operation, products }: Matched,
): Task | Success | ApiError {
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
      if (!product) {
        return failedPrecondition(precondition) ??
          deletionAnswer(sentId, false);
      }
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
export function deletionAnswer(sentId: string, isDeleted: boolean): Success {
  const data = JSON.stringify({ id: sentId, deleted: isDeleted });
  return { status: 200, data };
}

/** The error of a precondition that the current product fails, or undefined. */
export function failedPrecondition(
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
