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
  fail(
    `Values are not equal: ${message}\n  actual: ${show(actual)}\n  expected: ${
      show(expected)
    }`,
  );
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
