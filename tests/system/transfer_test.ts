import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  fail,
} from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import {
  selectBuilt,
  selectProducts,
  storeProducts,
} from "../../db/products/documents.ts";
import { miscounted } from "../../db/commands/recount.ts";
import { exportCatalogue } from "../../db/transfer/export.ts";
import { importCatalogue } from "../../db/transfer/import.ts";
import { tablesOf } from "../../db/transfer/format.ts";
import { LINE_KINDS } from "../../schema/lines.ts";
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
  "product_search",
  "product_terms",
  "renames",
  "webhook_deliveries",
  "webhooks",
];

type Product = Record<string, unknown> & { id: string; title: string };

/** What every row has in a line. */
const ROW = { id: uuidv7(), position: 1 };

const AMOUNT =
  "Expected 0 or more, with at most 12 digits before the point and 4 after it";

Deno.test("Export and import", async ({ step: it }) => {
  await using embedded = await openApp({}, { url: undefined });
  await using own = await openOwnApp();
  const [source, target] = [commandsOn(embedded), commandsOn(own)];
  await fillDemo(source());
  const original = await exported(source(DEMO_ORGANIZATION));
  const lines = original.trimEnd().split("\n");
  const productAt = lines.findIndex((line) => line.includes('"product"'));

  /** The line of the first product, changed. */
  function changed(change: (product: Product) => void): string {
    const product = JSON.parse(lines[productAt]!) as Product;
    change(product);
    return JSON.stringify(product);
  }

  await it("include every table of an organization", async () => {
    const tables = await execute(
      source(),
      `select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    );
    const carried = tablesOf(Object.values(LINE_KINDS));

    for (const { name } of tables as { name: string }[]) {
      assert(
        carried.includes(name) || NOT_CARRIED.includes(name),
        `schema/lines.ts does not say where rows of ${name} go`,
      );
    }
    const rows = tablesOf(
      Object.values(LINE_KINDS).flatMap(({ rows }) => rows),
    );
    for (const table of rows) {
      assertMatch(original, RegExp(`"${table}":\\[\\{`));
    }
    for (const kind of Object.keys(LINE_KINDS)) {
      assertMatch(original, RegExp(`^\\{"kind":"${kind}",`, "m"));
    }
  });

  await it("round-trip through another database byte for byte", async () => {
    const other = uuidv7();

    assertEquals(await imported(target(other), original), []);
    const there = await exported(target(other));
    assertEquals(await imported(source(other), there), []);

    assertEquals(there, original);
    assertEquals(await exported(source(other)), original);
    assertEquals([...await target().scan(miscounted)], []);
    assertEquals([...await source().scan(miscounted)], []);
  });

  await it("write nothing when repeated", async () => {
    const database = target(uuidv7());
    const versions = () =>
      execute(
        target(),
        `select p.xmin::text, c.xmin::text as count from products p, product_counts c order by p.id, 2`,
      );
    await imported(database, original);
    const before = await versions();

    assertEquals(await imported(database, original), []);

    assertEquals(await versions(), before);
  });

  await it("set every field of an existing record", async () => {
    const id = uuidv7();
    const database = target(id);
    await imported(database, original);
    const product = JSON.parse(lines[productAt]!) as Product;
    await database.transaction((tx) =>
      tx.commit(...storeProducts([product.id]))
    );
    const text = lines.with(
      productAt,
      changed((product) => {
        product.title = "Another";
        product.publishing_status_id = null;
        product.product_prices = [];
        product.product_contributors =
          (product.product_contributors as unknown[]).slice(1);
      }),
    ).join("\n");

    assertEquals(await imported(database, text), []);

    // JavaScript formats some numbers differently.
    const [first, ...others] = (await exported(database)).trimEnd()
      .split("\n").splice(productAt);
    assertEquals(JSON.parse(first!), JSON.parse(text.split("\n")[productAt]!));
    assertEquals(others, lines.slice(productAt + 1));
    const [current] = await database.lookUp(selectProducts([product.id]));
    const [built] = await database.lookUp(selectBuilt(product.id));
    assertEquals(current!.product, built!.product);
    assertEquals([...await target().scan(miscounted)], []);
  });

  await it("change the series and collections of a product", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const at = lines.findIndex((line) => /"series_id":"/.test(line));
    const product = JSON.parse(lines[at]!) as Record<string, unknown>;
    product.series_id = null;
    product.product_collections = [];

    assertEquals(
      await imported(database, withHeader(JSON.stringify(product))),
      [],
    );
    assertEquals(await imported(database, withHeader(lines[at]!)), []);

    assertEquals(await exported(database), original);
  });

  await it("refuse an invalid line with its reason, and continue", async () => {
    const database = target(uuidv7());
    const unknown = uuidv7();
    // PostgreSQL rejects this one itself, and PGlite does not return.
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const collection = JSON.parse(
      lines.find((line) => line.includes('"kind":"collection"'))!,
    ).id;
    const program = (products: unknown) =>
      JSON.stringify({
        kind: "publishing_program",
        id: unknown,
        name: "Spring",
        publishing_program_products: products,
      });
    const wrong = {
      '{"kind":': "The line is not JSON",
      '["kind"]': "The line is not a JSON object",
      '{"id":1}': "kind must be a string",
      '{"kind":"shelf"}': 'There is no kind "shelf"',
      '{"kind":"season","name":"Spring"}': "/id: This field is required",
      [`{"kind":"season","id":"${unknown}","name":null}`]:
        "/name: Expected a string",
      [`{"kind":"season","id":"${unknown}","nmae":"Spring"}`]:
        "/name: This field is required; /nmae: Unknown field: did you mean name?",
      [`{"kind":"season","id":"${unknown}","name":"\\u0000"}`]:
        "/name: The character U+0000 cannot be stored",
      [`{"kind":"format","id":"${unknown}","name":"A","product_form_id":"${unknown}"}`]:
        "/product_form_id: The organization has no record with this id",
      [
        changed((product) => {
          product.publisher_id = unknown;
          product.product_contributors = [
            {
              contributor_id: unknown,
              contributor_role_id: unknown,
              position: 1,
            },
          ];
        })
      ]: [
        "/publisher_id: The organization has no record with this id",
        "/product_contributors/0/contributor_id: The organization has no record with this id",
        "/product_contributors/0/contributor_role_id: The organization has no record with this id",
      ].join("; "),
      [changed((product) => product.publishing_status_id = unknown)]:
        "/publishing_status_id: The organization has no record with this id",
      [
        changed((product) => {
          product.product_collections = [];
          product.series_id = collection;
        })
      ]: "/series_id: The series is not one of the product's collections",
      [changed((product) => product.title = "")]:
        "/title: Expected at least one character that is not a space",
      [changed((product) => product.isbn13 = "9780306406158")]:
        "/isbn13: The check digit after 978030640615 is 7, not 8",
      [changed((product) => product.cover_image_url = "javascript:alert(1)")]:
        /^\d+: \/cover_image_url: Expected an absolute http or https URL/,
      [changed((product) => product.page_count = "many")]:
        "/page_count: Expected a whole number from 1 to 2147483647",
      [changed((product) => product.product_prices = {})]:
        "/product_prices: Expected an array",
      [changed((product) => product.product_prices = [1])]:
        "/product_prices/0: Expected an object",
      [
        changed((product) =>
          product.product_prices = [{ ...ROW, currency_code: "GBP", price: 1 }]
        )
      ]: "/product_prices/0/price: Unknown field: did you mean retail_price?",
      [
        changed((product) =>
          product.product_prices = [
            { ...ROW, currency_code: "XXZ", retail_price: 1.23456 },
          ]
        )
      ]: [
        "/product_prices/0/currency_code: Expected a currency of ISO 4217, in capitals, see /code-lists/96",
        `/product_prices/0/retail_price: ${AMOUNT}`,
      ].join("; "),
      [
        changed((product) =>
          product.product_prices = [
            { ...ROW, currency_code: "GBP", retail_price: 5e11 },
          ]
        ).replace("500000000000", "999999999999.12345")
      ]: `/product_prices/0/retail_price: ${AMOUNT}`,
      [
        changed((product) =>
          product.product_prices = Array(501).fill({ currency_code: "GBP" })
        )
      ]: "/product_prices: At most 500 entries",
      [lines[0]!.replace(/"records":\d+/, '"records":"abc"')]:
        "records must be a whole number",
      [changed((product) => product.publication_date = "infinity")]:
        "/publication_date: Expected a calendar day as YYYY-MM-DD",
      [changed((product) => product.updated_at = "-infinity")]:
        "/updated_at: Expected a time with its offset such as 2027-01-31T12:00:00Z",
      [changed((product) => product.id = unknown)]:
        "/product_code: Another product has this code",
      [changed((product) => product.product_code = "x".repeat(2_001))]:
        "/product_code: At most 2000 characters",
      [`{"kind":"season","id":"${unknown}","name":${deep}}`]:
        "/name: Expected a string",
      [changed((product) => delete product.product_code)]:
        "/product_code: This field is required",
      [
        changed((product) =>
          product.product_prices = [{ currency_code: "GBP" }]
        )
      ]: [
        "/product_prices/0/id: This field is required",
        "/product_prices/0/position: This field is required",
      ].join("; "),
      [
        changed((product) =>
          product.product_prices = [
            { ...ROW, position: 500, currency_code: "GBP" },
          ]
        )
      ]: "/product_prices/0/position: Expected a whole number up to 499",
      [
        changed((product) => product.created_at = "2024-01-01T00:00:00+16:00")
      ]: "/created_at: Expected a time with its offset such as 2027-01-31T12:00:00Z",
      [
        changed((product) =>
          product.product_territories = [1, 2].map(() => ({
            id: uuidv7(),
            supply_details: [{ id: unknown }],
          }))
        )
      ]: "/product_territories/1/supply_details/0/id: An earlier entry has the same value",
      [
        changed((product) =>
          product.onix_aliases = ["one", "two", "one"].map((reference) => ({
            record_reference: reference,
          }))
        )
      ]: "/onix_aliases/2/record_reference: An earlier entry has the same value",
      [program(null)]: "/publishing_program_products: Expected an array",
      [program([{ product_id: unknown }, { product_id: unknown }])]:
        "/publishing_program_products/1/product_id: An earlier entry has the same value",
    };
    const text = [...lines.slice(0, -1), ...Object.keys(wrong), lines.at(-1)];

    const refused = await imported(database, text.join("\r\n"));

    assertEquals(refused.length, Object.keys(wrong).length);
    for (const [i, reason] of Object.values(wrong).entries()) {
      const line = `${lines.length + i}: `;
      const found = refused.find((report) => report.startsWith(line));
      assert(found, `${line}${reason}`);
      if (typeof reason === "string") assertEquals(found, line + reason);
      else assertMatch(found, reason);
    }
    assertEquals(await exported(database), original);
  });

  await it("name the ONIX reference that another product has", async () => {
    const received = { record: "<Product/>", digest: "d" };
    const references = [{
      onix_records: [{ ...received, record_reference: "first" }],
      onix_aliases: [{ record_reference: "a" }, { record_reference: "b" }],
    }, {
      onix_aliases: [{ record_reference: "c" }, { record_reference: "b" }],
    }, { onix_records: [{ ...received, record_reference: "first" }] }];
    const isProduct = (line: string) => line.includes('"kind":"product"');
    const start = lines.findIndex(isProduct);
    const text = lines.map((line, i) => {
      const more = isProduct(line) ? references[i - start] : undefined;
      return more ? JSON.stringify({ ...JSON.parse(line), ...more }) : line;
    });

    const refused = await imported(target(uuidv7()), text.join("\n"));

    const reason = "Another product has this reference";
    assertEquals(refused.slice(0, 2), [
      `${start + 2}: /onix_aliases/1/record_reference: ${reason}`,
      `${start + 3}: /onix_records/0/record_reference: ${reason}`,
    ]);
  });

  await it("refuse a line that is not UTF-8", async () => {
    const [report] = await imported(
      target(DEMO_ORGANIZATION),
      Uint8Array.from([
        ...new TextEncoder().encode(withHeader("")),
        0x22,
        0xff,
        0x22,
      ]),
    );

    assertEquals(report, "2: The line is not UTF-8");
  });

  await it("refuse a product over 4 MiB, and no smaller one", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const text = "x".repeat(100_000);
    const [tooLarge, large] = [42, 41].map((texts) =>
      changed((product) => {
        product.collateral = Array.from({ length: texts }, (_, position) => ({
          id: crypto.randomUUID(),
          position,
          collateral_type: "text_content",
          text,
        }));
      })
    );

    assertEquals(await imported(database, withHeader(tooLarge!)), [
      "2: The product would be larger than 4 MiB",
    ]);
    assertEquals(await imported(database, withHeader(large!)), []);
  });

  await it("accept a line of an earlier release", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const line = changed((product) => delete product.updated_at);

    assertEquals(await imported(database, withHeader(line)), []);
  });

  await it("accept what requests are refused for since", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const rights = ["02", "03"].map((sales_rights_type) => ({
      ...ROW,
      id: uuidv7(),
      sales_rights_type,
      is_rest_of_world: true,
    }));
    const markets = [
      { countries_excluded: ["US"] },
      { regions_included: ["WORLD"], regions_excluded: ["WORLD"] },
    ].map((territory) => ({ ...ROW, id: uuidv7(), ...territory }));
    const line = changed((product) => {
      product.product_sales_rights = rights;
      product.product_territories = [
        { ...ROW, id: uuidv7(), territory_markets: markets },
      ];
    });

    assertEquals(await imported(database, withHeader(line)), []);
  });

  await it("fail if the organization does not exist", async () => {
    const error = await assertRejects(() => exported(target(uuidv7())), Error);

    assertMatch(error.message, /no organization/);
  });

  await it("fail for a file without a header, and write nothing", async () => {
    const id = uuidv7();
    for (const text of ["", "\n", lines[1]!, "<ONIXMessage/>\n", "{}\n"]) {
      const error = await assertRejects(
        () => imported(target(id), text),
        Error,
      );

      assertEquals(
        error.message,
        "The file does not begin with a header: expected the output of deno task export",
      );
    }
    await assertRejects(() => exported(target(id)), Error, "no organization");
  });

  await it("keep the name of an organization, unless renamed", async () => {
    const id = uuidv7();
    const nameOf = async () => {
      const [header] = (await exported(target(id))).split("\n");
      return JSON.parse(header!).organization.name;
    };
    const file = (name: string) =>
      new Blob([withHeader("").replace("Test", name)]).stream();
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
    const database = target(uuidv7());
    await imported(database, original);
    const other = changed((product) => product.title = "Another title");
    const line = original.split("\n").find((line) =>
      line.includes(JSON.parse(other).id) && line.includes('"product"')
    )!;

    await imported(database, withHeader([other, line].join("\n")));
    const same = await exported(database);
    await imported(database, withHeader([line, other].join("\n")));

    assertEquals(same, original);
    assert((await exported(database)).includes("Another title"));
  });

  await it("report a file truncated between two lines", async () => {
    const records = lines.length - 1;
    const most = lines.slice(0, -3).join("\n") + "\n";
    const database = target(uuidv7());

    assertEquals(await imported(database, most), [
      `${records - 1}: The file ends here, after ${
        records - 3
      } of ${records} records`,
    ]);
    assertEquals(await imported(database, original), []);
  });

  await it("report a truncated file whose header is refused", async () => {
    const records = lines.length - 1;
    const database = target(uuidv7());
    await imported(database, original);
    const header = JSON.parse(lines[0]!);
    header.organization.name = " ";
    const text = [JSON.stringify(header), ...lines.slice(1, -2)].join("\n");

    const refused = await imported(database, `${text}\n`);

    assertEquals(refused.length, 2);
    assertEquals(
      refused[0],
      "1: /organization/name: Expected at least one character that is not a space",
    );
    assertMatch(refused[1]!, new RegExp(`after ${records - 2} of ${records}`));
  });

  await it("fail for a file of a later version", async () => {
    const error = await imported(
      target(uuidv7()),
      '{"kind":"catalogue","version":2}',
    ).catch((error) => error);

    assertMatch(error.message, /reads version 1 of the format/);
  });

  await it("include a column that a later migration adds", async () => {
    await execute(
      source(),
      "alter table seasons add column starts_on date not null default '2026-03-01'",
    );

    const text = await exported(source(DEMO_ORGANIZATION));

    assertMatch(text, /^\{"kind":"season",.*"starts_on":"2026-03-01"\}$/m);
    assertEquals(await imported(source(uuidv7()), original), []);
  });

  await it({
    name: "count each new product once in concurrent imports",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const header = lines[0]!.replace(/,"records":\d+/, "");
      const products = Array.from({ length: 2_000 }, (_, i) =>
        JSON.stringify({
          kind: "product",
          id: uuidv7(),
          title: "Emma",
          product_code: `P-${i}`,
        }));
      const text = [header, ...products].join("\n");
      const id = uuidv7();

      const refused = await Promise.all(
        [text, text].map((text) => imported(target(id), text)),
      );

      assertEquals(refused, [[], []]);
      assertEquals([...await target().scan(miscounted)], []);
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
