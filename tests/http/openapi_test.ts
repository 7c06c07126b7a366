import { assert, assertEquals } from "@std/assert";
import { installDemo } from "../../db/install.ts";
import { EXCHANGES } from "../../schema/openapi/examples.ts";
import { openApp, SETTINGS } from "../support/harness.ts";
import { runTool } from "../support/tools.ts";

Deno.test("GET /openapi.json", async (t) => {
  // A database of its own: the examples are of the demo, which is installed where no organization is yet.
  await using app = await openApp({}, { ...SETTINGS, url: undefined });
  const key = await installDemo(
    app.database.until(performance.now() + 60_000),
  );
  const ask = (headers: HeadersInit = {}) =>
    app.handler(
      new Request("http://catalogue.test/api/openapi.json", { headers }),
    );

  await t.step("describes the API to anyone", async () => {
    const response = await ask();
    const document = await response.json();

    assertEquals(response.status, 200);
    assertEquals(document.openapi, "3.1.0");
    assertEquals(document.servers, [{ url: "/api" }]);
    assertEquals(Object.keys(document.paths), [
      "/products",
      "/products/batch",
      "/products/{id}",
      "/openapi.json",
      "/health/live",
      "/health/ready",
    ]);
  });

  await t.step("says when nothing has changed", async () => {
    const first = await ask();
    await first.body?.cancel();
    const etag = first.headers.get("etag")!;

    const again = await ask({ "if-none-match": etag });

    assertEquals(again.status, 304);
    assertEquals(again.headers.get("etag"), etag);
    assertEquals(await again.text(), "");
  });

  await t.step("names the prefix that it is served under", async () => {
    const handler = app.variant({ apiPrefix: "/v1/catalogue" });

    const response = await handler(
      new Request("http://catalogue.test/v1/catalogue/openapi.json"),
    );

    assertEquals((await response.json()).servers, [{ url: "/v1/catalogue" }]);
  });

  await t.step("passes the linter without a warning", async () => {
    const file = await Deno.makeTempFile({ suffix: ".json" });
    await Deno.writeTextFile(file, await (await ask()).text());

    const { success, output, complaints } = await runTool(
      ["@redocly/cli", "lint", "--format=json", "--extends=recommended", file],
      {
        env: {
          REDOCLY_TELEMETRY: "off",
          REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        },
      },
    );

    assert(success, complaints);
    assertEquals((JSON.parse(output) as { problems: unknown }).problems, []);
    await Deno.remove(file);
  });

  await t.step("has examples that are sent and received", async (t) => {
    // The service makes other ids and times than it made for the example.
    const made = new Map<string, string>();
    const here = (text: string) =>
      [...made].reduce(
        (text, [example, ours]) => text.replaceAll(example, ours),
        text,
      );

    for (const [name, exchange] of Object.entries(EXCHANGES)) {
      const { operation, request, status, answer } = exchange;

      await t.step(`${name}: ${exchange.summary}`, async () => {
        const { body, ...reply } = await app.send(here(`/api${request.path}`), {
          method: operation.split(" ")[0]!,
          headers: {
            ...status !== 401 && { "x-api-key": key! },
            "content-type": "application/json",
            "x-request-id": answer.error?.request_id ?? "example",
          },
          ...request.body !== undefined && {
            body: here(JSON.stringify(request.body)),
          },
        });

        assertEquals(reply.status, status);
        learn(made, answer, body);
        assertEquals(body, JSON.parse(here(JSON.stringify(answer))));
      });
    }
  });
});

/** Notes what the service made where it made something else for the example. */
function learn(
  made: Map<string, string>,
  example: unknown,
  received: unknown,
): void {
  if (typeof example === "string" && typeof received === "string") {
    if (MADE.test(example) && MADE.test(received)) made.set(example, received);
  } else if (typeof example === "object" && example !== null) {
    for (const [key, value] of Object.entries(example)) {
      learn(made, value, (received as Record<string, unknown> | null)?.[key]);
    }
  }
}

/** A UUID of version 7, a product code, or a time. */
const MADE =
  /^(?:[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}|P-\w{8}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/;
