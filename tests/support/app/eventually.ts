import { assertEquals } from "@std/assert";
import { pause } from "../../../db/connections/deadline.ts";

/** Waits for the value, and after `ms` fails with the current one. */
export async function eventually<T>(
  expected: T,
  look: () => T | Promise<T>,
  ms = 10_000,
): Promise<void> {
  const end = performance.now() + ms;
  for (;;) {
    const actual = await look();
    if (JSON.stringify(actual) === JSON.stringify(expected)) return;
    if (performance.now() > end) assertEquals(actual, expected);
    await pause(20);
  }
}
