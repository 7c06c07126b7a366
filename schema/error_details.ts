import type * as v from "valibot";
import type { Fault } from "./errors.ts";

/**
 * Turns what valibot found into faults of a body. Every message in `schema/`
 * is written as `code: Sentence`, so that a rule and its code stand together.
 * `at` is the pointer to what was read, where that is not the whole body.
 */
export function toFaults(
  issues: readonly v.BaseIssue<unknown>[],
  at = "",
): Fault[] {
  return issues.map((issue) => ({
    pointer: at + pointerTo(issue),
    ...read(issue),
  }));
}

/** The same for a query, whose faults have a parameter and not a pointer. */
export function toParameterFaults(
  issues: readonly v.BaseIssue<unknown>[],
): Fault[] {
  return issues.map((issue) => ({
    parameter: printable(issue.path?.[0]?.key),
    ...read(issue),
  }));
}

function read(issue: v.BaseIssue<unknown>) {
  if (issue.type === "object" && issue.received === "undefined") {
    return { code: "required", message: "This field is required" };
  }
  const [, code = "invalid", message = issue.message] =
    /^(\w+): (.*)$/s.exec(issue.message) ?? [];
  return { code, message };
}

/** RFC 6901: `~` is written `~0`, `/` is written `~1`. */
function pointerTo({ path }: v.BaseIssue<unknown>): string {
  return (path ?? []).map(({ key }) =>
    "/" + printable(key).replaceAll("~", "~0").replaceAll("/", "~1")
  ).join("");
}

/** A key is the client's text: it may be long, or half a surrogate pair. */
function printable(key: unknown): string {
  const text = String(key).toWellFormed();
  return text.length > 100 ? text.slice(0, 100).toWellFormed() + "…" : text;
}

/** A reference to what the organization does not have. */
export function unknownReference(pointer: string): Fault {
  return {
    pointer,
    code: "unknown_reference",
    message: "There is no such record in this organization",
  };
}

/** A series that is not one of the product's collections (specification, 2.1). */
export function seriesNotAttached(pointer: string): Fault {
  return {
    pointer,
    code: "series_not_attached",
    message: "The series is not one of the product's collections",
  };
}

/** A price whose days are the wrong way round. */
export function endsTooEarly(pointer: string): Fault {
  return {
    pointer,
    code: "invalid_date",
    message: "A price ends on the day it begins, or later",
  };
}
