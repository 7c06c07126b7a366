import { assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { SHORT_BYTES } from "../../db/long_text.ts";
import { MemoryBudget, type Reservation } from "../../middleware/memory.ts";
import { ApiError } from "../../schema/errors.ts";

const A = { organizationId: "a", name: "1" };
const A2 = { organizationId: "a", name: "2" };
const B = { organizationId: "b", name: "1" };

const MINUTE_MS = 60_000;

Deno.test("A memory budget", async ({ step: it }) => {
  const budget = () => new MemoryBudget(1_000, "memory");
  const open = (memory: MemoryBudget, holder: typeof A, ms = MINUTE_MS) =>
    memory.open(holder, performance.now() + ms);
  const hold = async (
    memory: MemoryBudget,
    holder: typeof A,
    bytes: number,
  ) => {
    const reservation = open(memory, holder, 10);
    await reservation.hold(bytes);
    return reservation;
  };
  const refuses = (work: () => Promise<unknown>) =>
    assertRejects(work, ApiError, "memory was too busy");
  const fill = async (memory: MemoryBudget, holder: typeof A) => {
    const all: Reservation[] = [];
    try {
      for (;;) all.push(await hold(memory, holder, 10));
    } catch {
      return all;
    }
  };

  await it("leaves memory to other callers and organizations", async () => {
    const memory = budget();
    await fill(memory, A);
    await refuses(() => hold(memory, A, 10));
    await hold(memory, A2, 50);
    await fill(memory, A2);
    await refuses(() => hold(memory, A2, 10));
    await hold(memory, B, 100);
    await hold(memory, B, 50);
  });

  await it("gives most of the memory to a caller that is alone", async () => {
    const memory = budget();
    const half = [];
    for (let i = 0; i < 5; i++) half.push(await hold(memory, A, 100));
    await hold(memory, A, 60);
    await refuses(() => hold(memory, A, 10));

    // Others get half of what is left, and then the caller gets less.
    await hold(memory, B, 200);
    half.forEach((reservation) => reservation[Symbol.dispose]());
    await hold(memory, A, 300);
    await refuses(() => hold(memory, A, 100));
  });

  await it("gives one reservation of any size to whoever is alone", async () => {
    const memory = budget();
    using _large = await hold(memory, A, 1_200);

    await refuses(() => hold(memory, A, 1));
    await refuses(() => hold(memory, B, 1));
  });

  await it("frees a disposed reservation once", async () => {
    const memory = budget();
    for (let i = 0; i < 3; i++) {
      const all = await hold(memory, A, 1_000);
      await refuses(() => hold(memory, A, 1));
      all[Symbol.dispose]();
      all[Symbol.dispose]();
    }
    const most = (await fill(memory, A)).length;
    await refuses(() => hold(memory, A, 10));
    assertEquals(most < 100, true);
  });

  await it("gives back what a reservation no longer needs", async () => {
    const memory = budget();
    const large = await hold(memory, A, 1_000);

    await large.hold(100);

    await hold(memory, B, 500);
  });

  await it("lets whoever wants more wait for it, in turns", async () => {
    const memory = budget();
    const [first, ...rest] = await fill(memory, A);
    const admitted: string[] = [];
    const waiting = ([["a1", A], ["a2", A], ["b", B]] as const)
      .map(async ([name, holder]) => {
        using reservation = open(memory, holder);
        await reservation.hold(450);
        admitted.push(name);
      });
    await pause(1);
    assertEquals(admitted, []);

    first![Symbol.dispose]();
    rest.forEach((reservation) => reservation[Symbol.dispose]());
    await Promise.all(waiting);

    assertEquals(admitted.length, 3);
  });

  await it("has nobody wait who holds some of it", async () => {
    const memory = budget();
    const two = [await hold(memory, A, 200), await hold(memory, A, 200)];
    for (const reservation of two) {
      reservation.deadline = performance.now() + MINUTE_MS;
    }

    // Together they want more than there is. Each gives back its part, so one of them runs.
    await Promise.all(two.map(async (reservation) => {
      await reservation.hold(900);
      reservation[Symbol.dispose]();
    }));

    await hold(memory, A, 500);
  });

  await it("counts the copies of a text", async () => {
    const memory = budget();
    using text = memory.open(A, performance.now() + MINUTE_MS, 5);
    assertEquals(text.bytes, SHORT_BYTES);

    await text.reserve(150);

    assertEquals(text.bytes, 150);
    await refuses(() => hold(memory, B, 300));
    await hold(memory, B, 200);
  });

  await it("refuses at the deadline", async () => {
    const memory = budget();
    await hold(memory, A, 1_000);

    const error = await assertRejects(() => hold(memory, A, 1), ApiError);

    assertEquals(error.code, "SERVICE_UNAVAILABLE");
  });
});
