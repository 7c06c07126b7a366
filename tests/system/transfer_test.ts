import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Queries } from "../../db/database.ts";
import { uuidv7 } from "../../db/uuid.ts";
import {
  buildProduct,
  currentProduct,
  storeProducts,
} from "../../db/products/documents.ts";
import { miscounted } from "../../db/products/counts.ts";
import { exportCatalogue } from "../../db/transfer/export.ts";
import { tablesOf } from "../../db/transfer/format.ts";
import { KINDS } from "../../schema/lines.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import {
  commandsOn,
  DEMO_ORGANIZATION,
  execute,
  exported,
  fillDemo,
  imported,
} from "../support/client/transfer.ts";

/** The tables that an export omits: credentials and derived data. */
const NOT_CARRIED = [
  "api_key_uses",
  "api_keys",
  "idempotency_keys",
  "organization_members",
  "product_counts",
  "product_deletions",
  "product_documents",
];

type Product = Record<string, unknown> & { id: string; title: string };

Deno.test("Export and import", async (t) => {
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

  await t.step("include every table of an organization", async () => {
    const tables = await execute(
      source(),
      `select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    );
    const carried = tablesOf(Object.values(KINDS));

    for (const { name } of tables as { name: string }[]) {
      assert(
        carried.includes(name) || NOT_CARRIED.includes(name),
        `schema/lines.ts does not say where rows of ${name} go`,
      );
    }
    const rows = tablesOf(
      Object.values(KINDS).flatMap(({ rows }) => rows),
    );
    for (const table of rows) {
      assertMatch(original, RegExp(`"${table}":\\[\\{`));
    }
    for (const kind of Object.keys(KINDS)) {
      assertMatch(original, RegExp(`^\\{"kind":"${kind}",`, "m"));
    }
  });

  await t.step(
    "round-trip through another database byte for byte",
    async () => {
      const other = uuidv7();

      assertEquals(await imported(target(other), original), []);
      const there = await exported(target(other));
      assertEquals(await imported(source(other), there), []);

      assertEquals(there, original);
      assertEquals(await exported(source(other)), original);
      assertEquals([...await target().scan(miscounted)], []);
      assertEquals([...await source().scan(miscounted)], []);
    },
  );

  await t.step("write nothing when repeated", async () => {
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

  await t.step("set every field of an existing record", async () => {
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
    const [current] = await database.lookUp(currentProduct(product.id));
    const [built] = await database.lookUp(buildProduct(product.id));
    assertEquals(current!.product, built!.product);
    assertEquals([...await target().scan(miscounted)], []);
  });

  await t.step("change the series and collections of a product", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const at = lines.findIndex((line) => /"series_id":"/.test(line));
    const product = JSON.parse(lines[at]!) as Record<string, unknown>;
    product.series_id = null;
    product.product_collections = [];

    assertEquals(await imported(database, JSON.stringify(product)), []);
    assertEquals(await imported(database, lines[at]!), []);

    assertEquals(await exported(database), original);
  });

  await t.step(
    "refuse an invalid line with its reason, and continue",
    async () => {
      const database = target(uuidv7());
      const unknown = uuidv7();
      // PostgreSQL rejects this one itself, and PGlite does not return.
      const deep = "[".repeat(200_000) + "]".repeat(200_000);
      const incompressible = Array.from({ length: 500 }, uuidv7).join();
      const wrong = {
        '{"kind":': "The line is not JSON",
        '["kind"]': "The line is not a JSON object",
        '{"id":1}': "kind must be a string",
        '{"kind":"shelf"}': 'There is no kind "shelf"',
        '{"kind":"season","name":"Spring"}': "id must be a UUID",
        [`{"kind":"season","id":"${unknown}","name":null}`]:
          /violates not-null constraint/,
        [`{"kind":"season","id":"${unknown}","nmae":"Spring"}`]:
          'There is no field "nmae"',
        [`{"kind":"season","id":"${unknown}","name":"\\u0000"}`]: /Unicode/,
        [`{"kind":"format","id":"${unknown}","name":"A","product_form_id":"${unknown}"}`]:
          /formats_product_form.*not present in table "product_forms"/,
        [changed((product) => product.publisher_id = unknown)]:
          /products_publisher.*not present in table "publishers"/,
        [changed((product) => product.publishing_status_id = unknown)]:
          /not present in table "publishing_statuses"/,
        [changed((product) => product.title = "")]: /products_title_length/,
        [changed((product) => product.page_count = "many")]: /type integer/,
        // The message of PostgreSQL quotes the value.
        [
          changed((product) =>
            product.page_count = 'constraint "licenses_organization"'
          )
        ]: /type integer/,
        [changed((product) => product.page_count = 'constraint "rows_found"')]:
          /type integer/,
        [changed((product) => product.product_prices = {})]:
          '"product_prices" must be an array',
        [changed((product) => product.product_prices = [1])]:
          '"product_prices/0" must be an object',
        [changed((product) => product.product_prices = [{ price: 1 }])]:
          'There is no field "product_prices/0/price"',
        [
          changed((product) =>
            product.product_prices = [{ retail_price: 1.23456 }]
          )
        ]: '"product_prices/0/retail_price" must be a number with at most 4 digits after the point',
        [
          changed((product) =>
            product.product_prices = [{ retail_price: 5e11 }]
          ).replace("500000000000", "999999999999.12345")
        ]: '"product_prices/0/retail_price" must be a number with at most 4 digits after the point',
        [lines[0]!.replace(/"records":\d+/, '"records":"abc"')]:
          "records must be a whole number",
        [changed((product) => product.publication_date = "infinity")]:
          '"publication_date" must be a day such as 2027-01-31',
        [changed((product) => product.updated_at = "-infinity")]:
          '"updated_at" must be a time such as 2027-01-31T12:00:00Z',
        [changed((product) => product.id = unknown)]: /products_code/,
        [changed((product) => product.product_code = incompressible)]:
          /index row/,
        [`{"kind":"season","id":"${unknown}","name":${deep}}`]:
          '"name" has more than 32 levels',
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
    },
  );

  await t.step("refuse a line that is not UTF-8", async () => {
    const [report] = await imported(
      target(DEMO_ORGANIZATION),
      Uint8Array.of(0x22, 0xff, 0x22),
    );

    assertEquals(report, "1: The line is not UTF-8");
  });

  await t.step("accept a line of an earlier release", async () => {
    const database = target(uuidv7());
    await imported(database, original);
    const line = changed((product) => delete product.updated_at);

    assertEquals(await imported(database, line), []);
  });

  await t.step("fail if the organization does not exist", async () => {
    for (
      const work of [
        exported,
        (to: Queries) => imported(to, lines[1]!),
      ]
    ) {
      const error = await work(target(uuidv7())).catch((error) => error);

      assertMatch(error.message, /no organization|licenses_organization/);
    }
  });

  await t.step("report a file truncated between two lines", async () => {
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

  await t.step("report a truncated file whose header is refused", async () => {
    const records = lines.length - 1;
    const database = target(uuidv7());
    await imported(database, original);
    const header = JSON.parse(lines[0]!);
    header.organization.name = " ";
    const text = [JSON.stringify(header), ...lines.slice(1, -2)].join("\n");

    const refused = await imported(database, `${text}\n`);

    assertEquals(refused.length, 2);
    assertMatch(refused[0]!, /^1: .*organizations_name_not_blank/);
    assertMatch(refused[1]!, new RegExp(`after ${records - 2} of ${records}`));
  });

  await t.step("fail for a file of a later version", async () => {
    const error = await imported(
      target(uuidv7()),
      '{"kind":"catalogue","version":2}',
    ).catch((error) => error);

    assertMatch(error.message, /reads version 1 of the format/);
  });

  await t.step("include a column that a later migration adds", async () => {
    await execute(
      source(),
      "alter table seasons add column starts_on date not null default '2026-03-01'",
    );

    const text = await exported(source(DEMO_ORGANIZATION));

    assertMatch(text, /^\{"kind":"season",.*"starts_on":"2026-03-01"\}$/m);
    assertEquals(await imported(source(uuidv7()), original), []);
  });

  await t.step({
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

  await t.step({
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
          return true;
        },
      });

      assertEquals(text, original);
    },
  });
});
