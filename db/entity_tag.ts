import { createHash } from "node:crypto";
import type { ApiError } from "../schema/errors.ts";

/**
 * The strong entity tag of a representation (RFC 9110, 8.8.3). The column
 * `product_documents.etag` is computed in the same way.
 */
export function etagOf(representation: string): string {
  const hash = createHash("sha256").update(representation).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/**
 * Returns `PRECONDITION_FAILED` unless `If-Match` has the entity tag of the record before the
 * write. The tag is undefined if there is no record.
 */
export type Precondition = (etag?: string) => ApiError | undefined;

/** Throws the error of a precondition. */
export function assertPrecondition(
  precondition: Precondition,
  etag?: string,
): void {
  const failed = precondition(etag);
  if (failed) throw failed;
}
