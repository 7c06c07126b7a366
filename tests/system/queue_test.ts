import { assertEquals, assertRejects } from "@std/assert";
import { Admission } from "../../db/connections/queue.ts";
import { ApiError } from "../../schema/errors.ts";

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
