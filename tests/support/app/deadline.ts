import { withDeadline } from "../../../db/connections/deadline.ts";

/**
 * The default time limit of a wait, which a busy machine does not reach. The changes of a
 * server wait for its oldest transaction, and other tests have some that take 10 to 20 s.
 */
export const PATIENCE_MS = 120_000;

/**
 * The option of a test that talks to other processes or by sockets: what it waits for without a
 * deadline of its own, such as a response, fails the test after this time.
 */
export const TIMED = { timeout: 600_000 };

/**
 * Settles as the promise does. After `ms`, rejects with what was awaited, and with what was
 * there instead.
 */
export function inTime<T>(
  awaited: string,
  promise: Promise<T>,
  instead: () => string = () => "nothing",
  ms = PATIENCE_MS,
): Promise<T> {
  const fail = () => new Error(`Waited ${ms / 1_000} s for ${awaited}. There was ${instead()}`);
  return withDeadline(performance.now() + ms, promise, fail);
}
