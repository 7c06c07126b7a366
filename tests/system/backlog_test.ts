import { assertEquals } from "@std/assert";
import { Backlog } from "../../db/connections/backlog.ts";

Deno.test("The backlog drops tasks beyond a thousand, and runs two at once", async () => {
  const backlog = new Backlog();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  let started = 0;
  let ended = 0;
  const task = async () => {
    started++;
    await end;
    ended++;
  };

  for (let i = 0; i < 2_000; i++) backlog.add(task);
  assertEquals(started, 2);

  resolve();
  // A macrotask: by then, the backlog has run all tasks.
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(ended, 1_002);
});
