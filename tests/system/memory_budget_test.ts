import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  MemoryBudget,
  type Reservation,
} from "../../middleware/memory_budget.ts";
import { ApiError } from "../../schema/errors.ts";

const A = { organizationId: "a", name: "1" };
const A2 = { organizationId: "a", name: "2" };
const B = { organizationId: "b", name: "1" };

const MINUTE_MS = 60_000;

Deno.test("A memory budget", async (t) => {
  const refuses = (work: () => unknown) =>
    assertThrows(work, ApiError, "too little memory");
  const budget = () => new MemoryBudget(1_000, "memory");
  const open = (memory: MemoryBudget, holder: typeof A, ms = MINUTE_MS) =>
    memory.open(holder, performance.now() + ms);
  const reserve = (memory: MemoryBudget, holder: typeof A, bytes: number) => {
    const reservation = open(memory, holder);
    reservation.add(bytes);
    return reservation;
  };
  const fill = (memory: MemoryBudget, holder: typeof A): Reservation[] => {
    const all: Reservation[] = [];
    try {
      for (;;) all.push(reserve(memory, holder, 1));
    } catch {
      return all;
    }
  };

  await t.step("leaves memory to other callers and organizations", () => {
    const memory = budget();
    fill(memory, A);
    refuses(() => reserve(memory, A, 1));
    reserve(memory, A2, 50);
    fill(memory, A2);
    refuses(() => reserve(memory, A2, 1));
    reserve(memory, B, 100);
    reserve(memory, B, 50);
  });

  await t.step("gives most of the memory to a caller that is alone", () => {
    const memory = budget();
    const half = Array.from({ length: 5 }, () => reserve(memory, A, 100));
    reserve(memory, A, 60);
    refuses(() => reserve(memory, A, 10));

    // Others get half of what is left, and then the caller gets less.
    reserve(memory, B, 200);
    half.forEach((reservation) => reservation[Symbol.dispose]());
    reserve(memory, A, 300);
    refuses(() => reserve(memory, A, 100));
  });

  await t.step("gives an organization one reservation of any size", () => {
    const memory = budget();
    const large = open(memory, A);
    large.add(600);
    large.add(600);
    refuses(() => reserve(memory, A, 1));
    refuses(() => reserve(memory, A2, 1));
    reserve(memory, B, 600);
  });

  await t.step("frees a disposed reservation once", () => {
    const memory = budget();
    for (let i = 0; i < 3; i++) {
      const all = reserve(memory, A, 1_000);
      refuses(() => reserve(memory, A, 1));
      all[Symbol.dispose]();
      all[Symbol.dispose]();
    }
    fill(memory, A);
    refuses(() => reserve(memory, A, 1));
  });

  await t.step("lets whoever wants more wait for it, in turns", async () => {
    const memory = budget();
    const [first, ...rest] = fill(memory, A);
    const admitted: string[] = [];
    const waiting = ([["a1", A], ["a2", A], ["b", B]] as const)
      .map(async ([name, holder]) => {
        const reservation = open(memory, holder);
        await reservation.hold(450);
        admitted.push(name);
        reservation[Symbol.dispose]();
      });
    await Promise.resolve();
    assertEquals(admitted, []);

    first![Symbol.dispose]();
    rest.forEach((reservation) => reservation[Symbol.dispose]());
    await Promise.all(waiting);

    assertEquals(admitted.length, 3);
  });

  await t.step("has nobody wait who holds some of it", async () => {
    const memory = budget();
    const [one, two] = [open(memory, A), open(memory, A)];
    assert(one.take(200) && two.take(200));

    // Together they want more than there is. Each gives back its part, so one of them runs.
    const both = [one, two].map(async (reservation) => {
      await reservation.hold(900);
      reservation[Symbol.dispose]();
    });
    await Promise.all(both);

    assert(open(memory, A).take(500));
  });

  await t.step("refuses at the deadline", async () => {
    const memory = budget();
    await open(memory, A).hold(1_000);

    const error = await assertRejects(
      () => open(memory, A, 10).hold(1),
      ApiError,
    );

    assertEquals(error.code, "SERVICE_UNAVAILABLE");
  });

  await t.step(
    "gives nobody more without waiting while others wait",
    async () => {
      const memory = budget();
      const all = open(memory, A);
      await all.hold(500);
      const waiting = open(memory, A2);
      const wait = waiting.hold(600);

      assert(!open(memory, B).take(1));
      all[Symbol.dispose]();
      await wait;
      assert(open(memory, B).take(1));
    },
  );
});
