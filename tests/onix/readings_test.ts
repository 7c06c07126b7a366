import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { rulesVersion } from "../../features/onix/db/in/analysis_rules.ts";
import { type OnixScene, onixTestsOf } from "../support/client/onix.ts";
import { deletionOf, isbnOf, message, record, sent } from "../support/data/onix.ts";

/*
 * What reading a record has found out is stored, and the same record is not read again. A number
 * that no record has is written into what is stored: a report that has it comes of that.
 */

const it = onixTestsOf("A record that was read before");

const MARK = 7;

/** Writes the mark into what is stored of the organization's records. */
async function mark({ sql, org }: OnixScene): Promise<void> {
  await sql`
    update onix_records
    set reading = replace(reading, '"moreMessages":0', ${`"moreMessages":${MARK}`})
    where organization_id = ${org.id}
  `;
}

/** Forgets what is stored of the organization's records. */
async function forget({ sql, org }: OnixScene): Promise<void> {
  for (const table of ["onix_records", "onix_senders"]) {
    await sql.unsafe(`update ${table} set reading = null where organization_id = '${org.id}'`);
  }
}

const isRead = ({ more_messages }: { more_messages: number }) => more_messages !== MARK;

const BOOK = record({ title: "Emma’s walk", more: "<NoEdition/>" });

it("is read again if something that decides what is found out has changed", async (scene) => {
  const { onix } = scene;
  const text = message(BOOK);
  await onix.report(text);
  await mark(scene);
  const header = (more: string) => text.replace("</Header>", `${more}</Header>`);
  const ahead = new Date(Date.now() + 48 * 3_600_000).toISOString();
  const cases: [what: string, text: string, isReadAgain: boolean][] = [
    ["nothing", text, false],
    ["the time of the message", text.replace("20261124", "20261125"), false],
    ["its line", text.replace("<Product>", "\n\n<Product>"), false],
    ["its neighbours", message(record({ reference: "2", isbn: null }), BOOK), false],
    ["white space between elements", text.replaceAll("><", ">\n<"), false],
    ["the declared encoding", text.replace("UTF-8", "utf-8"), false],
    ["the address of the namespace", text.replaceAll("/3.0/", "/3.1/"), false],
    ["white space in a text", text.replace("Emma’s walk", "Emma’s  walk"), true],
    ["a control for a character", text.replace("’", "\x92"), true],
    ["an attribute", text.replace("<TitleText>", '<TitleText language="eng">'), true],
    ["an element", text.replace("<NoEdition/>", "<NoEdition/><NoContributor/>"), true],
    ["markup for its text", text.replace("Emma’s", "<em>Emma’s</em>"), true],
    ["the default language", header("<DefaultLanguageOfText>ger</DefaultLanguageOfText>"), true],
    ["the default price type", header("<DefaultPriceType>01</DefaultPriceType>"), true],
    ["the default currency", header("<DefaultCurrencyCode>EUR</DefaultCurrencyCode>"), true],
    ["a time that lies ahead", text.replace("20261124T120000Z", ahead), true],
  ];

  for (const [what, text, isReadAgain] of cases) {
    // A dry run stores nothing, so that each is compared with the first.
    assertEquals(isRead(await onix.report(text, "?dry_run=true")), isReadAgain, what);
  }
});

it("is read again under other rules, once", async (scene) => {
  const { sql, org, onix } = scene;
  await onix.report(message(BOOK));
  await mark(scene);
  await sql`
    update onix_records set reading = replace(reading, ${`${rulesVersion()} `}, '0-old ')
    where organization_id = ${org.id}
  `;

  const report = await onix.report(message(BOOK));

  assert(isRead(report));
  assertEquals(report.unchanged, 1);
  await mark(scene);
  assert(!isRead(await onix.report(message(BOOK))));
});

it("is noted where nothing else is written, and not by a dry run", async (scene) => {
  const { sql, org, onix } = scene;
  const stored = async () => {
    const rows = await sql`
      select n.reading, x.reading as own
      from onix_records n
      left join onix_senders x using (organization_id, product_id)
      where n.organization_id = ${org.id} and coalesce(x.sender_name, 'A') = 'A'
    `;
    return rows.map(({ reading, own }) => [reading !== null, own !== null]);
  };
  const ofA = sent("20261124", "A", BOOK);
  await onix.report(ofA);
  await forget(scene);
  await onix.report(ofA, "?dry_run=true");
  assertEquals(await stored(), [[false, false]]);
  await onix.report(ofA);
  assertEquals(await stored(), [[true, false]]);

  // Each sender's last record is kept with what reading it has found out.
  await onix.report(sent("20261124", "B", record({ pages: 9 })));
  assertEquals(await stored(), [[true, true]]);
  await forget(scene);
  await onix.report(ofA);
  assertEquals(await stored(), [[false, true]]);
});

it("is found by an alias and in short tags", async (scene) => {
  const { onix } = scene;
  await onix.report(message(record({ reference: "first" })));
  const text = message(record({ reference: "second" }));
  const short = text
    .replaceAll(/(<\/?)ONIXMessage/g, "$1ONIXmessage")
    .replaceAll(/(<\/?)RecordReference>/g, "$1a001>");
  assertEquals((await onix.report(text)).updated + (await onix.report(text)).unchanged, 1);
  await mark(scene);

  assert(!isRead(await onix.report(text)));
  assert(!isRead(await onix.report(short)));
});

it("is read each time if it is told of the header, or finds out very much", async ({ sql, org, onix }) => {
  const wrong = (one: string) =>
    message(one).replace("</Header>", "<DefaultCurrencyCode>EURO</DefaultCurrencyCode></Header>");
  const price = (reference: string) =>
    record({ reference, isbn: null }).replace(/<CurrencyCode>.*?<\/CurrencyCode>/, "");
  const text = wrong(price("1") + price("2"));
  const messages = ({ outcomes }: Any) =>
    outcomes.flatMap(({ messages }: Any) => messages)
      .filter(({ path }: Any) => path.startsWith("/Header"))
      .map(({ code, path }: Any) => [code, path]);
  const first = await onix.report(text);
  assertEquals(messages(first), [["invalid_code", "/Header/DefaultCurrencyCode"]]);
  assertEquals(messages(await onix.report(text)), messages(first));

  const name = "N".repeat(90);
  const much = Array.from({ length: 400 }, (_, i) => `<${name}${i}>x</${name}${i}>`).join("");
  const report = await onix.report(message(record({ reference: "3", isbn: null, more: much })));
  assertEquals(report.unmapped.filter(({ path }: Any) => path.includes(name)).length, 400);
  const { count } = await sql`
    select from onix_records where organization_id = ${org.id} and reading is not null
  `;
  assertEquals(count, 0);
});

// deno-lint-ignore no-explicit-any
type Any = any;

/** What has happened to the book before its record comes again, and with which query it comes. */
const MEANWHILE: Record<
  string,
  { query?: string; text?: string; then?: (scene: OnixScene, id: string) => Promise<unknown> }
> = {
  "nothing": {},
  "an edit": { then: ({ org }, id) => org.put(`/api/products/${id}`, { title: "Ours" }) },
  "an edit that is overwritten": {
    then: ({ org }, id) => org.put(`/api/products/${id}`, { title: "Ours" }),
    query: "?edits=overwrite",
  },
  "a deletion": { then: ({ org }, id) => org.delete(`/api/products/${id}`) },
  "a deletion in ONIX": { then: ({ onix }) => onix.report(message(deletionOf("press.example.1"))) },
  "a restoration": {
    async then({ org }, id) {
      await org.delete(`/api/products/${id}`);
      await org.post(`/api/products/${id}/restore`, {});
    },
  },
  "another name of its publisher": {
    then: ({ org }) => org.put(`/api/publishers/${org.publisher}`, { name: "Quay Press" }),
  },
  "another name of its contributor": {
    then: ({ org }) => org.put(`/api/contributors/${org.contributor}`, { name: "J. Austen" }),
  },
  "no publisher any more": {
    async then({ org }, id) {
      await org.put(`/api/products/${id}`, { publisher_id: null });
      await org.delete(`/api/publishers/${org.publisher}`);
    },
  },
  "no publisher any more, overwritten": {
    async then({ org }, id) {
      await org.put(`/api/products/${id}`, { publisher_id: null });
      await org.delete(`/api/publishers/${org.publisher}`);
    },
    query: "?edits=overwrite",
  },
  "no contributor any more, overwritten": {
    async then({ org }, id) {
      await org.put(`/api/products/${id}`, { contributors: [] });
      await org.delete(`/api/contributors/${org.contributor}`);
    },
    query: "?edits=overwrite",
  },
  "its ISBN for another": {
    async then({ org }, id) {
      await org.put(`/api/products/${id}`, { isbn13: null });
      await org.create({ isbn13: "9780141439587" });
    },
  },
  "its ISBN for two others, and a deletion": {
    async then({ org, sql }, id) {
      await org.delete(`/api/products/${id}`);
      await org.create({ isbn13: "9780141439587" });
      await org.create({ isbn10: "0141439580" });
      await sql`delete from product_deletions where organization_id = ${org.id}`;
    },
  },
  "a record of another sender": {
    then: ({ onix }) => onix.report(sent("20261125", "Shop", record({ title: "EMMA" }))),
  },
  "a later record of its sender": {
    then: ({ onix }) => onix.report(sent("20261125", "Harbour Press", record({ title: "EMMA" }))),
  },
  "a later record, and stale=apply": {
    then: ({ onix }) => onix.report(sent("20261125", "Harbour Press", record({ title: "EMMA" }))),
    query: "?stale=apply",
  },
  "twice in one message": { text: message(BOOK, BOOK) },
  "after another record of it in the message": { text: message(record({ title: "E" }), BOOK) },
  "before a rival of its ISBN": { text: message(BOOK, record({ reference: "other" })) },
  "after a rival of its ISBN": { text: message(record({ reference: "other" }), BOOK) },
  "before another book of its reference": {
    text: message(BOOK, record({ isbn: isbnOf(7), form: "BB" })),
  },
  "as a partial update": { text: message(BOOK.replace(">03<", ">04<")) },
  "as a test": { text: message(BOOK.replace(">03<", ">88<")) },
  "with warnings": { text: message(record({ price: "x" })) },
  "a dry run": { query: "?dry_run=true" },
};

/** A report or products without what differs between two organizations. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, "id")
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"')
    .replaceAll(/"P-\w+"/g, '"code"');
  return JSON.parse(text);
}

it("comes to the same as one that is read, whatever has happened meanwhile", async ({ another }) => {
  for (const [what, { query = "", text = message(BOOK), then }] of Object.entries(MEANWHILE)) {
    const results: unknown[] = [];
    for (const isForgotten of [false, true]) {
      const scene = await another();
      const { onix, products } = scene;
      // Of each text there is a stored reading before.
      const { outcomes: [{ id }] } = await onix.report(message(BOOK));
      await then?.(scene, id);
      if (isForgotten) await forget(scene);
      const reports = [await onix.report(text, query)];
      if (isForgotten) await forget(scene);
      reports.push(await onix.report(text, query));
      results.push([reports, await products()]);
    }
    const [stored, read] = results.map(comparable);
    assertEquals(stored, read, what);
  }
});

it("keeps its warnings and what is not sent", async (scene) => {
  const text = message(record({ price: "x", more: "<NoEdition/><Extent/>" }));
  await scene.onix.report(text);
  const again = await scene.onix.report(text);
  assertNotEquals([again.warnings, again.unmapped], [0, []]);
  await forget(scene);
  assertEquals(await scene.onix.report(text), again);
});
