import { assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { type Caller, Queue } from "../../db/connections/queue.ts";
import { GrowingMemory, TextMemory } from "../../middleware/memory.ts";
import { streamParts } from "../../middleware/streams.ts";
import { ApiError } from "../../schema/errors.ts";
import { SHORT_BYTES } from "../../db/sizes.ts";

const A = { organizationId: "a", name: "1" };
const A2 = { organizationId: "a", name: "2" };
const B = { organizationId: "b", name: "1" };

const MINUTE_MS = 60_000;

Deno.test("The memory of requests", async ({ step: it }) => {
  const shared = () => new Queue(1_000, "memory", 3 / 4);
  const open = (memory: Queue, caller: Caller, ms = MINUTE_MS) =>
    new TextMemory(memory, { caller, deadline: performance.now() + ms });
  const keep = async (memory: Queue, caller: Caller, bytes: number) => {
    const own = open(memory, caller, 10);
    await own.keep(bytes);
    return own;
  };
  const refuses = (work: () => Promise<unknown>) =>
    assertRejects(work, ApiError, "memory was too busy");
  const fill = async (memory: Queue, caller: Caller) => {
    const all: TextMemory[] = [];
    try {
      for (;;) all.push(await keep(memory, caller, 10));
    } catch {
      return all;
    }
  };

  await it("leaves memory to other callers and organizations", async () => {
    const memory = shared();
    await fill(memory, A);
    await refuses(() => keep(memory, A, 10));
    await keep(memory, A2, 50);
    await fill(memory, A2);
    await refuses(() => keep(memory, A2, 10));
    await keep(memory, B, 100);
    await keep(memory, B, 50);
  });

  await it("gives most of the memory to a caller that is alone", async () => {
    const memory = shared();
    const half = [];
    for (let i = 0; i < 5; i++) half.push(await keep(memory, A, 100));
    await keep(memory, A, 60);
    await refuses(() => keep(memory, A, 10));

    // Others get half of what is left, and then the caller gets less.
    await keep(memory, B, 200);
    half.forEach((own) => own[Symbol.dispose]());
    await keep(memory, A, 300);
    await refuses(() => keep(memory, A, 100));
  });

  await it("gives any amount to whoever is alone", async () => {
    const memory = shared();
    using _large = await keep(memory, A, 1_200);

    await refuses(() => keep(memory, A, 1));
    await refuses(() => keep(memory, B, 1));
  });

  await it("frees what was disposed of once", async () => {
    const memory = shared();
    for (let i = 0; i < 3; i++) {
      const all = await keep(memory, A, 1_000);
      await refuses(() => keep(memory, A, 1));
      all[Symbol.dispose]();
      all[Symbol.dispose]();
    }
    const most = (await fill(memory, A)).length;
    await refuses(() => keep(memory, A, 10));
    assertEquals(most < 100, true);
  });

  await it("gives back what is no longer needed", async () => {
    const memory = shared();
    const large = await keep(memory, A, 1_000);

    await large.keep(100);

    await keep(memory, B, 500);
  });

  await it("lets whoever wants more wait for it, in turns", async () => {
    const memory = shared();
    const [first, ...rest] = await fill(memory, A);
    const admitted: string[] = [];
    const waiting = ([["a1", A], ["a2", A], ["b", B]] as const)
      .map(async ([name, caller]) => {
        using own = open(memory, caller);
        await own.keep(450);
        admitted.push(name);
      });
    await pause(1);
    assertEquals(admitted, []);

    first![Symbol.dispose]();
    rest.forEach((own) => own[Symbol.dispose]());
    await Promise.all(waiting);

    assertEquals(admitted.length, 3);
  });

  await it("has nobody wait who has some of it", async () => {
    const memory = shared();
    const two = [open(memory, A), open(memory, A)];
    await Promise.all(two.map((own) => own.keep(200)));

    // Together they want more than there is. Each gives back its part, so one of them runs.
    await Promise.all(two.map(async (own) => {
      await own.keep(900);
      own[Symbol.dispose]();
    }));

    await keep(memory, A, 500);
  });

  await it("counts the copies of a text", async () => {
    const memory = shared();
    const request = { caller: A, deadline: performance.now() + MINUTE_MS };
    using text = new TextMemory(memory, request, 5);
    assertEquals(text.bytes, SHORT_BYTES);

    await text.reserve(150);

    assertEquals(text.bytes, 150);
    await refuses(() => keep(memory, B, 300));
    await keep(memory, B, 200);
  });
});

Deno.test("Memory that grows takes what has arrived", async () => {
  const MIB = 2 ** 20;
  const shared = new Queue(8 * MIB, "memory", 3 / 4);
  const [first, second] = [new GrowingMemory(shared, A), new GrowingMemory(shared, B)];

  await first.hold(1);
  assertEquals(shared.load.used, MIB / 4);
  await first.hold(4 * MIB);
  await first.hold(3 * MIB);
  assertEquals(shared.load.used, 4 * MIB);
  await second.hold(2 * MIB);
  first[Symbol.dispose]();

  assertEquals(shared.load.used, 2 * MIB);
});

/** How a client takes a response in parts, and what it gets. */
const READERS: [how: string, read: (stream: ReadableStream<Uint8Array>) => Promise<unknown>][] = [
  ["that is read", (stream) => new Response(stream).text()],
  ["that is cancelled unread", (stream) => stream.cancel()],
  ["that is cancelled", async (stream) => {
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
  }],
  ["that fails", (stream) => new Response(stream).text().catch(() => {})],
  ["that nobody reads", () => pause(20)],
];

for (const [how, read] of READERS) {
  Deno.test(`A response in parts ${how} holds its memory until its end`, async () => {
    let ends = 0;
    const memory = { [Symbol.dispose]: () => void ends++ };
    async function* parts() {
      yield "a";
      await pause(1);
      if (how === "that fails") throw new Error();
      yield "b";
    }
    const stream = streamParts(parts(), { memory, timeoutMs: 10, warn() {} });
    assertEquals(ends, 0);

    await read(stream);
    await pause(1);

    assertEquals(ends, 1);
  });
}
