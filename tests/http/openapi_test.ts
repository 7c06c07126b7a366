import { assert, assertEquals } from "@std/assert";
import {
  OWN_TABLES,
  pathOfTable,
  SHARED_TABLES,
} from "../../schema/records.ts";
import {
  EXAMPLES,
  makeExamples,
  openDemo,
} from "../support/examples/record.ts";
import { runTool } from "../support/app/tools.ts";

Deno.test("GET /openapi.json", async (t) => {
  await using app = await openDemo();
  const ask = (headers: HeadersInit = {}) =>
    app.handler(
      new Request("http://catalogue.test/api/openapi.json", { headers }),
    );

  await t.step("responds without credentials", async () => {
    const response = await ask();
    const document = await response.json();

    assertEquals(response.status, 200);
    assertEquals(document.openapi, "3.1.0");
    assertEquals(document.servers, [{ url: "/api" }]);
    assertEquals(Object.keys(document.paths), [
      "/products",
      "/products/changes",
      "/products/batch",
      "/products/{id}",
      "/products/{id}/territories",
      "/products/{id}/sales-rights",
      "/onix/products",
      "/onix/products/{id}",
      ...OWN_TABLES.flatMap((table) => [
        pathOfTable(table),
        `${pathOfTable(table)}/{id}`,
      ]),
      "/publishing-programs/{id}/products",
      "/publishing-programs/{id}/products/{product_id}",
      ...SHARED_TABLES.flatMap((table) => [
        pathOfTable(table),
        `${pathOfTable(table)}/{id}`,
      ]),
      "/code-lists",
      "/code-lists/{number}",
      "/api-keys",
      "/api-keys/{key_id}",
      "/openapi.json",
      "/health/live",
      "/health/ready",
    ]);
  });

  await t.step("responds with 304 for a current ETag", async () => {
    const first = await ask();
    await first.body?.cancel();
    const etag = first.headers.get("etag")!;

    const again = await ask({ "if-none-match": etag });

    assertEquals(again.status, 304);
    assertEquals(again.headers.get("etag"), etag);
    assertEquals(await again.text(), "");
  });

  await t.step("has the prefix of the service in servers", async () => {
    for (const apiPrefix of ["/v1/catalogue", ""]) {
      const handler = app.variant({ apiPrefix });

      const response = await handler(
        new Request(`http://catalogue.test${apiPrefix}/openapi.json`),
      );

      const { servers, paths } = await response.json();
      assertEquals(servers, [{ url: apiPrefix || "/" }]);
      assertEquals(paths["/health/live"].servers, [{ url: "/" }]);
    }
  });

  await t.step("is the same for every origin", async () => {
    const requests = [
      new Request("http://catalogue.test/api/openapi.json"),
      new Request("http://127.0.0.1:8000/api/openapi.json", {
        headers: { "x-forwarded-proto": "https" },
      }),
    ];

    const [first, second] = await Promise.all(
      requests.map(async (request) => {
        const response = await app.handler(request);
        return [response.headers.get("etag"), await response.text()];
      }),
    );

    assertEquals(first, second);
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

  await t.step("has an example of every body", async () => {
    const { paths } = await (await ask()).json();
    const lacking = Object.entries(paths as Record<string, PathItem>).flatMap(
      ([path, item]) =>
        Object.entries(item).flatMap(([method, { requestBody, responses }]) => {
          const bodies = [requestBody, responses?.[200], responses?.[201]];
          return bodies.some((body) => lacksExample(body))
            ? [`${method} ${path}`]
            : [];
        }),
    );

    // The document itself is the example.
    assertEquals(lacking, ["get /openapi.json"]);
  });

  await t.step(
    "contains the current output of deno task examples",
    async () => {
      const written = await Deno.readTextFile(EXAMPLES);

      assert(
        await makeExamples(app) === written,
        "The examples are old: run deno task examples",
      );
    },
  );
});

type PathItem = Record<
  string,
  { requestBody?: Body; responses?: Record<string, Body> }
>;

interface Body {
  content?: Record<string, { examples?: object }>;
}

function lacksExample(body?: Body): boolean {
  return Object.values(body?.content ?? {}).some(({ examples }) => !examples);
}
