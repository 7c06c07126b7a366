/**
 * The part of `@std/assert` that the tests use, with its names and signatures,
 * for machines that do not reach jsr.io: `links` in `deno.json` puts it in the
 * place of the package. Remove the link, and the real one serves.
 */
import { inspect, isDeepStrictEqual } from "node:util";

/** What a failed assertion throws. */
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

/** Expects structures that are equal, type and order included. */
export function assertEquals<T>(actual: T, expected: T, message = ""): void {
  if (isDeepStrictEqual(actual, expected)) return;
  fail(
    `Values are not equal: ${message}\n  actual: ${show(actual)}\n  expected: ${
      show(expected)
    }`,
  );
}

/** Expects structures that differ. */
export function assertNotEquals<T>(
  actual: T,
  expected: T,
  message = "",
): void {
  if (isDeepStrictEqual(actual, expected)) {
    fail(`Expected something else: ${show(actual)} ${message}`);
  }
}

/** Expects a value that is neither null nor undefined. */
export function assertExists<T>(
  actual: T,
  message = `Expected a value: ${actual}`,
): asserts actual is NonNullable<T> {
  if (actual === null || actual === undefined) fail(message);
}

/** Expects text that the pattern matches. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  message = "",
): void {
  if (!expected.test(actual)) {
    fail(`Expected a match of ${expected}: ${show(actual)} ${message}`);
  }
}

/** Expects text that contains the other. */
export function assertStringIncludes(
  actual: string,
  expected: string,
  message = "",
): void {
  if (!actual.includes(expected)) {
    fail(`Expected "${expected}" in ${show(actual)} ${message}`);
  }
}

/** Expects the function to throw, and returns what it threw. */
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

/** Expects the promise to be rejected, and returns with what. */
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
