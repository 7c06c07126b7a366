import { assertEquals, assertRejects } from "@std/assert";
import { pause, withDeadline } from "../../db/connections/deadline.ts";
import { TIMED } from "../support/app/deadline.ts";

const late = () => new Error("late");

Deno.test("A deadline", TIMED, async ({ step: it }) => {
  await it("ends a wait for a promise that never settles", async () => {
    const never = new Promise<never>(() => {});

    await assertRejects(
      () => withDeadline(performance.now(), never, late),
      Error,
    );
  });

  await it("lets a promise settle in time", async () => {
    const deadline = performance.now() + 60_000;

    assertEquals(await withDeadline(deadline, Promise.resolve(1), late), 1);
    await assertRejects(
      () => withDeadline(deadline, Promise.reject(new TypeError()), late),
      TypeError,
    );
  });

  await it("holds although other promises settle after theirs", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const expired = withDeadline(performance.now(), promise, late);
    const others = Array.from(
      { length: 3 },
      () => withDeadline(performance.now() + 100, never, late),
    );
    await assertRejects(() => expired, Error);

    resolve();
    await pause(1);

    const ends = await Promise.allSettled(others);
    assertEquals(ends.map(({ status }) => status), Array(3).fill("rejected"));
  });
});
