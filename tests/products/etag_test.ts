import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("Conditional requests");

it("give equal representations equal ETags (RFC 9110, 8.8.3)", async ({ org }) => {
  const created = await org.post("/api/products", { title: "Emma" });
  const path = created.headers.get("location")!;
  const got = await org.get(path);
  const updated = await org.put(path, { title: "Persuasion" });
  const gotAgain = await org.get(path);

  const [before, after] = [created, updated].map(({ headers }) => headers.get("etag")!);
  assertMatch(before!, /^"[\w-]+"$/);
  assertNotEquals(after, before);
  assertEquals(got.headers.get("etag"), before);
  assertEquals(gotAgain.headers.get("etag"), after);
});

it("give stored and built JSON the same ETag", async ({ org, sql }) => {
  const title = String.raw`\ \\ \x41 \101 "Émile" 本 😀 \\ x`;
  const { path } = await org.create({ title });
  const etag = async () => (await org.get(path)).headers.get("etag");

  const stored = await etag();
  await sql`delete from product_documents where organization_id = ${org.id}`;
  const built = await etag();

  assertEquals(built, stored);
});

it("return 304 for a current ETag (RFC 9110, 13.1.2)", async ({ org }) => {
  const { path } = await org.create();
  const etag = (await org.get(path)).headers.get("etag")!;
  for (
    const known of [etag, `W/${etag}`, `"a", ${etag}`, `${etag},"b"`, "*"]
  ) {
    const { status, headers } = await org.get(path, { "if-none-match": known });

    assertEquals(status, 304, known);
    assertEquals(headers.get("etag"), etag);
  }
  const put = await org.put(path, {}, { "if-none-match": etag });
  assertEquals([put.status, put.headers.get("etag")], [200, etag]);
  for (const other of ['"a"', etag.slice(1, -1), "", '"', `"x${etag}`]) {
    const { status } = await org.get(path, { "if-none-match": other });

    assertEquals(status, 200, other);
  }
});

it("return 404 for a missing product", async ({ org }) => {
  const { status } = await org.get(`/api/products/${uuidv7()}`, {
    "if-none-match": "*",
  });

  assertEquals(status, 404);
});

it("notice changes of displayed records", async ({ org, sql }) => {
  const { path } = await org.create({ license_id: org.license });
  const etag = (await org.get(path)).headers.get("etag")!;

  await sql`
    update licenses set name = 'World'
    where organization_id = ${org.id} and id = ${org.license}
  `;

  const { status, body } = await org.get(path, { "if-none-match": etag });
  assertEquals(status, 200);
  assertEquals(body.data.license_name, "World");
});

it("change and delete only the version in If-Match (RFC 9110, 13.1.1)", async ({ org }) => {
  const { path } = await org.create({ title: "Emma" });
  const seen = (await org.get(path)).headers.get("etag")!;

  const first = await org.put(path, { title: "First" }, { "if-match": seen });
  const second = await org.put(path, { title: "Second" }, { "if-match": seen });
  const removed = await org.delete(path, { "if-match": seen });

  assertEquals(first.status, 200);
  for (const refused of [second, removed]) {
    assertEquals(refused.status, 412);
    assertEquals(refused.body.error.code, "PRECONDITION_FAILED");
  }
  const { headers, body } = await org.get(path);
  assertEquals(body.data.title, "First");
  const last = await org.delete(path, { "if-match": headers.get("etag")! });
  assertEquals(last.body.data.deleted, true);
});

it("compare strongly, with one of many tags or *", async ({ org }) => {
  const { path } = await org.create({ title: "Emma" });
  const etag = (await org.get(path)).headers.get("etag")!;
  for (const other of [`W/${etag}`, '"a"', etag.slice(1, -1), ""]) {
    const { status } = await org.put(path, { page_count: 1 }, {
      "if-match": other,
    });

    assertEquals(status, 412, other);
  }

  const any = await org.put(path, {}, { "if-match": "*" });
  const oneOf = await org.put(path, {}, { "if-match": `"a", ${etag}` });

  assertEquals([any.status, oneOf.status], [200, 200]);
  assertEquals(oneOf.body.data.page_count, null);
});

it("compare a product without stored JSON", async ({ org, sql }) => {
  const { id, path } = await org.create({ title: "Emma" });
  const etag = (await org.get(path)).headers.get("etag")!;
  await sql`delete from product_documents where organization_id = ${org.id}`;

  const same = await org.put(path, {}, { "if-match": etag });
  await sql`update products set title = 'By SQL' where organization_id = ${org.id} and id = ${id}`;
  const other = await org.put(path, { page_count: 1 }, { "if-match": etag });

  assertEquals([same.status, other.status], [200, 412]);
});

it("work with an id in upper case", async ({ org }) => {
  const { id, path } = await org.create();
  const inUpperCase = `/api/products/${id.toUpperCase()}`;
  const etag = async () => ({
    "if-match": (await org.get(path)).headers.get("etag")!,
  });

  const updated = await org.put(inUpperCase, { page_count: 1 }, await etag());
  const deleted = await org.delete(inUpperCase, await etag());

  assertEquals([updated.status, deleted.status], [200, 200]);
});

it("distinguish a missing product from a changed one", async ({ org }) => {
  const path = `/api/products/${uuidv7()}`;

  const updated = await org.put(path, { page_count: 1 }, { "if-match": "*" });
  const deleted = await org.delete(path, { "if-match": "*" });

  assertEquals(updated.status, 404);
  assertEquals(deleted.status, 412);
});

it("let one of many writers and deleters succeed", async ({ app }) => {
  for (let round = 0; round < 6; round++) {
    const org = await app.organization();
    const { path } = await org.create();
    const headers = { "if-match": (await org.get(path)).headers.get("etag")! };
    // The last round has no deletions.
    const deletes = (i: number) => i % 2 > 0 && round < 5;

    const replies = await Promise.all(
      Array.from(
        { length: 8 },
        (_, i) =>
          deletes(i) ? org.delete(path, headers) : org.put(path, { page_count: 10 + i }, headers),
      ),
    );

    const [winner, ...others] = replies.toSorted((one, other) => one.status - other.status);
    assertEquals(winner!.status, 200);
    assert(others.every(({ status }) => status > 200));
    const { body } = await org.get(path);
    if (!winner!.body.data.deleted) {
      assertEquals(body.data, winner!.body.data);
      assertEquals(new Set(others.map(({ status }) => status)), new Set([412]));
    }
  }
});
