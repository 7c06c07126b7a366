/**
 * The part of `@std/assert` that the tests use, with the same names and signatures,
 * for machines without access to jsr.io. `links` in `deno.json` replaces the package
 * with this one. Without the link, tests use the real one.
 */
import { inspect, isDeepStrictEqual } from "node:util";

/** The error of a failed assertion. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Fails with the message. */
export function fail(message = "Failed"): never {
  throw new AssertionError(message);
}

/** Expects a truthy value. */
export function assert(
  value: unknown,
  message = "Expected a truthy value",
): asserts value {
  if (!value) fail(message);
}

/** Expects deeply equal values, including types and order. */
export function assertEquals<T>(actual: T, expected: T, message = ""): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const [a, e] = [textOf(actual), textOf(expected)];
  fail(
    a.includes("\n") && e.includes("\n")
      ? `Values are not equal: ${message}\n${difference(a, e)}`
      : `Values are not equal: ${message}\n  actual: ${show(actual)}\n  expected: ${
        show(expected)
      }`,
  );
}

/** A text as it is, and any other value as lines. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return inspect(value, {
    depth: Infinity,
    breakLength: 100,
    maxStringLength: 2000,
    maxArrayLength: Infinity,
  });
}

/** The most lines of each text that a difference shows. */
const SHOWN_LINES = 30;

/** The lines between the first and the last in which the texts differ. */
function difference(actual: string, expected: string): string {
  const [a, e] = [actual.split("\n"), expected.split("\n")];
  const shorter = Math.min(a.length, e.length);
  let start = 0;
  while (start < shorter && a[start] === e[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === e.at(-1 - end)) end++;
  const changed = (sign: string, lines: string[], others: string[]) => {
    const all = lines.slice(start, lines.length - end);
    const shown = all.slice(0, SHOWN_LINES).map((line, i) =>
      `  ${sign} ${partOf(line, others[start + i] ?? "")}`
    );
    const more = all.length - shown.length;
    return more > 0 ? [...shown, `  ${sign} … ${more} more lines`] : shown;
  };
  return [
    `  from line ${start + 1}, where - is expected and + is actual:`,
    ...changed("-", e, a),
    ...changed("+", a, e),
  ].join("\n");
}

/** The most characters of a line that a difference shows. */
const SHOWN_CHARACTERS = 200;

/** The line, or if it is long, the part from which it differs from the other one. */
function partOf(line: string, other: string): string {
  if (line.length <= SHOWN_CHARACTERS) return line;
  let same = 0;
  while (same < line.length && line[same] === other[same]) same++;
  const from = Math.max(0, same - 60);
  const part = line.slice(from, from + SHOWN_CHARACTERS);
  return `${from > 0 ? "…" : ""}${part}…`;
}

/** Expects values that are not deeply equal. */
export function assertNotEquals<T>(
  actual: T,
  expected: T,
  message = "",
): void {
  if (isDeepStrictEqual(actual, expected)) {
    fail(`Expected something else: ${show(actual)} ${message}`);
  }
}

/** Expects a value other than null and undefined. */
export function assertExists<T>(
  actual: T,
  message = `Expected a value: ${actual}`,
): asserts actual is NonNullable<T> {
  if (actual === null || actual === undefined) fail(message);
}

/** Expects text that matches the pattern. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  message = "",
): void {
  if (!expected.test(actual)) {
    fail(`Expected a match of ${expected}: ${show(actual)} ${message}`);
  }
}

/** Expects text that contains the other text. */
export function assertStringIncludes(
  actual: string,
  expected: string,
  message = "",
): void {
  if (!actual.includes(expected)) {
    fail(`Expected "${expected}" in ${show(actual)} ${message}`);
  }
}

/** Expects the function to throw, and returns the error. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any
  ErrorClass?: new (...args: any[]) => E,
  includes = "",
): E {
  try {
    fn();
  } catch (error) {
    return thrown(error, ErrorClass, includes);
  }
  fail("Expected the function to throw");
}

/** Expects the promise to be rejected, and returns the error. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any
  ErrorClass?: new (...args: any[]) => E,
  includes = "",
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return thrown(error, ErrorClass, includes);
  }
  fail("Expected the promise to be rejected");
}

function thrown<E extends Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any
  ErrorClass: (new (...args: any[]) => E) | undefined,
  includes: string,
): E {
  assert(
    error instanceof (ErrorClass ?? Error),
    `Not the expected error: ${error}`,
  );
  assertStringIncludes(error.message, includes);
  return error as E;
}

function show(value: unknown): string {
  return inspect(value, { depth: 10, breakLength: 100, maxStringLength: 2000 });
}
