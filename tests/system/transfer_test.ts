import { assert, assertEquals, assertMatch, assertRejects, fail } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { selectBuilt, selectProducts } from "../../db/products/read.ts";
import { miscounted, misindexed } from "../../db/doctor/recount.ts";
import { exportCatalogue } from "../../features/transfer/db/export.ts";
import { importCatalogue } from "../../features/transfer/db/import.ts";
import { LINE_KINDS, ONIX_TABLES, tablesOfLine } from "../../schema/lines.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isObject } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import {
  commandsOn,
  DEMO_ORGANIZATION,
  execute,
  exported,
  fillDemo,
  imported,
  withHeader,
} from "../support/client/transfer.ts";

/** The tables that an export omits: credentials and derived data. */
const NOT_CARRIED = [
  "api_key_uses",
  "api_keys",
  "idempotency_keys",
  "organization_members",
  "product_changes",
  "product_counts",
  "product_deletions",
  "product_documents",
  "onix_retired",
  "onix_sent",
  "product_search",
  "product_terms",
  "program_changes",
  "recipient_fetches",
  "recipient_products",
  "recipients",
  "renames",
  "webhook_deliveries",
  "webhooks",
];

type Line = Record<string, unknown> & {
  id: string;
  stored: Record<string, unknown[]>;
};

const UNKNOWN = "The organization has no record with this id";
const REPEATED = "An earlier entry has the same value";

/** The value with the fields of each object in the reverse order. */
function reversedIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedIn);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).reverse()
      .map(([name, inner]) => [name, reversedIn(inner)]),
  );
}

Deno.test("Export and import", async ({ step: it }) => {
  await using embedded = await openApp({}, { url: undefined });
  await using own = await openOwnApp();
  const [source, target] = [commandsOn(embedded), commandsOn(own)];
  await fillDemo(source());
  const original = await exported(source(DEMO_ORGANIZATION));
  const lines = original.trimEnd().split("\n");
  const isProduct = (line: string) => line.startsWith('{"kind":"product"');
  const productAt = lines.findIndex(isProduct);

  /** The line of the first product, with other fields. */
  function changed(fields: Record<string, unknown>): string {
    return JSON.stringify({ ...JSON.parse(lines[productAt]!), ...fields });
  }

  /** The operations of a new organization with the content of the demo. */
  async function filled() {
    const database = target(uuidv7());
    await imported(database, original);
    return database;
  }

  const misfits = async () => [...await target().scan(miscounted)];

  await it("include every table of an organization", async () => {
    const tables = await execute(
      source(),
      `select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    );
    const carried = Array.from(LINE_KINDS.values())
      .flatMap(({ table }) => tablesOfLine(table));

    assertEquals(
      tables.map(({ name }) => name).sort(),
      [...carried, ...NOT_CARRIED].sort(),
    );
    for (const kind of LINE_KINDS.keys()) {
      assertMatch(original, RegExp(`^\\{"kind":"${kind}",`, "m"));
    }
    const arrays = [...ROWS.map(([name]) => name), ...ONIX_TABLES, "products"];
    for (const name of arrays) assertMatch(original, RegExp(`"${name}":\\[.`));
  });

  await it("write what GET shows, and take it", async () => {
    const org = await own.organization();
    const { product } = await org.create({ title: "Emma" });
    const database = target(org.id);

    const lineOf = async () => JSON.parse((await exported(database)).split("\n").find(isProduct)!);
    const line = await lineOf();
    const { kind, stored: _, ...shown } = line;
    assertEquals({ kind, ...shown }, {
      kind: "product",
      ...omit(product, "organization_id"),
    });
    const edited = JSON.stringify({ kind, ...product, title: "Persuasion" });
    assertEquals(await imported(database, withHeader(edited)), []);
    assertEquals(await lineOf(), { ...line, title: "Persuasion" });
  });

  await it("round-trip through another database byte for byte", async () => {
    const other = uuidv7();

    assertEquals(await imported(target(other), original), []);
    const there = await exported(target(other));
    assertEquals(await imported(source(other), there), []);

    assertEquals(there, original);
    assertEquals(await exported(source(other)), original);
    assertEquals(await misfits(), []);
    assertEquals([...await source().scan(miscounted)], []);
  });

  await it("write nothing when repeated, whichever tool has written the lines", async () => {
    const database = await filled();
    const versions = () =>
      execute(
        target(),
        `select p.xmin::text, c.xmin::text as count from products p, product_counts c order by p.id, 2`,
        `select xmin::text from publishers order by id`,
        `select xmin::text from onix_records order by product_id`,
      );
    const before = await versions();
    const spaced = lines.map((line) => line.replace("{", "{ ")).join("\n");

    assertEquals(await imported(database, original), []);
    assertEquals(await imported(database, spaced), []);
    const parsed = lines.map((line) => JSON.stringify(parseExact(line)));
    assertEquals(await imported(database, parsed.join("\n")), []);
    const reversed = lines.map((line) => JSON.stringify(reversedIn(parseExact(line))));
    assertEquals(await imported(database, reversed.join("\n")), []);

    assertEquals(await versions(), before);
  });

  await it("neither have nor take what reading records has found out", async () => {
    assert(!original.includes('"reading"'));
    const id = uuidv7();
    const { stored: { onix_records: records, ...others } } = JSON.parse(lines[productAt]!);
    const read = records.map((one: object) => ({ ...one, reading: "x" }));
    const forged = lines.with(productAt, changed({ stored: { ...others, onix_records: read } }));

    assertEquals(await imported(target(id), forged.join("\n")), []);

    const select =
      `select count(reading)::int as readings, count(*) > 0 as "any" from onix_records where organization_id = '${id}'`;
    assertEquals([...await execute(target(id), select)], [{ readings: 0, any: true }]);
  });

  await it("restore what was changed, and show it at once", async () => {
    const id = uuidv7();
    const database = target(id);
    await imported(database, original);
    const { id: product } = JSON.parse(lines[productAt]!) as Line;
    const changes = [
      "update products set title = 'X', product_code = 'X' || product_code",
      "update products set series_id = null",
      "delete from product_prices",
      "delete from product_contributors",
      "update collateral set id = gen_random_uuid()",
      "update publishers set name = 'Y', created_at = now()",
      "delete from onix_aliases",
      "delete from publishing_program_products",
    ];
    for (const change of changes) {
      await execute(target(), `${change} where organization_id = '${id}'`);
      assertEquals(await imported(database, original), [], change);
      assertEquals(await exported(database), original, change);
    }

    const [[shown], [built]] = await database.write(
      selectProducts([product]),
      selectBuilt(product),
    );
    assertEquals(shown!.product, built!.product);
    assertEquals(await misfits(), []);
  });

  await it("change the fields that a line has, and no others", async () => {
    const database = await filled();
    const { id, product_prices, product_territories } = JSON.parse(
      lines[productAt]!,
    );
    const text = JSON.stringify({
      kind: "product",
      id,
      title: "Another",
      subtitle: null,
      product_prices: product_prices.map((price: object) =>
        omit({ ...price, tax_rate: "1" }, "id")
      ),
    });

    for (let times = 0; times < 2; times++) {
      assertEquals(await imported(database, withHeader(text)), []);
      const after = JSON.parse(
        (await exported(database)).split("\n")[productAt]!,
      );
      assertEquals(after.title, "Another");
      assertEquals(after.subtitle, null);
      assertEquals(
        after.product_prices,
        product_prices.map((price: object) => ({ ...price, tax_rate: 1 })),
      );
      assertEquals(after.product_territories, product_territories);
    }
    assertEquals(await misfits(), []);
  });

  await it("find a product by the code of its line, in the order of the new time", async () => {
    const organization = uuidv7();
    const database = target(organization);
    await imported(database, original);
    const edited = changed({ product_code: "P-MOVED", created_at: "2001-02-03T04:05:06.007Z" });

    assertEquals(await imported(database, withHeader(edited)), []);

    assertEquals([...await database.scan(misindexed(organization))], []);
  });

  await it("take lines that are made by hand", async () => {
    const database = target(uuidv7());
    const [publisher_id, id] = [uuidv7(), uuidv7()];
    const made = [
      { kind: "publisher", id: publisher_id, name: "Harbour" },
      { kind: "contributor", id: uuidv7(), name: "Jane Austen" },
      {
        kind: "product",
        id,
        title: "Emma",
        publisher_id,
        publisher_name: "ignored",
        product_prices: [{ currency_code: "GBP", retail_price: "9.90" }],
        created_at: "2026-01-31T12:00+01:00",
      },
      { kind: "publishing_program", id: uuidv7(), name: "Spring" },
    ].map((line) => JSON.stringify(line)).join("\n");

    assertEquals(await imported(database, withHeader(made)), []);

    const text = await exported(database);
    const product = JSON.parse(text.split("\n").find(isProduct)!);
    assertMatch(product.product_code, /^P-/);
    assertEquals(product.created_at, "2026-01-31T11:00:00.000Z");
    assertEquals(product.publisher_name, "Harbour");
    assertEquals(product.product_prices[0].retail_price, 9.9);
    assertEquals(await imported(database, withHeader(made)), []);
    assertEquals(await exported(database), text);
  });

  await it("refuse an invalid line with its reason, and continue", async () => {
    const database = target(uuidv7());
    const unknown = uuidv7();
    // PostgreSQL rejects this one itself, and PGlite does not return.
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const collection = JSON.parse(
      lines.find((line) => line.includes('"kind":"collection"'))!,
    ).id;
    const inSeries = lines.filter(isProduct).map((line) => JSON.parse(line))
      .find(({ series_id }) => series_id);
    const season = { kind: "season", id: unknown, name: "Spring" };
    const program = { ...season, kind: "publishing_program" };
    const territory = { supply_details: [{ id: unknown }] };
    const wrong: Record<string, string> = {
      '{"kind":': "The line is not JSON",
      '["kind"]': "The line is not a JSON object",
      [`{"kind":"season","id":"${unknown}","name":"a","\\u006eame":"b"}`]:
        'The line has the name "name" twice in one object',
      '{"id":1}': "kind must be a string",
      '{"kind":"shelf"}': 'There is no kind "shelf"',
      '{"kind":"season","name":"Spring"}': "/id: This field is required",
      [JSON.stringify({ ...season, name: undefined, nmae: "Spring" })]:
        "/name: This field is required; /nmae: Unknown field: did you mean name?",
      [JSON.stringify({ ...season, name: "\u0000" })]:
        "/name: The character U+0000 cannot be stored",
      [JSON.stringify({ ...season, name: 0 }).replace("0}", `${deep}}`)]:
        "/name: Expected a string",
      [JSON.stringify({ ...season, stored: { products: [] } })]: "/stored/products: Unknown field",
      [JSON.stringify({ ...season, kind: "format", product_form_id: unknown })]:
        `/product_form_id: ${UNKNOWN}`,
      [JSON.stringify({ ...program, stored: { products: [unknown] } })]:
        `/stored/products/0: ${UNKNOWN}`,
      [
        changed({
          publisher_id: unknown,
          contributors: [
            { contributor_id: unknown, contributor_role_id: unknown },
          ],
        })
      ]: [
        `/publisher_id: ${UNKNOWN}`,
        `/contributors/0/contributor_id: ${UNKNOWN}`,
        `/contributors/0/contributor_role_id: ${UNKNOWN}`,
      ].join("; "),
      [changed({ page_count: 0, publisher_id: unknown })]:
        `/page_count: Expected a whole number from 1 to 2147483647; /publisher_id: ${UNKNOWN}`,
      [changed({ product_collections: [], series_id: collection })]:
        "/series_id: The series is not one of the product's collections",
      [JSON.stringify({ ...inSeries, product_collections: [] })]:
        "/series_id: The series is not one of the product's collections",
      [changed({ isbn13: "9780306406158", page_count: "many" })]: [
        "/isbn13: The check digit after 978030640615 is 7, not 8",
        "/page_count: Expected a whole number from 1 to 2147483647",
      ].join("; "),
      [changed({ product_prices: [{ price: 1 }] })]: [
        "/product_prices/0/currency_code: This field is required",
        "/product_prices/0/price: Unknown field: did you mean retail_price?",
      ].join("; "),
      [
        changed({
          product_prices: ["GBP", "EUR"].map((currency_code) => ({
            id: unknown,
            currency_code,
          })),
        })
      ]: `/product_prices/1/id: ${REPEATED}`,
      [changed({ product_territories: [territory, territory] })]:
        `/product_territories/1/supply_details/0/id: ${REPEATED}`,
      [changed({ updated_at: "-infinity" })]:
        "/updated_at: Expected a day such as 2027-01-31, or a time with its offset such as 2027-01-31T12:00:00Z",
      [changed({ id: unknown })]: "/product_code: Another product has this code",
      [changed({ stored: { onix_records: [{ record: "<" }] } })]:
        "/stored/onix_records/0/record: Expected a record as exports write it",
      [changed({ stored: { onix_aliases: ["a"] } })]: "/stored/onix_aliases/0: Expected an object",
      [
        changed({
          id: uuidv7(),
          product_code: unknown,
          stored: {
            onix_aliases: JSON.parse(lines[productAt]!).stored.onix_aliases,
          },
        })
      ]: "/stored/onix_aliases: Another product has such a reference, or an earlier entry",
      [
        changed({
          id: uuidv7(),
          product_code: uuidv7(),
          stored: { onix_senders: [{ sender_name: "A", sent_at: "never" }] },
        })
      ]: "The database refuses the product (SQLSTATE 22007)",
    };
    const text = [...lines.slice(0, -1), ...Object.keys(wrong), lines.at(-1)];

    const refused = await imported(database, text.join("\r\n"));

    assertEquals(
      refused.toSorted(),
      Object.values(wrong).map((reason, i) => `${lines.length + i}: ${reason}`)
        .toSorted(),
    );
    assertEquals(await exported(database), original);
  });

  await it("refuse a line that is not UTF-8", async () => {
    const header = new TextEncoder().encode(withHeader(""));
    const text = Uint8Array.from([...header, 0x22, 0xff, 0x22]);

    const refused = await imported(target(DEMO_ORGANIZATION), text);

    assertEquals(refused, ["2: The line is not UTF-8"]);
  });

  await it("refuse a product over 4 MiB, and no smaller one", async () => {
    const database = await filled();
    const entry = {
      collateral_type: "text_content",
      text: "x".repeat(100_000),
    };
    const [tooLarge, large] = [42, 41].map((texts) =>
      changed({ collateral: Array(texts).fill(entry) })
    );

    assertEquals(await imported(database, withHeader(tooLarge!)), [
      "2: The product would be larger than 4 MiB",
    ]);
    assertEquals(await imported(database, withHeader(large!)), []);
  });

  await it("say what SQL has stored and the API refuses", async () => {
    const id = uuidv7();
    const database = target(id);
    await imported(database, original);
    await execute(
      target(),
      `update products set isbn13 = '1' where organization_id = '${id}' and isbn13 is not null`,
    );

    const refused = await imported(target(uuidv7()), await exported(database));

    assert(refused.length > 0);
    const reason =
      /^\d+: \/isbn13: Expected 13 digits that begin with 978 or 979, but not with 9790$/;
    for (const line of refused.filter((line) => !line.includes("/stored"))) {
      assertMatch(line, reason);
    }
  });

  await it("fail if the organization does not exist", async () => {
    const error = await assertRejects(() => exported(target(uuidv7())), Error);

    assertMatch(error.message, /no organization/);
  });

  await it("fail for a file without a valid header, and write nothing", async () => {
    const id = uuidv7();
    const none = "The file does not begin with a header: expected the output of deno task export";
    const header = withHeader("").trimEnd();
    const files: Record<string, string> = {
      "": none,
      "\n": none,
      [lines[1]!]: none,
      "<ONIXMessage/>\n": none,
      "{}\n": none,
      [header.replace('"Test"', '" "')]:
        "The header is invalid: /organization/name: Expected at least one character that is not a space",
      [header.replace("}", '},"records":"abc"')]:
        "The header is invalid: /records: Expected a whole number",
      '{"kind":"catalogue","version":1}':
        "The file has version 1 of the format, and this release reads version 2 alone: export the organization again with this release",
    };
    for (const [text, message] of Object.entries(files)) {
      const error = await assertRejects(
        () => imported(target(id), text),
        Error,
      );

      assertEquals(error.message, message);
    }
    await assertRejects(() => exported(target(id)), Error, "no organization");
  });

  await it("keep the name of an organization, unless renamed", async () => {
    const id = uuidv7();
    const nameOf = async () => {
      const [header] = (await exported(target(id))).split("\n");
      return JSON.parse(header!).organization.name;
    };
    const file = (name: string) => new Blob([withHeader("").replace("Test", name)]).stream();
    const names = [];
    for (const [name, rename] of [["A", false], ["B", false], ["C", true]]) {
      await importCatalogue(target(id), file(name as string), {
        rename: rename as boolean,
        refused: (_, reason) => fail(reason),
        progress() {},
      });
      names.push(await nameOf());
    }

    assertEquals(names, ["A", "A", "C"]);
  });

  await it("end with the last line of a repeated record", async () => {
    const database = await filled();
    const [line, other] = [lines[productAt]!, changed({ title: "Another" })];

    await imported(database, withHeader([other, line].join("\n")));
    const same = await exported(database);
    await imported(database, withHeader([line, other].join("\n")));

    assertEquals(same, original);
    assert((await exported(database)).includes('"title":"Another"'));
  });

  await it("give a changed record a new time, unless its line has one", async () => {
    const database = await filled();
    const { id, updated_at: before } = JSON.parse(lines[productAt]!);
    const timeAfter = async (fields: object) => {
      await imported(database, withHeader(JSON.stringify({ kind: "product", id, ...fields })));
      const line = (await exported(database)).split("\n").find((line) => line.includes(id));
      return JSON.parse(line!).updated_at;
    };
    const now = await timeAfter({ title: "Another" });
    assert(now > before);
    assertEquals(await timeAfter({ title: "Another" }), now);
    assertEquals(await timeAfter({ title: "A third", updated_at: before }), before);
  });

  await it("report a file truncated between two lines", async () => {
    const records = lines.length - 1;
    const most = lines.slice(0, -3).join("\n") + "\n";
    const database = target(uuidv7());

    assertEquals(await imported(database, most), [
      `${records - 3} of ${records} records`,
    ]);
    assertEquals(await imported(database, original), []);
  });

  await it({
    name: "count each new product once in concurrent imports",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const products = Array.from(
        { length: 2_000 },
        () => JSON.stringify({ kind: "product", id: uuidv7(), title: "Emma" }),
      );
      const text = withHeader(products.join("\n"));
      const id = uuidv7();

      const refused = await Promise.all(
        [text, text].map((text) => imported(target(id), text)),
      );

      assertEquals(refused, [[], []]);
      assertEquals(await misfits(), []);
    },
  });

  await it({
    name: "show a single snapshot during concurrent writes",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const id = uuidv7();
      await imported(target(id), original);
      let text = "";

      await exportCatalogue(target(id), {
        async write(lines) {
          if (!text) {
            await execute(
              target(),
              `update products set title = 'Later' where organization_id = '${id}'`,
            );
          }
          text += lines;
        },
      });

      assertEquals(text, original);
    },
  });
});

function omit(fields: object, name: string): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([other]) => other !== name),
  );
}
