import { assert, assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { Stopwatch } from "../../middleware/timing.ts";
import { openApp, send } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";

Deno.test("Server-Timing", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const durations = (headers: Headers) =>
    Object.fromEntries(
      headers.get("server-timing")!.split(", ").map((metric) => {
        const [name, duration] = metric.split(";dur=");
        return [name!, Number(duration)];
      }),
    );

  await t.step(
    "splits the time of a request into auth, db and total",
    async () => {
      const { headers } = await org.post("/api/products", { title: "Emma" });

      const { auth, db, total } = durations(headers);
      assert(auth! > 0);
      assert(db! > 0);
      assert(total! >= db!);
      assert(total! >= auth!);
    },
  );

  await t.step("includes the time of a write", async () => {
    const database = withOperations(app.database, (operations) => ({
      ...operations,
      transaction: (work, ...opening) =>
        operations.transaction(async (tx) => {
          await pause(50);
          return await work(tx);
        }, ...opening),
    }));
    const handler = app.variant({ database });

    const { headers } = await send(handler, "/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: JSON.stringify({ title: "Emma" }),
    });

    assert(durations(headers).db! >= 45);
  });

  await t.step("is zero for parts that did not run", async () => {
    const { status, headers } = await app.send("/api/products");

    assertEquals(status, 401);
    assertEquals(durations(headers).db, 0);
  });
});

Deno.test("Stopwatch", async (t) => {
  await t.step("counts concurrent parts once", async () => {
    const stopwatch = new Stopwatch();
    const started = performance.now();

    for (let i = 0; i < 3; i++) stopwatch.start();
    await pause(2);
    for (let i = 0; i < 3; i++) stopwatch.stop();

    assert(stopwatch.ms > 0);
    assert(stopwatch.ms <= performance.now() - started);
  });

  await t.step("omits the time between parts", async () => {
    const stopwatch = new Stopwatch();
    stopwatch.start();
    await pause(2);
    stopwatch.stop();
    const before = stopwatch.ms;

    await pause(2);

    assertEquals(stopwatch.ms, before);
  });

  await t.step("counts a running part", async () => {
    const stopwatch = new Stopwatch();
    const started = performance.now();

    stopwatch.start();
    await pause(2);

    assert(stopwatch.ms > 0);
    assert(stopwatch.ms <= performance.now() - started);
  });
});
