import { createHash } from "node:crypto";

/**
 * The strong entity tag of a representation (RFC 9110, 8.8.3). The column
 * `product_documents.etag` is computed in the same way.
 */
export function etagOf(representation: string): string {
  const hash = createHash("sha256").update(representation).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/**
 * Throws `PRECONDITION_FAILED` if the entity tag of the record before a write is not one
 * that `If-Match` names. The tag is undefined if there is no record.
 */
export type Precondition = (etag: string | undefined) => void;
