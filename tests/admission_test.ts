import { assertEquals, assertRejects } from "@std/assert";
import { Admission } from "../db/admission.ts";
import { ApiError } from "../schema/error.ts";

const MINUTE_MS = 60_000;

function soon(): number {
  return performance.now() + MINUTE_MS;
}

function places(...names: string[]) {
  return names.map((name) => ({ name, isOpen: false }));
}

async function assertRefused(operation: Promise<unknown>): Promise<void> {
  const error = await assertRejects(() => operation, ApiError);
  assertEquals(error.code, "SERVICE_UNAVAILABLE");
  assertEquals(error.headers, { "retry-after": "1" });
}

Deno.test("Admission gives each place once", async () => {
  const admission = new Admission(places("a", "b"));

  const [one, two] = [
    await admission.enter(soon()),
    await admission.enter(soon()),
  ];
  const third = admission.enter(soon());

  assertEquals([one.name, two.name].sort(), ["a", "b"]);
  assertEquals(admission.load, { used: 2, waiting: 1 });
  admission.leave(one);
  assertEquals(await third, one);
  assertEquals(admission.load, { used: 2, waiting: 0 });
});

Deno.test("Admission lets those who wait in as they came", async () => {
  const admission = new Admission(places("a"));
  const entered: number[] = [];
  const first = await admission.enter(soon());
  const waiting = [1, 2, 3].map(async (n) => {
    const place = await admission.enter(soon());
    entered.push(n);
    admission.leave(place);
  });

  admission.leave(first);
  await Promise.all(waiting);

  assertEquals(entered, [1, 2, 3]);
  assertEquals(admission.load, { used: 0, waiting: 0 });
});

Deno.test("Admission prefers a place that is open", async () => {
  const admission = new Admission([
    { name: "a", isOpen: false },
    { name: "b", isOpen: true },
    { name: "c", isOpen: false },
  ]);

  const { name } = await admission.enter(soon());

  assertEquals(name, "b");
});

Deno.test("Admission gives a place to as many as may share it", async () => {
  const admission = new Admission(places("a", "b"), 2);
  const entered = [];
  for (let i = 0; i < admission.capacity; i++) {
    entered.push(await admission.enter(soon()));
  }
  const fifth = admission.enter(soon());

  assertEquals(
    entered.map(({ name }) => name).sort(),
    ["a", "a", "b", "b"],
  );
  assertEquals(admission.load, { used: 2, waiting: 1 });
  assertEquals(admission.free, []);
  admission.leave(entered[0]!);
  assertEquals(await fifth, entered[0]);
});

Deno.test("Admission prefers the place that fewest share", async () => {
  const [a, b] = [{ name: "a", isOpen: true }, { name: "b", isOpen: true }];
  const admission = new Admission([a, b], 2);
  const [one, two] = [
    await admission.enter(soon()),
    await admission.enter(soon()),
  ];

  assertEquals(new Set([one, two]), new Set([a, b]));
  admission.leave(b);
  assertEquals(await admission.enter(soon()), b);
});

Deno.test("Admission shares what is open before it has more opened", async () => {
  const [a, b] = [{ name: "a", isOpen: false }, { name: "b", isOpen: true }];
  const admission = new Admission([a, b], 2);

  const entered = [];
  for (let i = 0; i < 3; i++) entered.push(await admission.enter(soon()));

  assertEquals(entered, [b, b, a]);
});

Deno.test("Admission refuses who has waited until the deadline", async () => {
  const admission = new Admission(places("a"));
  const place = await admission.enter(soon());

  await assertRefused(admission.enter(performance.now() + 10));

  assertEquals(admission.load, { used: 1, waiting: 0 });
  admission.leave(place);
  assertEquals(admission.load, { used: 0, waiting: 0 });
});

Deno.test("Admission refuses whose deadline is over, though a place is free", async () => {
  const admission = new Admission(places("a"));

  await assertRefused(admission.enter(performance.now()));

  assertEquals(admission.load, { used: 0, waiting: 0 });
});

Deno.test("Admission refuses at once where a thousand wait", async () => {
  const admission = new Admission(places("a"));
  const first = await admission.enter(soon());
  const waiting = Array.from({ length: 1000 }, () => admission.enter(soon()));

  await assertRefused(admission.enter(soon()));

  admission.leave(first);
  for (const place of waiting) admission.leave(await place);
  assertEquals(admission.load, { used: 0, waiting: 0 });
});
