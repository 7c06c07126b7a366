import { assert, assertEquals, assertMatch } from "@std/assert";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import type { Organization } from "../support/app/organization.ts";
import { nextOf, onixTestsOf } from "../support/client/onix.ts";
import { deletionOf, isbnOf, message, productsIn, record } from "../support/data/onix.ts";

const PATH = "/api/onix/products";

const it = onixTestsOf("Products in ONIX");

/** Follows the feed from a path until it has `count` records. Returns them and the next path. */
async function follow(
  { org }: { org: Organization },
  path: string,
  count: number,
) {
  const records: string[] = [];
  await eventually(count, async () => {
    const { text, headers, status } = await org.get(path);
    assertEquals(status, 200, text);
    records.push(...productsIn(text));
    path = nextOf(headers);
    return records.length;
  });
  return { records, next: path };
}

it("GET of one responds with a message", async ({ org }) => {
  await org.create();
  const { id } = await org.create({ isbn13: "9780141439587" });

  const { status, headers, text } = await org.get(`${PATH}/${id}`);

  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "application/xml; charset=utf-8");
  assertMatch(text, /<ONIXMessage [^>]*release="3\.1"/);
  assertMatch(text, /<SenderName>Test<\/SenderName>/);
  assertMatch(
    text,
    new RegExp(`<RecordReference>urn:uuid:${id}</RecordReference>`),
  );
  assertMatch(text, /<IDValue>9780141439587</);
  assertEquals(productsIn(text).length, 1);
});

it("GET of one has an ETag for each form, product and record", async ({ org, onix }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  const tagOf = async (query = "") => (await org.get(`${PATH}/${id}${query}`)).headers.get("etag")!;
  const tag = await tagOf();

  const same = await org.get(`${PATH}/${id}`, { "if-none-match": tag });
  const tags = new Set([
    tag,
    await tagOf("?release=3.0"),
    await tagOf("?tags=short"),
  ]);
  await onix.report(
    message(record({ more: "<Illustrated>01</Illustrated>" })),
  );
  tags.add(await tagOf());
  const { body: { data } } = await org.get(`/api/products/${id}`);
  await org.put(
    `/api/contributors/${data.contributors[0].contributor_id}`,
    { biographical_note: "Born in Steventon." },
  );
  tags.add(await tagOf());

  assertEquals([same.status, same.text], [304, ""]);
  assertEquals(tags.size, 5);
  assertEquals(
    (await org.get(`${PATH}/${id}`, { "if-none-match": tag })).status,
    200,
  );
});

it("GET has both releases and both forms of tags", async ({ org }) => {
  const { id } = await org.create();

  const { text } = await org.get(`${PATH}/${id}?release=3.0&tags=short`);
  const list = await org.get(`${PATH}?release=3.0&tags=short`);
  const wrong = await org.get(`${PATH}/${id}?release=2.1&tags=x&y=z`);

  assertMatch(text, /<ONIXmessage [^>]*release="3\.0"/);
  assertMatch(text, /<a001>urn:uuid:/);
  assertMatch(nextOf(list.headers), /release=3\.0&tags=short&after=/);
  assertEquals(wrong.status, 400);
  assertEquals(
    wrong.body.error.details.map((one: { parameter: string }) => one.parameter)
      .sort(),
    ["release", "tags", "y"],
  );
});

it("GET of one is of its organization, whatever the reference", async ({ another }) => {
  const [here, there] = [await another(), await another()];
  const [{ id }, { id: foreign }] = await Promise.all(
    [here, there].map(async ({ onix }, i) => {
      const { outcomes } = await onix.report(
        message(record({ title: ["Emma", "Persuasion"][i]! })),
      );
      return outcomes[0];
    }),
  );

  for (
    const [{ org }, own, others, title] of [
      [here, id, foreign, "Emma"],
      [there, foreign, id, "Persuasion"],
    ] as const
  ) {
    const { text } = await org.get(`${PATH}/${own}`);
    assertEquals(productsIn(text).length, 1);
    assertMatch(text, new RegExp(`<TitleText>${title}</TitleText>`));
    assertEquals((await org.get(`${PATH}/${others}`)).status, 404);
  }
});

it("HEAD has the headers of GET", async ({ org, app }) => {
  const { id } = await org.create();
  const { headers } = await org.get(`${PATH}/${id}`);

  const head = await app.send(`${PATH}/${id}`, {
    method: "HEAD",
    headers: { "x-api-key": org.key },
  });

  assertEquals(head.status, 200);
  assertEquals(head.headers.get("etag"), headers.get("etag"));
});

it("the feed of an empty catalogue has no product", async ({ org }) => {
  const { text, headers } = await org.get(PATH);

  assertMatch(text, /<NoProduct ?\/>|<NoProduct><\/NoProduct>/);
  assertMatch(nextOf(headers), /after=/);
});

it("the feed pages through all products, and then through changes", async ({ another }) => {
  const one = await another();
  const { org, onix } = one;
  await onix.report(
    message(
      ...Array.from(
        { length: 7 },
        (_, i) => record({ reference: `r${i}`, isbn: isbnOf(i) }),
      ),
    ),
  );

  const all = await follow(one, `${PATH}?limit=3`, 7);
  const references = all.records.map((record) => /<RecordReference>([^<]+)/.exec(record)![1]!);
  const { text } = await org.get(all.next);
  await onix.report(message(
    deletionOf("r1"),
    record({
      reference: "r2",
      isbn: isbnOf(2),
      title: "Changed",
    }),
  ));
  const changes = await follow(one, all.next, 2);

  assertEquals(references.sort(), [
    "r0",
    "r1",
    "r2",
    "r3",
    "r4",
    "r5",
    "r6",
  ]);
  assertMatch(all.next, /limit=3/);
  assertMatch(text, /<NoProduct/);
  const deleted = changes.records.find((one) => one.includes(">r1<"))!;
  assertMatch(deleted, /<NotificationType>05</);
  assertMatch(
    changes.records.find((one) => one.includes(">r2<"))!,
    /<TitleText>Changed</,
  );
});

it("the feed has deletions by every way, under their references", async ({ another, app, sql }) => {
  const one = await another();
  const { org, onix } = one;
  const { outcomes } = await onix.report(
    message(
      ...[1, 2, 3].map((i) => record({ reference: `r${i}`, isbn: isbnOf(i) })),
    ),
  );
  const { id } = await org.create();
  const { next } = await follow(one, PATH, 4);

  await org.delete(`/api/products/${outcomes[0].id}`);
  await org.delete(`/api/products/${id}`);
  if (!app.isDistributed) {
    await sql`delete from products where organization_id = ${org.id} and id = ${outcomes[1].id}`;
  } else await org.delete(`/api/products/${outcomes[1].id}`);

  const { records } = await follow(one, next, 3);
  assert(
    records.every((record) => record.includes("<NotificationType>05<")),
  );
  assertEquals(
    records.map((record) => /<RecordReference>([^<]+)/.exec(record)![1]!)
      .sort(),
    ["r1", "r2", `urn:uuid:${id}`],
  );
});

it("the feed omits a deletion whose reference another product bears", async ({ another }) => {
  const one = await another();
  const { org, onix } = one;
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  const { next } = await follow(one, PATH, 1);
  await org.delete(`/api/products/${id}`);
  await onix.report(message(record({ title: "Again" })));

  const { records } = await follow(one, next, 1);

  assertMatch(records[0]!, /<TitleText>Again</);
});

it("cursors are those of /products/changes", async ({ another }) => {
  const one = await another();
  const { org } = one;
  await org.create({ title: "First" });
  const { next } = await follow(one, PATH, 1);
  const after = new URL(next, "http://x").searchParams.get("after");

  const { body } = await org.get(`/api/products/changes?after=${after}`);
  await org.create({ title: "Second" });
  const { records } = await follow(
    one,
    `${PATH}?after=${body.meta.cursor}`,
    1,
  );

  assertEquals(body.data, []);
  assertMatch(records[0]!, /<TitleText>Second</);
});

it("a wrong cursor gets 400, an old one 410", async ({ org }) => {
  const { headers } = await org.get(PATH);
  const wrong = await org.get(`${PATH}?after=x`);

  using _clock = clockAhead(31 * 86_400_000);
  const old = await org.get(nextOf(headers));

  assertEquals(wrong.status, 400);
  assertEquals([old.status, old.body.error.code], [410, "CURSOR_EXPIRED"]);
});

it("an import of what was exported changes nothing", async ({ org, onix }) => {
  const { id } = await org.create({ isbn13: isbnOf(1), page_count: 3 });
  const { body: { data: before } } = await org.get(`/api/products/${id}`);

  await onix.report(await onix.xml(`/${id}`));

  const { body: { data } } = await org.get(`/api/products/${id}`);
  const plain = ({ updated_at: _, ...product }: Record<string, unknown>) => product;
  assertEquals(plain(data), plain(before));
});
