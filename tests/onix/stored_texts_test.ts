import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { RELEASES } from "../../features/onix/schema/rules/releases.ts";
import { WRITING_VERSION } from "../../features/onix/db/out/stored_texts.ts";
import { eventually } from "../support/app/eventually.ts";
import { type OnixScene, onixTestsOf } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";
import { BOOK } from "./records.ts";
import {
  imported,
  message as messageOf,
  readRecord,
  recordsOf,
  writeRecord,
  written,
} from "./support.ts";

/* The text of a record is stored when it goes out, and goes out again until something that decides it changes. */

// deno-lint-ignore no-explicit-any
type Any = any;

const it = onixTestsOf("A stored text of a record");

/** The number of stored texts of the organization. */
async function storedTexts({ app, org }: OnixScene): Promise<number> {
  const { count } = await app.sql`select from onix_sent where organization_id = ${org.id}`;
  return count;
}

/** Marks the stored texts of the organization, so that a message shows whether it has one. */
async function mark({ app, org }: OnixScene): Promise<void> {
  await app.sql`
    update onix_sent set record = replace(record, '<NotificationType>', '<!-- stored --><NotificationType>')
    where organization_id = ${org.id}
  `;
}

const isStored = (record: string) => record.includes("<!-- stored -->");

/** The only record of the feed. */
async function sent({ onix }: OnixScene): Promise<string> {
  const [record] = await onix.feed(1);
  return record!;
}

/** The message with one record, and its entity tag. */
async function messageOfOne(
  { org }: OnixScene,
  id: string,
  query = "",
): Promise<{ text: string; etag: string | null }> {
  const { text, headers } = await org.get(`/api/onix/products/${id}${query}`);
  return { text, etag: headers.get("etag") };
}

it("goes out in the form in which it was stored", async (scene) => {
  await scene.onix.report(message(record({ isbn: null })));
  const first = await sent(scene);
  await eventually(1, () => storedTexts(scene));
  assertEquals(await sent(scene), first);

  await mark(scene);

  assertEquals(isStored(await sent(scene)), true);
  for (const form of ["&tags=short", "&release=3.0"]) {
    assertEquals(isStored(await scene.onix.xml(`?limit=1000${form}`)), false, form);
  }
  await eventually(3, () => storedTexts(scene));
});

/** What decides the text of a record, with a change of it. */
const CHANGES: Record<string, (scene: OnixScene, product: Any) => PromiseLike<unknown>> = {
  "the product": ({ org }, { id }) => org.put(`/api/products/${id}`, { title: "Changed" }),
  "the product by SQL": ({ app }, { id }) =>
    app.sql`update products set title = 'Changed' where id = ${id}`,
  "a row of the product by SQL": ({ app }, { id }) =>
    app.sql`update collateral set text = 'Changed' where product_id = ${id}`,
  "the name of its publisher": ({ org }, { publisher_id }) =>
    org.put(`/api/publishers/${publisher_id}`, { name: "Changed" }),
  "the identifiers of its publisher": ({ org }, { publisher_id }) =>
    org.put(`/api/publishers/${publisher_id}`, {
      identifiers: [{ name_id_type: "16", id_value: "0000000121032683" }],
    }),
  "the biography of its contributor": ({ org }, { contributors: [{ contributor_id }] }) =>
    org.put(`/api/contributors/${contributor_id}`, { biographical_note: "Changed" }),
  "the name of the organization": ({ app, org }) =>
    app.sql`update organizations set name = 'Changed' where id = ${org.id}`,
  "what no field holds": ({ onix }) =>
    onix.report(message(BOOK.replace("<BarcodeType>10", "<BarcodeType>11"))),
  "the rules by which it is written": ({ app, org }) =>
    app.sql`update onix_sent set key = md5(key) where organization_id = ${org.id}`,
};

for (const [what, change] of Object.entries(CHANGES)) {
  it(`does not go out after a change of ${what}`, async (scene) => {
    if (scene.app.isDistributed && what.endsWith(" by SQL")) return;
    const { outcomes: [{ id }] } = await scene.onix.report(message(BOOK));
    await sent(scene);
    await eventually(1, () => storedTexts(scene));
    await mark(scene);
    assertEquals(isStored(await sent(scene)), true);
    assertEquals(isStored((await messageOfOne(scene, id)).text), true);

    await change(scene, await scene.product(id));

    assertEquals(isStored((await messageOfOne(scene, id)).text), false);
    assertEquals(isStored(await sent(scene)), false);
    // It is stored again, once the product has a document.
    await eventually(1, async () => {
      await sent(scene);
      await mark(scene);
      return Number(isStored(await sent(scene)));
    });
  });
}

it("goes out for one product with the entity tag that it had before", async (scene) => {
  const { outcomes: [{ id }] } = await scene.onix.report(message(BOOK));
  const before = await messageOfOne(scene, id);
  await sent(scene);
  await eventually(1, () => storedTexts(scene));
  const withoutTime = (text: string) => text.replace(/<SentDateTime>.*?<\/SentDateTime>/, "");
  const after = await messageOfOne(scene, id);
  assertEquals([withoutTime(after.text), after.etag], [withoutTime(before.text), before.etag]);

  await mark(scene);

  const marked = await messageOfOne(scene, id);
  assertEquals([isStored(marked.text), marked.etag], [true, before.etag]);
  const short = await messageOfOne(scene, id, "?tags=short");
  assertEquals([isStored(short.text), short.etag === before.etag], [false, false]);
});

it("goes to no recipient with a view, and none is stored for it", async (scene) => {
  const { org, onix } = scene;
  await onix.report(message(BOOK));
  await sent(scene);
  await eventually(1, () => storedTexts(scene));
  await mark(scene);
  const view = { name: "Retailer", leave_out: ["collateral"] };
  const { status, body: { data } } = await org.post("/api/recipients", view);
  assertEquals(status, 201);

  const seen = await onix.xml(`?limit=1000&recipient=${data.id}`);

  assert(seen.includes("<RecordReference>harbour.example.1<"), seen);
  assertEquals([isStored(seen), seen.includes("<TextContent>")], [false, false]);
  const { id: product } = (await org.get("/api/products")).body.data[0];
  const { text: one } = await messageOfOne(scene, product, `?recipient=${data.id}`);
  assertEquals([isStored(one), one.includes("<TextContent>")], [false, false]);
  assertEquals(isStored(await sent(scene)), true);
});

it("is deleted with its product", async (scene) => {
  const { id } = await scene.org.create();
  await sent(scene);
  await eventually(1, () => storedTexts(scene));

  const { status } = await scene.org.delete(`/api/products/${id}`);

  assertEquals([status, await storedTexts(scene)], [200, 0]);
});

it("is not kept if it is long", async (scene) => {
  const text = { collateral_type: "text_content", text_type: "03", content_audience: ["00"] };
  await scene.org.create({ collateral: [{ ...text, text: "x".repeat(70_000) }] });
  await scene.org.create();

  const records = await scene.onix.feed(2);

  await eventually(1, () => storedTexts(scene));
  assertEquals(await scene.onix.feed(2), records);
  assertEquals(await storedTexts(scene), 1);
});

const GOLDEN = new URL("texts.json", import.meta.url);
const MESSAGES = new URL("messages/", import.meta.url);

/** The value with another text in each field that is no id. */
function edited(value: Any, name = ""): Any {
  if (Array.isArray(value)) return value.map((each) => edited(each, name));
  if (value instanceof Object) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, edited(inner, key)]),
    );
  }
  const isText = typeof value === "string" && /^\p{L}{5}/u.test(value) && !/(?:^|_)id$/.test(name);
  return isText ? `${value} 2` : value;
}

/** Digests of the texts of records, by their message: as they were received, after edits, and of their products alone. */
async function textsOfMessages(): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  const names = Array.from(Deno.readDirSync(MESSAGES), ({ name }) => name).sort()
    .filter((name) => name !== "not_well_formed.xml");
  const messages = names.map((name) =>
    [name, Deno.readTextFileSync(new URL(name, MESSAGES))] as const
  );
  for (const [name, text] of [...messages, ["a book", messageOf(BOOK)] as const]) {
    const { header, records } = await recordsOf(text);
    const hash = createHash("sha256");
    for (const each of records) {
      if (readRecord(each, header).kind === "rejected") continue;
      const { book, received } = imported(each, header);
      for (const release of RELEASES) {
        const changed = { ...book, product: edited(book.product) };
        for (const [of, source] of [[book, received], [changed, received], [book, null]] as const) {
          hash.update(await written([writeRecord(of, source, release).record], release));
        }
      }
    }
    digests[name] = hash.digest("base64url").slice(0, 12);
  }
  return digests;
}

Deno.test("A change of what is written raises WRITING_VERSION", async () => {
  const golden = JSON.parse(await Deno.readTextFile(GOLDEN).catch(() => "{}"));
  const current = { version: WRITING_VERSION, texts: await textsOfMessages() };
  const isSame = JSON.stringify(current.texts) === JSON.stringify(golden.texts);
  assert(
    isSame || !golden.version || WRITING_VERSION > golden.version,
    `Records are written differently: set WRITING_VERSION in features/onix/db/out/stored_texts.ts to ${
      golden.version + 1
    }, then renew texts.json by UPDATE_GOLDEN=1 deno task test tests/onix/stored_texts_test.ts`,
  );
  if (Deno.env.get("UPDATE_GOLDEN")) {
    await Deno.writeTextFile(GOLDEN, JSON.stringify(current, null, 2) + "\n");
  }
  assertEquals(current, JSON.parse(await Deno.readTextFile(GOLDEN)), "Renew by UPDATE_GOLDEN=1");
});
