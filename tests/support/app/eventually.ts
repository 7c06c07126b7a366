import { assertEquals } from "@std/assert";
import { pause } from "../../../db/connections/deadline.ts";
import { inTime } from "./deadline.ts";

/**
 * The default time limit. The changes of a server wait for its oldest transaction, and other
 * tests have some that take 10 to 20 s.
 */
const PATIENCE_MS = 40_000;

/** Waits for the value, and after `ms` fails with the current one. */
export async function eventually<T>(
  expected: T,
  look: () => T | Promise<T>,
  ms = PATIENCE_MS,
): Promise<void> {
  const end = performance.now() + ms;
  let last = "nothing";
  for (;;) {
    const actual = await inTime(
      `a look that finds ${JSON.stringify(expected)}`,
      Promise.resolve(look()),
      () => last,
    );
    last = JSON.stringify(actual);
    if (last === JSON.stringify(expected)) return;
    if (performance.now() > end) assertEquals(actual, expected);
    await pause(20);
  }
}
