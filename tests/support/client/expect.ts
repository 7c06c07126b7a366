import { assertEquals } from "@std/assert";
import type { Reply } from "./envelope.ts";

/** Expects a 400 with exactly these details, as pointers with codes. */
export function assertDetails(
  { status, body }: Reply,
  ...expected: (readonly [pointer: string, code: string])[]
): void {
  assertEquals(status, 400, JSON.stringify(body));
  assertEquals(body.error.code, "VALIDATION_ERROR");
  const details: { pointer: string; code: string }[] = body.error.details;
  assertEquals(
    details.map(({ pointer, code }) => [pointer, code]).sort(),
    expected.map((fault) => [...fault]).sort(),
  );
}

/** Expects these values. Objects may have additional fields. */
export function assertHas(
  actual: unknown,
  expected: unknown,
  message = "",
): void {
  assertEquals(part(actual, expected), expected, message);
}

/** The text of a response without its request id. */
export function withoutRequestId({ text, headers }: Reply): string {
  return text.replace(headers.get("x-request-id")!, "");
}

/** The value, reduced to the fields of the other value. */
function part(value: unknown, other: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(other)) {
    return value.map((item, i) => part(item, other[i]));
  }
  if (!isObject(value) || !isObject(other)) return value;
  return Object.fromEntries(
    Object.keys(other).map((key) => [key, part(value[key], other[key])]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
