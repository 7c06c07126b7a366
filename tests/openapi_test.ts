import { assert, assertEquals, assertThrows } from "@std/assert";
import { issueKey } from "../db/access.ts";
import { DEMO, seed } from "../db/migrate.ts";
import { EXCHANGES } from "../schema/openapi/examples.ts";
import { assertDescribed } from "./described.ts";
import { type App, openApp, type Reply } from "./harness.ts";
import { runTool } from "./tools.ts";

const DEMO_ORGANIZATION = "00000000-0000-4000-8000-000000000001";

Deno.test("GET /openapi.json", async (t) => {
  await using app = await openApp();
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
    const key = await demoKey(app);
    // The service makes other ids and times than it made for the example.
    const made = new Map<string, string>();
    const here = (text: string) =>
      [...made].reduce(
        (text, [example, ours]) => text.replaceAll(example, ours),
        text,
      );
    const created: string[] = [];

    for (const [name, exchange] of Object.entries(EXCHANGES)) {
      const { operation, request, status, answer } = exchange;

      await t.step(`${name}: ${exchange.summary}`, async () => {
        const { body, ...reply } = await app.send(here(`/api${request.path}`), {
          method: operation.split(" ")[0]!,
          headers: {
            ...status !== 401 && { "x-api-key": key },
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
        if (status === 201) created.push(reply.headers.get("location")!);
      });
    }

    for (const path of created) {
      await app.send(path, { method: "DELETE", headers: { "x-api-key": key } });
    }
  });

  await t.step("is what every answer is held against", async (t) => {
    const org = await app.organization();
    const { path } = await org.create();
    const request = new Request(`http://catalogue.test${path}`);
    const reply = await org.get(path);
    const refused = await app.send(path);
    const check = (other: Partial<Reply>) =>
      assertDescribed(request, undefined, { ...reply, ...other });

    await t.step("refuses a status that is not described", () => {
      assertThrows(() => check({ status: 202 }), Error, "describes no 202");
    });

    await t.step("refuses a header that is not described, or missing", () => {
      const more = new Headers([...reply.headers, ["x-powered-by", "Deno"]]);
      const less = new Headers(reply.headers);
      less.delete("etag");

      assertThrows(() => check({ headers: more }), Error, "x-powered-by");
      assertThrows(() => check({ headers: less }), Error, "ETag");
    });

    await t.step("refuses a field that is not described, or missing", () => {
      const { data } = reply.body;
      const { title: _, ...rest } = data;
      const more = { ...reply.body, data: { ...data, shelf: 1 } };
      const less = { ...reply.body, data: rest };

      assertThrows(() => check({ body: more }), Error, "shelf");
      assertThrows(() => check({ body: less }), Error, "title");
    });

    await t.step("refuses a code that the operation does not have", () => {
      const { error } = refused.body;
      const body = { ...refused.body, error: { ...error, code: "NOT_FOUND" } };

      assertThrows(() => check({ ...refused, body }), Error, "UNAUTHORIZED");
    });

    await t.step("refuses a body that was taken and is not described", () => {
      const sent = JSON.stringify({ title: "Emma", shelf: 1 });
      const put = new Request(request, { method: "PUT" });

      assertThrows(() => assertDescribed(put, sent, reply), Error, "shelf");
    });
  });
});

/** A key of the demo organization, whose records the examples name. */
async function demoKey(app: App): Promise<string> {
  const operations = app.database.until(performance.now() + 60_000);
  await seed(operations, [DEMO]);
  return await operations.transaction((sql) =>
    issueKey(sql, {
      organizationId: DEMO_ORGANIZATION,
      name: "Examples",
      scope: "write",
    })
  );
}

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
