import type { ProductBody } from "../../../schema/bodies.ts";
import { ApiError, type ErrorDetail, invalid } from "../../../schema/errors.ts";
import { givenReferences, namedReferences, withIds } from "../../../schema/references.ts";
import type { Transaction } from "../../connections/transaction.ts";
import { uuidv7 } from "../../uuid.ts";
import type { Creation, Write } from "../change/change.ts";
import { productNotFound } from "./errors.ts";
import { findErrors } from "./find_errors.ts";

/*
 * Completes the errors of refused bodies, so that one response lists all. Only the database can
 * find unknown ids, and dates that contradict stored ones. So the accepted part of a body that the
 * schemas refuse (`schema/accepted.ts`) is checked against the database as well.
 *
 * Example: a body with `page_count: "x"` and an unknown `publisher_id` gets both errors at once.
 */

/** Returns the accepted part of a refused body as a change, if the database can find errors in it. */
export function acceptedWrite({ accepted }: ApiError): Write | undefined {
  const body = (accepted ?? {}) as ProductBody;
  const isChecked = "publishing_dates" in body ||
    givenReferences(body).some(({ value }) => value);
  return isChecked ? possibleCreation(body) : undefined;
}

/** Returns a change of a product that may exist: it is checked as a creation. */
export function possibleCreation(body: ProductBody, id = uuidv7()): Creation {
  return { method: "create", id, body, keepsIds: true, mayExist: true };
}

/** A refused change, with the errors that are known already. */
export interface FaultyWrite {
  write: Write;
  details: readonly ErrorDetail[];
}

/** Returns the error of each change, with the known details and those that the database finds. */
export async function completeErrors(
  tx: Transaction,
  faulty: readonly FaultyWrite[],
): Promise<ApiError[]> {
  if (faulty.length === 0) return [];
  const found = await findErrors(tx.send, faulty.map(({ write }) => checkedPart(write)));
  return faulty.map(({ write, details }, i) =>
    found[i] ? invalid("The body", [...details, ...found[i]]) : productNotFound(write.id)
  );
}

/** Returns the change without names, and without a series that the product may have. */
function checkedPart(write: Write): Write {
  let { body } = write;
  body = withIds(body, namedReferences(body).map((named) => [named, null]));
  // The product, if it exists, can have the collection of its series.
  const mayExist = write.method === "create" && write.mayExist;
  if (mayExist && !body.product_collections) {
    body = { ...body, series_id: null };
  }
  return { ...write, body };
}
