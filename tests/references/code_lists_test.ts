import { assertEquals, assertMatch } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { CODE_LISTS, codesIn, type OnixList } from "../../schema/onix_codes.ts";
import { pathOfTable, SHARED_TABLES } from "../../schema/records.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("GET code lists");

for (const table of SHARED_TABLES) {
  const path = `/api${pathOfTable(table)}`;
  it(`GET ${path} returns all codes, page by page`, async ({ org, sql }) => {
    const [{ count }] = await sql<
      [{ count: number }]
    >`select count(*)::int as count from ${sql(table)}`;

    const whole = await org.get(path);
    const data = [];
    for (let page = 1; page <= Math.ceil(count / 3); page++) {
      const { body } = await org.get(`${path}?limit=3&page=${page}`);
      data.push(...body.data);
    }
    const last = await org.get(`${path}?limit=3&page=2`);
    const past = await org.get(`${path}?page=1000`);
    const [first] = data;
    const { body: found } = await org.get(`${path}?code=${first.code}`);
    const one = await org.get(`${path}/${first.id}`);
    const again = await org.get(`${path}/${first.id}`, {
      "if-none-match": one.headers.get("etag")!,
    });

    assertEquals(whole.status, 200);
    assertEquals(whole.body.data, data.slice(0, 50));
    const total_pages = Math.ceil(count / 50);
    const meta = { page: 1, limit: 50, total: count, total_pages };
    assertEquals(whole.body.meta, meta);
    assertEquals(past.body.data, []);
    assertEquals(past.body.meta, { ...meta, page: 1000 });
    assertMatch(last.headers.get("link")!, /limit=3&page=1>; rel="first"/);
    assertEquals(data.length, count);
    const codes = data.map(({ code }: { code: string }) => code);
    assertEquals(codes, codes.toSorted());
    assertEquals(found.data, [first]);
    assertEquals(found.meta.total, 1);
    assertEquals(one.body.data, first);
    assertEquals(again.status, 304);
  });

  it(`POST, PUT and DELETE ${path} return 405`, async ({ org }) => {
    const unknown = `${path}/${uuidv7()}`;

    assertEquals((await org.get(`${path}?code=nothing`)).body.data, []);
    assertEquals((await org.get(`${path}?page=0`)).status, 400);
    assertEquals((await org.get(`${path}?search=a`)).status, 400);
    assertEquals((await org.get(unknown)).status, 404);
    assertEquals((await org.post(path, { name: "A" })).status, 405);
    assertEquals((await org.put(unknown, { name: "A" })).status, 405);
    assertEquals((await org.delete(unknown)).status, 405);
    assertEquals((await org.get(path, { "x-api-key": "" })).status, 401);
  });
}

it("GET /code-lists lists the ONIX lists, and /code-lists/{number} their codes", async ({ org }) => {
  const lists: { number: OnixList; name: string; codes: number }[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await org.get(`/api/code-lists?limit=10&page=${page}`);
    lists.push(...body.data);
    pages = body.meta.total_pages;
    assertEquals(body.meta.limit, 10);
  }
  for (const { number, name, codes } of lists) {
    const list = (await org.get(`/api/code-lists/${number}`)).body.data;
    assertEquals(list.length, codes, `${number}`);
    assertEquals(name, CODE_LISTS[number].title);
  }
  const { body: { data: currencies } } = await org.get("/api/code-lists/96");

  const numbers = lists.map(({ number }): number => number);
  assertEquals(numbers, numbers.toSorted((one, other) => one - other));
  assertEquals(numbers.map(String), Object.keys(CODE_LISTS));
  assertEquals(
    currencies.map(({ code }: { code: string }) => code),
    codesIn(96).toSorted(),
  );
  for (const number of ["0", "096", "x", "-1", "9 6"]) {
    const { status, body } = await org.get(`/api/code-lists/${number}`);
    assertEquals(status, 404, number);
    assertEquals(
      body.error.message,
      "The path of a code list requires its number: GET /api/code-lists has them all",
    );
  }
  for (const number of ["35", "999", "9999", "9".repeat(100)]) {
    const { status, body } = await org.get(`/api/code-lists/${number}`);
    assertEquals(status, 404, number);
    assertEquals(
      body.error.message,
      `There is no code list ${number}: GET /code-lists has them all`,
    );
  }
});
