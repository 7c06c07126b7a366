import type { Precondition } from "../db/entity_tag.ts";
import { ApiError } from "../schema/errors.ts";

/* Entity tags and conditional requests (RFC 9110, 8.8.3 and 13). */

/**
 * The tag of a record whose response also shows a count, such as the number of its products. The
 * count changes the tag, but is no part of the record: `"abc"` with 3 products is `"abc.3"`. With a
 * count of 0 the tag is that of the record alone, as its creation returned it.
 */
export function withCount(etag: string, count: number): string {
  return count === 0 ? etag : etag.replace(/"$/, `.${count}"`);
}

/** Whether `If-None-Match` contains the tag. The comparison is weak (RFC 9110, 13.1.2). */
export function isNotModified({ headers }: Request, etag: string): boolean {
  const condition = headers.get("if-none-match");
  return condition !== null &&
    (condition.trim() === "*" ||
      tagsOf(condition).some((tag) => tag.replace(/^W\//, "") === etag));
}

/**
 * The precondition of a value of `If-Match`, or undefined without one. The comparison is
 * strong (RFC 9110, 13.1.1), and ignores a count in the tag.
 */
export function preconditionOf(
  condition: string | null | undefined,
): Precondition | undefined {
  if (typeof condition !== "string") return undefined;
  return (etag) => {
    if (etag !== undefined) {
      if (condition.trim() === "*") return;
      const tags = tagsOf(condition).map((tag) => tag.replace(/\.\d+"$/, '"'));
      if (tags.includes(etag)) return;
    }
    return new ApiError(
      "PRECONDITION_FAILED",
      "The current representation does not match If-Match",
    );
  };
}

/** Whether `Accept` prefers XML to JSON. */
export function prefersXml(request: Request): boolean {
  return prefers(request, "application/xml", "text/xml");
}

/** Whether `Accept` prefers one of these types to JSON (RFC 9110, 12.5.1). */
export function prefers({ headers }: Request, ...preferred: string[]): boolean {
  const accept = headers.get("accept") ?? "*/*";
  const qualityOf = (...types: string[]) =>
    Math.max(
      0,
      ...accept.split(",").map((range) => {
        const [type, ...parameters] = range.toLowerCase().split(";")
          .map((part) => part.trim());
        const q = parameters.find((parameter) => parameter.startsWith("q="));
        return types.includes(type!) ? Number(q?.slice(2) ?? 1) || 0 : 0;
      }),
    );
  return qualityOf(...preferred) >
    qualityOf("application/json", "application/*", "*/*");
}

function tagsOf(condition: string): string[] {
  return condition.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
