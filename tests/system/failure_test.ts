import { assertEquals, assertStringIncludes } from "@std/assert";
import { connectionAdvice } from "../../db/connections/errors.ts";
import { openApp, send } from "../support/app/harness.ts";

/** An error that is its own cause. */
const circular = new Error("round");
circular.cause = circular;

Deno.test("The response to an unexpected error", async ({ step: it }) => {
  await using app = await openApp();

  for (
    const thrown of [undefined, null, 0, "text", Symbol("s"), {}, circular]
  ) {
    await it(`is a 500 for ${String(thrown)}`, async () => {
      app.logged.length = 0;
      const handler = app.variant({
        verifyToken: () => Promise.reject(thrown),
      });

      const { status, body } = await send(handler, "/api/products", {
        headers: { authorization: "Bearer a.b.c", "x-organization-id": "x" },
      });

      assertEquals([status, body.error.code], [500, "INTERNAL_ERROR"]);
      assertEquals(app.logged.map(({ level }) => level), ["error"]);
      assertEquals(typeof JSON.stringify(app.logged[0]), "string");
    });
  }

  for (
    const [what, fields] of [
      ["a statement", { code: "53100", severity: "ERROR" }],
      // PostgreSQL 16 and older
      ["a new session", {
        code: "XX000",
        severity: "FATAL",
        routine: "write_relcache_init_file",
      }],
    ] as const
  ) {
    await it(`is a 503 that names the full disk if ${what} finds no room`, async () => {
      const thrown = Object.assign(new Error("refused"), { name: "PostgresError", ...fields });
      const handler = app.variant({ verifyToken: () => Promise.reject(thrown) });

      const { status, body } = await send(handler, "/api/products", {
        headers: { authorization: "Bearer a.b.c", "x-organization-id": "x" },
      });

      assertEquals([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
      assertStringIncludes(body.error.message, "no room left on its disk");
      assertStringIncludes(connectionAdvice(thrown)!, "Free space on the disk of the database");
    });
  }

  await it("logs its message if it has no cause", async () => {
    const org = await app.organization();
    const handler = app.variant({ deadlineMs: 0 });

    const { status, body } = await send(handler, "/api/products", {
      headers: { "x-api-key": org.key },
    });

    assertEquals(status, 503);
    assertEquals(app.logged.at(-1)!.message, body.error.message);
    assertEquals(
      body.error.message,
      "The check of credentials was too busy for this request",
    );
  });
});
