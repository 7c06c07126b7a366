import { assert, assertMatch } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { openApp, send } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";

Deno.test("Server-Timing", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const total = (headers: Headers) => {
    const value = headers.get("server-timing")!;
    assertMatch(value, /^total;dur=\d+(\.\d{1,2})?$/);
    return Number(value.replace("total;dur=", ""));
  };

  await it("has the time of a request in milliseconds", async () => {
    const started = performance.now();

    const { headers } = await org.post("/api/products", { title: "Emma" });

    assert(total(headers) > 0);
    assert(total(headers) <= performance.now() - started);
  });

  await it("includes the time of a write", async () => {
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

    assert(total(headers) >= 45);
  });

  await it("is part of every response", async () => {
    for (const path of ["/api/products", "/nowhere", "/health/live", "/docs"]) {
      const response = await app.handler(
        new Request(`http://catalogue.test${path}`),
      );
      await response.body?.cancel();

      assert(total(response.headers) >= 0, path);
    }
  });
});
