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
 * The check for a value of `If-Match`, or undefined without one. The check throws
 * `PRECONDITION_FAILED` unless the current representation exists and matches. The
 * comparison is strong (RFC 9110, 13.1.1).
 */
export function preconditionOf(
  condition: string | null | undefined,
): ((representation: string | undefined) => void) | undefined {
  if (typeof condition !== "string") return undefined;
  return (representation) => {
    if (representation !== undefined) {
      if (condition.trim() === "*") return;
      if (tagsOf(condition).includes(etagOf(representation))) return;
    }
    throw new ApiError(
      "PRECONDITION_FAILED",
      "The current representation does not match If-Match",
    );
  };
}

function tagsOf(condition: string): string[] {
  return condition.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
