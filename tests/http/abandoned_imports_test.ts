import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { testsOf } from "../support/app/harness.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

const it = testsOf("An import");

const RECORDS = Array.from({ length: 3_000 }, (_, i) => i);

const IMPORTS: [what: string, path: string, type: string, body: string][] = [
  [
    "of ONIX",
    "/api/onix/products",
    "application/xml",
    message(...RECORDS.map((i) => record({ reference: `${i}`, isbn: isbnOf(i) }))),
  ],
  [
    "of a sheet",
    "/api/csv/products?create=true",
    "text/csv",
    `isbn13,title\n${RECORDS.map((i) => `,Abandoned ${i}\n`).join("")}`,
  ],
];

for (const [what, path, type, body] of IMPORTS) {
  it(`${what} ends early if its client has gone, and what was written stays`, async ({ org, app }) => {
    const controller = new AbortController();
    const sent = app.send(path, {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": type },
      body,
      signal: controller.signal,
    });
    const count = async () => (await org.get("/api/products?limit=1")).body.meta.total;
    await eventually(true, async () => await count() > 0);

    controller.abort();
    const { status, body: { error } } = await sent;

    assertEquals([status, error.code], [408, "REQUEST_TIMEOUT"]);
    assert(error.report.created < RECORDS.length);
    assertEquals(await count(), error.report.created);
  });
}
