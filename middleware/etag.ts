import { createHash } from "node:crypto";
import { ApiError } from "../schema/errors.ts";

/** The strong entity tag of a representation (RFC 9110, 8.8.3). */
export function etagOf(representation: string): string {
  const hash = createHash("sha256").update(representation).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/** Whether `If-None-Match` contains the tag. The comparison is weak (RFC 9110, 13.1.2). */
export function isNotModified(headers: Headers, etag: string): boolean {
  const condition = headers.get("if-none-match");
  return condition !== null &&
    (condition.trim() === "*" ||
      tagsOf(condition.replaceAll("W/", "")).includes(etag));
}

/**
 * The check that `If-Match` demands, if the header is present. It throws
 * `PRECONDITION_FAILED` for a missing representation or one with another tag
 * (RFC 9110, 13.1.1).
 */
export function preconditionOf(
  headers: Headers,
): ((representation: string | undefined) => void) | undefined {
  const condition = headers.get("if-match");
  if (condition === null) return undefined;
  return (representation) => {
    if (representation !== undefined) {
      if (condition.trim() === "*") return;
      if (tagsOf(condition).includes(etagOf(representation))) return;
    }
    throw new ApiError(
      "PRECONDITION_FAILED",
      "The current ETag of the product is not in If-Match",
    );
  };
}

function tagsOf(condition: string): string[] {
  return condition.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
