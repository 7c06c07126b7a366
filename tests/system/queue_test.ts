import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { type Caller, type Kind, MAX_WAITING, Queue } from "../../db/connections/queue.ts";
import { ApiError, type ErrorCode } from "../../schema/errors.ts";

const MINUTE_MS = 60_000;

function soon(): number {
  return performance.now() + MINUTE_MS;
}

function queueOf(places: number): Queue {
  return new Queue(places, "database");
}

function caller(organizationId: string, name = "key"): Caller {
  return { organizationId, name };
}

async function assertRefused(
  operation: Promise<unknown>,
  code: ErrorCode = "SERVICE_UNAVAILABLE",
): Promise<void> {
  const error = await assertRejects(() => operation, ApiError);
  assertEquals(error.code, code);
  assertEquals(error.headers["retry-after"], "1");
}

/** A queue with this number of places, and functions to keep it busy. */
function busyQueue(count: number) {
  const queue = queueOf(count);
  const running: (() => void)[] = [];

  return {
    queue,
    /** Sends this number of operations, and returns the list of those that have a place. */
    send(count: number, who: Caller, kind: Kind): Caller[] {
      const started: Caller[] = [];
      for (let i = 0; i < count; i++) {
        queue.enter(who, kind, soon()).then((place) => {
          started.push(who);
          running.push(() => place[Symbol.dispose]());
        }).catch(() => {}); // Refused in a minute, if the test ends before its turn.
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

Deno.test("The queue serves the operations of a caller in order", async () => {
  const queue = queueOf(1);
  const entered: number[] = [];
  const who = caller("a");
  const first = await queue.enter(who, "long", soon());
  const waiting = [1, 2, 3].map(async (n) => {
    const place = await queue.enter(who, "long", soon());
    entered.push(n);
    place[Symbol.dispose]();
  });

  first[Symbol.dispose]();
  await Promise.all(waiting);

  assertEquals(entered, [1, 2, 3]);
  assertEquals(queue.load, { used: 0, waiting: 0 });
});

Deno.test("The queue refuses a waiting operation at its deadline", async () => {
  const queue = queueOf(1);
  const place = await queue.enter(caller("a"), "short", soon());

  await assertRefused(
    queue.enter(caller("b"), "short", performance.now() + 10),
  );

  assertEquals(queue.load, { used: 1, waiting: 0 });
  place[Symbol.dispose]();
  assertEquals(queue.load, { used: 0, waiting: 0 });
});

Deno.test("The queue refuses an operation after its deadline, even with a free place", async () => {
  const queue = queueOf(1);

  await assertRefused(queue.enter(caller("a"), "short", performance.now()));

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

Deno.test("The queue keeps places for other organizations and callers", async () => {
  const { queue, send } = busyQueue(9);
  const one = send(20, caller("a", "1"), "long");
  const two = send(20, caller("a", "2"), "long");
  const three = send(20, caller("a", "3"), "short");
  await pause(1);

  // Of six places for long operations, one is left to other organizations, and one to other callers.
  assertEquals([one.length, two.length, three.length], [4, 1, 2]);
  await queue.enter(caller("b"), "long", performance.now() + 10);
  await queue.enter(caller("c"), "short", performance.now() + 10);
  assertEquals(queue.load, { used: 9, waiting: 53 });
});

Deno.test("The queue keeps a third of the places for short operations", async () => {
  const { queue, send } = busyQueue(12);
  const lists = ["a", "b", "c"].map((name) => send(20, caller(name), "long"));
  await pause(1);

  assertEquals(lists.flat().length, 8);
  for (const name of ["a", "b", "c", "a new organization"]) {
    await queue.enter(caller(name), "short", performance.now() + 10);
  }
  assertEquals(queue.load, { used: 12, waiting: 52 });
});

Deno.test("The queue lets one caller alone have most places", async () => {
  const { send } = busyQueue(12);

  const short = send(20, caller("a"), "short");
  await pause(1);

  assertEquals(short.length, 9);
});

Deno.test("The queue serves long operations among short ones", async () => {
  const { send, finish } = busyQueue(3);
  for (const name of ["a", "b", "c"]) send(20, caller(name), "short");
  const long = send(2, caller("writer"), "long");

  await finish(8);

  assertEquals(long.length, 2);
});

for (
  const [what, most, code, who] of [
    ["a caller", 500, "TOO_MANY_REQUESTS", () => caller("a")],
    [
      "an organization",
      1_000,
      "TOO_MANY_REQUESTS",
      (i: number) => caller("a", `${i}`),
    ],
    ["all", 10_000, "SERVICE_UNAVAILABLE", (i: number) => caller(`${i}`)],
  ] as const
) {
  Deno.test(`The queue refuses more than ${most} operations of ${what}`, async () => {
    assert(Object.values(MAX_WAITING).includes(most));
    const queue = queueOf(1);
    const first = await queue.enter(caller("first"), "short", soon());
    const waiting = Array.from({ length: most }, async (_, i) => {
      const place = await queue.enter(who(i), "short", soon());
      place[Symbol.dispose]();
    });

    await assertRefused(queue.enter(who(most), "short", soon()), code);

    if (what !== "all") {
      const other = queue.enter(caller("b"), "short", performance.now() + 10);
      assertEquals(queue.load.waiting, most + 1);
      await assertRefused(other);
    }
    first[Symbol.dispose]();
    await Promise.all(waiting);
    assertEquals(queue.load, { used: 0, waiting: 0 });
  });
}

Deno.test("The queue loses neither operations nor places", async () => {
  const queue = queueOf(6);
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
      const place = await queue.enter(who, kind, deadline);
      for (const party of counted) {
        running[party]++;
        assert(running[party] <= most[party], party);
      }
      await pause(Math.random() * 2);
      for (const party of counted) running[party]--;
      place[Symbol.dispose]();
      served++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused++;
    }
  }));

  assertEquals(served + refused, 3_000);
  assert(served > 0 && refused > 0, `${served} served, ${refused} refused`);
  assertEquals(queue.load, { used: 0, waiting: 0 });
});

function anyOf<const T>(...values: T[]): T {
  return values[Math.floor(Math.random() * values.length)]!;
}
