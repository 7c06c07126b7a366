import { assertEquals } from "@std/assert";
import { pause } from "../../../db/connections/deadline.ts";
import { inTime, PATIENCE_MS } from "./deadline.ts";

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
