import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../db/uuid.ts";
import { FILTERS } from "../schema/list.ts";
import { valuesOf } from "./filters.ts";
import { openApp, type Organization } from "./harness.ts";

Deno.test("GET /products", async (t) => {
  await using app = await openApp();
  const none = uuidv7();

  await t.step("gives an empty page of an empty catalogue", async () => {
    const org = await app.organization();

    const { status, body } = await org.get("/api/products");

    assertEquals(status, 200);
    assertEquals(body.data, []);
    assertEquals(body.meta, { page: 1, limit: 50, total: 0, total_pages: 0 });
  });

  await t.step("gives each product once, the newest first", async () => {
    const org = await app.organization();
    const { rows: created } = await load(org, 23);
    const newestFirst = created.toSorted((a, b) =>
      b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id)
    ).map(({ id }) => id);
    for (const limit of [1, 7, 23, 24]) {
      const pages = Math.ceil(23 / limit);

      const seen: string[] = [];
      for (let page = 1; page <= pages; page++) {
        const { body } = await org.get(
          `/api/products?limit=${limit}&page=${page}`,
        );
        seen.push(...idsOf(body.data));
        assertEquals(body.meta, {
          page,
          limit,
          total: 23,
          total_pages: pages,
        });
      }

      assertEquals(seen, newestFirst);
    }
  });

  await t.step("gives an empty page past the end, however far", async () => {
    const org = await app.organization();
    await load(org, 3);
    for (const page of [2, 3, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await org.get(
        `/api/products?limit=3&page=${page}`,
      );

      assertEquals(status, 200);
      assertEquals(body.data, []);
      assertEquals(body.meta, { page, limit: 3, total: 3, total_pages: 1 });
    }
  });

  await t.step("gives at most 100 at once, and says so", async () => {
    const org = await app.organization();
    await load(org, 101);
    for (const limit of ["100", "101", "5000", `1${"0".repeat(400)}`]) {
      const { status, body } = await org.get(`/api/products?limit=${limit}`);

      assertEquals(status, 200);
      assertEquals(body.data.length, 100);
      assertEquals(body.meta, {
        page: 1,
        limit: 100,
        total: 101,
        total_pages: 2,
      });
    }
    const standard = await org.get("/api/products");
    assertEquals(standard.body.data.length, 50);
  });

  await t.step("refuses what is no page and no limit", async () => {
    const org = await app.organization();
    const numbers = ["0", "-1", "1.5", "1e3", "0x10", "NaN", "", " 1", "+1"]
      .concat("01", "١", "1_000", "null", "1,2", "Infinity", "１", "1%00");
    for (const parameter of ["page", "limit"]) {
      for (const number of numbers) {
        const { status, body } = await org.get(
          `/api/products?${parameter}=${number}`,
        );

        assertEquals(status, 400, `${parameter}=${number}`);
        assertEquals(body.error.details, [{
          parameter,
          code: "invalid_number",
          message: "Expected a whole number from 1",
        }]);
      }
    }
    const { status } = await org.get(`/api/products?page=${10n ** 18n}`);
    assertEquals(status, 400);
  });

  await t.step(
    "filters by each column and by all of them at once",
    async () => {
      const org = await app.organization();
      const values = await valuesOf(app, org);
      const { rows } = await load(org, 32, (i) => ({
        publishing_status_id: pick(values.publishing_status_id, i),
        lifecycle_status_id: pick(values.lifecycle_status_id, i >> 1),
        product_availability_id: pick(values.product_availability_id, i >> 2),
        format_id: pick(values.format_id, i >> 3),
      }));
      for (let chosen = 0; chosen < 16; chosen++) {
        const columns = FILTERS.filter((_, i) => chosen & 1 << i);
        const query = new URLSearchParams({ limit: "100" });
        for (const column of columns) query.set(column, values[column][0]!);

        const { status, body } = await org.get(`/api/products?${query}`);

        const expected = rows.filter((row) =>
          columns.every((column) => row[column] === values[column][0])
        );
        assertEquals(status, 200);
        assertEquals(
          idsOf(body.data).sort(),
          idsOf(expected).sort(),
        );
        assertEquals(body.meta.total, expected.length);
        assert(expected.length > 0);
      }
    },
  );

  await t.step("finds nothing by an unknown or a foreign id", async () => {
    const [org, other] = [await app.organization(), await app.organization()];
    await load(org, 2, () => ({ format_id: org.format }));
    await load(other, 2, () => ({ format_id: other.format }));
    for (const id of [none, other.format]) {
      for (const column of FILTERS) {
        const { status, body } = await org.get(
          `/api/products?${column}=${id}`,
        );

        assertEquals(status, 200);
        assertEquals(body.data, []);
        assertEquals(body.meta.total, 0);
      }
    }
  });

  await t.step("reads the id of a filter in either case", async () => {
    const org = await app.organization();
    await load(org, 1, () => ({ format_id: org.format }));

    const { body } = await org.get(
      `/api/products?format_id=${org.format.toUpperCase()}`,
    );

    assertEquals(body.meta.total, 1);
  });

  await t.step("refuses a filter that is no id", async () => {
    const org = await app.organization();
    const ids = ["", "null", "1", "04", none.replaceAll("-", ""), `{${none}}`]
      .concat(`urn:uuid:${none}`, `${none}0`)
      .concat("' or ''='", "%00", none.replaceAll("0", "٠"));
    for (const column of FILTERS) {
      for (const id of ids) {
        const { status, body } = await org.get(
          `/api/products?${column}=${id}`,
        );

        assertEquals(status, 400, id);
        assertEquals(body.error.details[0].parameter, column);
        assertEquals(body.error.details[0].code, "invalid_uuid");
      }
    }
  });

  await t.step(
    "refuses unknown and repeated parameters, all at once",
    async () => {
      const org = await app.organization();
      const many = Array.from({ length: 10_000 }, (_, i) => `p${i}=1`).join(
        "&",
      );

      const { body: { error } } = await org.get(
        `/api/products?page=1&page=2&Limit=1&page[]=1&format_id=x&q&__proto__=1&=`,
      );
      const flooded = await org.get(`/api/products?${many}`);

      assertEquals(error.code, "VALIDATION_ERROR");
      assertEquals(
        error.details.map(({ parameter, code }: Record<string, string>) => [
          parameter,
          code,
        ]),
        [
          ["page", "duplicate"],
          ["Limit", "unknown_parameter"],
          ["page[]", "unknown_parameter"],
          ["q", "unknown_parameter"],
          ["__proto__", "unknown_parameter"],
          ["", "unknown_parameter"],
          ["format_id", "invalid_uuid"],
        ],
      );
      assertEquals(flooded.status, 400);
      assertEquals(flooded.body.error.details.length, 100);
    },
  );

  await t.step("includes what is asked for, and no more", async () => {
    const org = await app.organization();
    const { id } = await org.create();
    await app.sql(async (sql) => {
      await sql`
        insert into product_territories (organization_id, product_id, market_reference)
        values (${org.id}, ${id}, 'world')
      `;
      await sql`
        insert into product_sales_rights (organization_id, product_id, sales_rights_type)
        values (${org.id}, ${id}, '01')
      `;
    });
    const both = ["product_sales_rights", "product_territories"];
    const embeds: [string, string[]][] = [
      ["", []],
      ["product_territories", ["product_territories"]],
      ["sales_rights", ["product_sales_rights"]],
      ["product_sales_rights", ["product_sales_rights"]],
      ["product_territories,sales_rights", both],
      [" sales_rights , product_territories ", both],
      ["sales_rights,sales_rights,product_territories", both],
    ];
    for (const [include, expected] of embeds) {
      const { status, body } = await org.get(
        `/api/products?include=${encodeURIComponent(include)}`,
      );

      assertEquals(status, 200, include);
      const [product] = body.data;
      assertEquals(
        Object.keys(product).filter((key) => both.includes(key)).sort(),
        expected,
      );
      for (const key of expected) assertEquals(product[key].length, 1);
    }
  });

  await t.step("refuses to include what there is not", async () => {
    const org = await app.organization();
    const embeds = ["collateral", "toString", "sales_rights,", ",", "*", "%00"]
      .concat("sales_rights;product_territories", ",".repeat(1000))
      .concat("Product_Territories", "x".repeat(9000));
    for (const include of embeds) {
      const { status, text, body } = await org.get(
        `/api/products?include=${include}`,
      );

      assertEquals(status, 400, include);
      assertEquals(body.error.details[0].parameter, "include");
      assert(text.length < 500);
    }
  });

  await t.step(
    "shows scalars and display fields, and no other array",
    async () => {
      const org = await app.organization();
      const { product } = await org.create({
        license_id: org.license,
        season_id: org.season,
        publisher_id: org.publisher,
        product_collections: [{ collection_id: org.series }],
        series_id: org.series,
        product_prices: [{ currency_code: "GBP" }],
      });

      const { body: { data: [item] } } = await org.get("/api/products");

      const arrays = [
        "product_prices",
        "packing_configurations",
        "contributors",
      ]
        .concat("product_collections", "custom_fields", "collateral")
        .concat("product_territories", "product_sales_rights");
      for (const array of arrays) delete product[array];
      assertEquals(item, product);
      assertEquals(item.season_name, "Spring");
      assertEquals(item.collections.length, 1);
    },
  );

  /** Loads products as another system would, in three moments, so that some share theirs. */
  async function load(
    org: Organization,
    count: number,
    columns: (i: number) => Record<string, string | null> = () => ({}),
  ) {
    const rows = Array.from({ length: count }, (_, i) => ({
      organization_id: org.id,
      id: uuidv7(),
      title: `Book ${i}`,
      created_at: new Date(Date.UTC(2026, 0, 1 + i % 3)).toISOString(),
      ...columns(i),
    }));
    await app.sql((sql) =>
      sql`
        insert into products (
          organization_id, id, title, created_at,
          publishing_status_id, lifecycle_status_id, product_availability_id, format_id
        )
        select
          organization_id, id, title, created_at,
          publishing_status_id, lifecycle_status_id, product_availability_id, format_id
        from jsonb_populate_recordset(null::products, ${sql.json(rows)})
      `
    );
    return { rows: rows as (typeof rows[0] & Record<string, unknown>)[] };
  }
});

/** The first of the values, the second, or none. */
function pick(values: string[], i: number): string | null {
  return values[i % 2] ?? null;
}

function idsOf(products: { id: string }[]): string[] {
  return products.map(({ id }) => id);
}
