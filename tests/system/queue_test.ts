import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import {
  type Caller,
  type Kind,
  MAX_WAITING,
  Queue,
} from "../../db/connections/queue.ts";
import { ApiError } from "../../schema/errors.ts";

const MINUTE_MS = 60_000;

function soon(): number {
  return performance.now() + MINUTE_MS;
}

function slots(count: number) {
  return Array.from({ length: count }, (_, i) => ({ i, isOpen: false }));
}

function caller(organizationId: string, name = "key"): Caller {
  return { organizationId, name };
}

async function assertRefused(operation: Promise<unknown>): Promise<void> {
  const error = await assertRejects(() => operation, ApiError);
  assertEquals(error.code, "SERVICE_UNAVAILABLE");
  assertEquals(error.headers, { "retry-after": "1" });
}

/** A queue with this number of slots, and functions to keep it busy. */
function busyQueue(count: number) {
  const queue = new Queue(slots(count));
  const running: (() => void)[] = [];
  const waiting: Promise<unknown>[] = [];

  return {
    queue,
    /** Sends this number of operations, and returns the list of those that have a slot. */
    send(count: number, who: Caller, kind: Kind): Caller[] {
      const started: Caller[] = [];
      for (let i = 0; i < count; i++) {
        waiting.push(
          queue.acquire(soon(), who, kind).then((slot) => {
            started.push(who);
            running.push(() => queue.release(slot, who, kind));
          }),
        );
      }
      return started;
    },
    /** Ends this number of operations, the longest running first. */
    async finish(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        await pause(1);
        running.shift()!();
      }
      await pause(1);
    },
  };
}

Deno.test("The queue gives each slot once", async () => {
  const queue = new Queue(slots(2));

  const [one, two] = [
    await queue.acquire(soon(), caller("a"), "short"),
    await queue.acquire(soon(), caller("b"), "short"),
  ];
  const third = queue.acquire(soon(), caller("a"), "short");

  assertEquals([one.i, two.i].sort(), [0, 1]);
  assertEquals(queue.load, { used: 2, waiting: 1 });
  queue.release(one, caller("a"), "short");
  assertEquals(await third, one);
  assertEquals(queue.load, { used: 2, waiting: 0 });
});

Deno.test("The queue serves the operations of a caller in order", async () => {
  const queue = new Queue(slots(1));
  const entered: number[] = [];
  const who = caller("a");
  const first = await queue.acquire(soon(), who, "long");
  const waiting = [1, 2, 3].map(async (n) => {
    const slot = await queue.acquire(soon(), who, "long");
    entered.push(n);
    queue.release(slot, who, "long");
  });

  queue.release(first, who, "long");
  await Promise.all(waiting);

  assertEquals(entered, [1, 2, 3]);
  assertEquals(queue.load, { used: 0, waiting: 0 });
});

Deno.test("The queue prefers a connected slot", async () => {
  const queue = new Queue([
    { name: "a", isOpen: false },
    { name: "b", isOpen: true },
    { name: "c", isOpen: false },
  ]);

  const { name } = await queue.acquire(soon(), caller("a"), "short");

  assertEquals(name, "b");
});

Deno.test("The queue refuses a waiting operation at its deadline", async () => {
  const queue = new Queue(slots(1));
  const slot = await queue.acquire(soon(), caller("a"), "short");

  await assertRefused(
    queue.acquire(performance.now() + 10, caller("b"), "short"),
  );

  assertEquals(queue.load, { used: 1, waiting: 0 });
  queue.release(slot, caller("a"), "short");
  assertEquals(queue.load, { used: 0, waiting: 0 });
});

Deno.test("The queue refuses an operation after its deadline, even with a free slot", async () => {
  const queue = new Queue(slots(1));

  await assertRefused(queue.acquire(performance.now(), caller("a"), "short"));

  assertEquals(queue.load, { used: 0, waiting: 0 });
});

for (
  const [who, other] of [
    [caller("a"), caller("b")],
    [caller("a", "1"), caller("a", "2")],
  ] as const
) {
  const what = who.organizationId === other.organizationId
    ? "the callers of an organization"
    : "organizations";

  Deno.test(`The queue lets ${what} take turns`, async () => {
    const { send, finish } = busyQueue(1);
    const many = send(100, who, "long");
    const few = send(3, other, "long");

    await finish(6);

    assertEquals([many.length, few.length], [4, 3]);
  });
}

Deno.test("The queue keeps slots for other organizations and callers", async () => {
  const { queue, send } = busyQueue(9);
  const one = send(20, caller("a", "1"), "long");
  const two = send(20, caller("a", "2"), "long");
  const three = send(20, caller("a", "3"), "short");
  await pause(1);

  // Of six slots for long operations, one is reserved for other organizations, and one for other callers.
  assertEquals([one.length, two.length, three.length], [4, 1, 3]);
  const other = await Promise.all([
    queue.acquire(performance.now() + 10, caller("b"), "long"),
  ]);

  assertEquals(other.length, 1);
  assertEquals(queue.load, { used: 9, waiting: 52 });
});

Deno.test("The queue keeps a third of the slots for short operations", async () => {
  const { queue, send } = busyQueue(9);
  const lists = ["a", "b", "c"].map((name) => send(20, caller(name), "long"));
  await pause(1);

  assertEquals(lists.flat().length, 6);
  for (const name of ["a", "b", "c"]) {
    await queue.acquire(performance.now() + 10, caller(name), "short");
  }
  assertEquals(queue.load, { used: 9, waiting: 54 });
});

Deno.test("The queue serves long operations among short ones", async () => {
  const { send, finish } = busyQueue(3);
  for (const name of ["a", "b", "c"]) send(20, caller(name), "short");
  const long = send(2, caller("writer"), "long");

  await finish(8);

  assertEquals(long.length, 2);
});

for (
  const [what, most, who] of [
    ["a caller", 500, () => caller("a")],
    ["an organization", 1_000, (i: number) => caller("a", `${i}`)],
    ["all", 10_000, (i: number) => caller(`${i}`)],
  ] as const
) {
  Deno.test(`The queue refuses more than ${most} operations of ${what}`, async () => {
    assert((MAX_WAITING as readonly number[]).includes(most));
    const queue = new Queue(slots(1));
    const first = await queue.acquire(soon(), caller("first"), "short");
    const waiting = Array.from({ length: most }, async (_, i) => {
      const slot = await queue.acquire(soon(), who(i), "short");
      queue.release(slot, who(i), "short");
    });

    await assertRefused(queue.acquire(soon(), who(most), "short"));

    if (what !== "all") {
      const other = queue.acquire(performance.now() + 10, caller("b"), "short");
      assertEquals(queue.load.waiting, most + 1);
      await assertRefused(other);
    }
    queue.release(first, caller("first"), "short");
    await Promise.all(waiting);
    assertEquals(queue.load, { used: 0, waiting: 0 });
  });
}

Deno.test("The queue loses neither operations nor slots", async () => {
  const queue = new Queue(slots(6));
  const running = { long: 0, a: 0, b: 0, a1: 0, a2: 0, b1: 0, b2: 0 };
  const most = { long: 4, a: 5, b: 5, a1: 4, a2: 4, b1: 4, b2: 4 };
  let [served, refused] = [0, 0];

  await Promise.all(Array.from({ length: 3_000 }, async () => {
    const [org, name] = [anyOf("a", "b"), anyOf("1", "2")];
    const who = caller(org, name);
    const kind = anyOf("short", "long");
    const parties = [org, `${org}${name}` as const];
    const counted = kind === "long" ? ["long" as const, ...parties] : parties;
    await pause(Math.random() * 200);
    try {
      const deadline = performance.now() + Math.random() * 300;
      const slot = await queue.acquire(deadline, who, kind);
      for (const party of counted) {
        running[party]++;
        assert(running[party] <= most[party], party);
      }
      await pause(Math.random() * 2);
      for (const party of counted) running[party]--;
      queue.release(slot, who, kind);
      served++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused++;
    }
  }));

  assertEquals(served + refused, 3_000);
  assert(served > 0 && refused > 0, `${served} served, ${refused} refused`);
  assertEquals(queue.load, { used: 0, waiting: 0 });
  assertEquals(queue.free.length, 6);
});

function anyOf<const T>(...values: T[]): T {
  return values[Math.floor(Math.random() * values.length)]!;
}
