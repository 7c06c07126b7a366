import { assert, assertEquals, assertMatch } from "@std/assert";
import { STATUS } from "../../schema/errors.ts";
import { type App, openApp } from "../support/app/harness.ts";
import { IS_WHOLE_ON_EMBEDDED } from "../support/app/sample.ts";
import { runTool } from "../support/app/tools.ts";
import { TIMED } from "../support/app/deadline.ts";

const BROWSER = { accept: "text/html,application/xml;q=0.9,*/*;q=0.8" };

const CHROMIUM = "/usr/bin/chromium";

/** What the page opens by its address: a field, a code, a guide. */
const ADDRESSES = ["lists/91/GB", "fields/languages/language_code", "handling"]
  .slice(0, IS_WHOLE_ON_EMBEDDED ? 3 : 1);

Deno.test("GET /docs", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  const ask = (path: string, headers: HeadersInit = {}) =>
    app.handler(new Request(`http://catalogue.test${path}`, { headers }));

  await it("restricts the page to the service's resources", async () => {
    const response = await ask("/docs");

    assertEquals(response.status, 200);
    assertMatch(response.headers.get("server-timing")!, /^total;dur=\d/);
    assertEquals(
      response.headers.get("content-type"),
      "text/html; charset=utf-8",
    );
    assertEquals(
      response.headers.get("content-security-policy"),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    // Samples may have URLs, but nothing is loaded from one.
    assert(
      !/<script>|<style| style=| on\w+=|=["']?https?:/.test(
        (await response.text()).replace(/<pre.*?<\/pre>/gs, ""),
      ),
    );
  });

  await it("serves every asset of the page", async () => {
    const page = await (await ask("/docs")).text();
    const found = Array.from(
      page.matchAll(/(?:src|href)="(\/docs\/.+?)"/g),
      ([, path]) => path!,
    );

    // The modules that modules import are added on the way.
    for (const path of found) {
      const response = await ask(path);
      const text = await response.text();
      const etag = response.headers.get("etag")!;
      const again = await ask(path, { "if-none-match": etag });
      const isOwn = !path.startsWith("/docs/swagger-ui");

      assertEquals(response.status, 200);
      assertMatch(
        response.headers.get("content-type")!,
        path.endsWith(".css") ? /^text\/css;/ : /^text\/javascript;/,
      );
      assertEquals(
        response.headers.get("cache-control"),
        isOwn ? "no-cache" : "public, max-age=3600",
      );
      assert(text.length > 100);
      assertEquals(again.status, 304);
      const imports = isOwn ? text.matchAll(/from "\.(\/\w+\.js)"/g) : [];
      for (const [, name] of imports) {
        if (!found.includes(`/docs${name}`)) found.push(`/docs${name}`);
      }
    }
    assertEquals(found.length, 13);
  });

  await it("leads to its own headings", async () => {
    const page = await (await ask("/docs")).text();
    const links = Array.from(page.matchAll(/<a [^>]*href="(?!\/)(.*?)"/g), ([, link]) => link!);

    assert(links.includes("#undo"));
    for (const link of links) {
      assert(link.startsWith("#") && page.includes(`id="${link.slice(1)}"`), link);
    }
  });

  await it("names the language of every sample", async () => {
    const page = await (await ask("/docs")).text();
    const languages = page.matchAll(/data-language="(.*?)"/g)
      .map(([, name]) => name);

    assertEquals(
      [...new Set(languages)].sort(),
      ["JavaScript", "Python", "TypeScript", "curl"],
    );
  });

  await it("ends with the error codes and their meanings", async () => {
    const page = await (await ask("/docs")).text();
    const codes = page.slice(page.indexOf('id="codes"'));

    for (const [code, status] of Object.entries(STATUS)) {
      assertMatch(
        codes,
        new RegExp(`<code>${code}</code><td>${status}<td>\\S`),
      );
    }
    assert(!/\{\w+\}/.test(codes));
  });

  await it("leads a browser from / to the page", async () => {
    const response = await ask("/", BROWSER);

    assertEquals(response.status, 302);
    assertEquals(response.headers.get("location"), "/docs");
  });

  await it("serves a page that could not be read before", async () => {
    const handler = app.variant({});
    const page = () => handler(new Request("http://catalogue.test/docs"));
    const { readTextFile } = Deno;
    Deno.readTextFile = () => Promise.reject(new Error("Too many open files"));

    const failed = await page();
    Deno.readTextFile = readTextFile;
    const served = await page();

    assertEquals([failed.status, served.status], [500, 200]);
    await Promise.all([failed.body?.cancel(), served.body?.cancel()]);
  });

  await it("responds with 404 with DOCS=false", async () => {
    const handler = app.variant({ docs: false });

    for (const path of ["/", "/docs", "/docs/page.js"]) {
      const response = await handler(
        new Request(`http://catalogue.test${path}`, { headers: BROWSER }),
      );

      assertEquals(response.status, 404);
      assertEquals((await response.json()).error.code, "NOT_FOUND");
    }
  });

  await it({
    name:
      "works on a phone, light and dark: enter a key, reload, search, create and list a product",
    ignore: !await isFile(CHROMIUM),
    fn: () => browse(app),
  });
});

async function browse(app: App): Promise<void> {
  const org = await app.organization();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    handler: app.handler,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const title = `Emma ${org.id}`;

  const { success, output, complaints } = await runTool(
    [
      new URL("../tools/browse.ts", import.meta.url).pathname,
      CHROMIUM,
      `${origin}/docs`,
      org.key,
      title,
      ...ADDRESSES,
    ],
  );
  await server.shutdown();

  assert(success, complaints);
  // deno-lint-ignore no-explicit-any
  const seen = JSON.parse(output) as any;
  assertEquals(seen.created.status, 201);
  assertEquals(seen.created.shown, "201");
  assertEquals(seen.created.body.data.title, title);
  assertEquals(seen.listed.shown, "200");
  assertEquals(seen.listed.body.meta.total, 1);
  assertEquals(seen.listed.body.data[0].id, seen.created.body.data.id);
  const { searchParams } = new URL(seen.listed.url);
  assertEquals([...searchParams], [["search", title]]);
  assertEquals(seen.samples, {
    curl: `curl -sS "$BASE_URL/products?search=${title.replace(" ", "+")}" \\
  -H "x-api-key: $KEY"`,
    TypeScript: `const { data, error } = await client.GET("/products", {
  params: {
    query: { search: ${JSON.stringify(title)} },
  },
});`,
  });
  for (
    const [sent, path, type, file] of [
      [seen.imported, "/onix/products", "application/xml", "catalogue.xml"],
      [seen.sheet, "/csv/products", "text/csv", "prices.csv"],
    ]
  ) {
    assertEquals(sent, {
      status: "200",
      samples: {
        curl: `curl -sS "$BASE_URL${path}" \\
  -H "x-api-key: $KEY" \\
  -H "content-type: ${type}" \\
  --data-binary '@${file}'`,
        TypeScript: `const response = await fetch(\`\${baseUrl}${path}\`, {
  method: "POST",
  headers: { "x-api-key": KEY, "content-type": "${type}" },
  body: await readFile("${file}"),
});`,
      },
    });
  }
  assertEquals([seen.showsKey, seen.stored], [false, 0]);
  const [paper, field, text] = seen.night;
  assert(paper < 50 && field < 50 && text > 200, String(seen.night));
  const [dayPaper, dayField, dayText] = seen.day;
  assert(dayPaper > 200 && dayField > 200 && dayText < 50, String(seen.day));
  assertMatch(seen.tries[0], /^Not in use: The header x-api-key is not/);
  assertMatch(seen.tries[1], /^In use: the service accepts it\./);
  for (const contrast of seen.faintest) {
    assert(contrast >= 4.5 && contrast < 21, String(seen.faintest));
  }
  assertEquals(seen.results.isbn.slice(0, 2), ["isbn13", "isbn10"]);
  assertEquals(seen.results.price[0], "product_prices");
  assertEquals(seen.results.Subject[0], "subjects");
  assertEquals(seen.results.cursor, [
    "CURSOR_EXPIRED",
    "Handle errors",
    "Keep a copy",
  ]);
  assertEquals(seen.results.barcode[0], "isbn13");
  assertEquals(seen.results.hardback[0], "BB");
  assertEquals(seen.reached, [
    "fields/product_prices/retail_price",
    ...ADDRESSES,
  ]);
  assertEquals(seen.widths, [390, 390, 390, 390, 390]);
  assertEquals(seen.complaints, []);
  assertEquals(seen.hosts, [origin]);
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then(({ isFile }) => isFile, () => false);
}
