import { assert, assertEquals } from "@std/assert";
import type { Field } from "../../schema/fields.ts";
import { ARRAYS } from "../../schema/product.ts";
import { send, testsOf } from "../support/app/harness.ts";
import { fullBody } from "../support/data/bodies.ts";
import { idsOf, load } from "../support/sql/loading.ts";
import { withOperations } from "../support/app/operations.ts";

/** The number of products inserted while the list is read, and the page size. */
const [PRODUCTS, LIMIT] = [30, 7];

/** The arrays of a product that a list embeds as the product has them. Summaries show the collections. */
const EMBEDDED = Object.entries<Field>(ARRAYS).flatMap(([name, field]) =>
  field.kind === "rows" && field.path || name === "product_collections" ? [] : [name]
);

/** The sort keys of a list. */
interface Item {
  id: string;
  created_at: string;
}

const it = testsOf("GET /products");

it("returns each product once, newest first (specification, 4.2)", async ({ org, app }) => {
  const { rows: created } = await load(app, org, 23);
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
      assertEquals(body.meta, { page, limit, total: 23, total_pages: pages });
    }

    assertEquals(seen, newestFirst);
  }
});

it("returns an empty page past the end, and of an empty catalogue", async ({ org, app }) => {
  const empty = await org.get("/api/products");
  assertEquals([empty.status, empty.body.data], [200, []]);
  assertEquals(empty.body.meta, {
    page: 1,
    limit: 50,
    total: 0,
    total_pages: 0,
  });
  await load(app, org, 3);
  for (const page of [2, 3, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    const { status, body } = await org.get(
      `/api/products?limit=3&page=${page}`,
    );

    assertEquals(status, 200);
    assertEquals(body.data, []);
    assertEquals(body.meta, { page, limit: 3, total: 3, total_pages: 1 });
  }
});

it("limits a page to 100 products, and reports it in meta", async ({ org, app }) => {
  await load(app, org, 101);
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

it("refuses an invalid page and limit", async ({ org }) => {
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

it("orders equal values by id, across pages", async ({ org }) => {
  const created: string[] = [];
  for (let i = 0; i < 5; i++) created.push((await org.create()).id);
  created.sort();
  for (const key of ["title", "publication_date"]) {
    for (const sort of [key, `-${key}`]) {
      const seen: string[] = [];
      for (const page of [1, 2, 3, 4, 5]) {
        const { body } = await org.get(
          `/api/products?sort=${sort}&limit=1&page=${page}`,
        );
        seen.push(...idsOf(body.data));
      }
      assertEquals(seen, sort === key ? created : created.toReversed(), sort);
    }
  }
});

it("finds a product again by its own updated_at", async ({ org }) => {
  await org.create();
  const { id, path } = await org.create();
  const { body: { data } } = await org.put(path, { subtitle: "x" });

  const { body } = await org.get(
    `/api/products?updated_since=${data.updated_at}&sort=updated_at`,
  );

  assertEquals([idsOf(body.data), body.meta.total], [[id], 1]);
});

it("links the neighbours of a page, with the same query (RFC 8288)", async ({ org }) => {
  for (const title of ["A", "B", "C", "D", "E"]) await org.create({ title });
  const linksOf = async (query: string) => {
    const { status, headers } = await org.get(`/api/products?${query}`);
    assertEquals(status, 200);
    return headers.get("link");
  };
  const pages = {
    1: { first: 1, next: 2, last: 3 },
    2: { first: 1, prev: 1, next: 3, last: 3 },
    3: { first: 1, prev: 2, last: 3 },
    9: { first: 1, prev: 3, last: 3 },
  };
  for (const [page, links] of Object.entries(pages)) {
    const expected = Object.entries(links).map(([relation, page]) =>
      `</api/products?sort=title&limit=2&page=${page}>; rel="${relation}"`
    );
    assertEquals(
      await linksOf(`sort=title&limit=2&page=${page}`),
      expected.join(", "),
    );
  }
  const query = "search=%22%3E%2C+%C3%A9%26&page=1";
  assertEquals(
    await linksOf(`search=${encodeURIComponent('">, é&')}`),
    `</api/products?${query}>; rel="first", </api/products?${query}>; rel="last"`,
  );
  const tooLong = `format_id=${Array(100).fill(org.format)}`;
  assertEquals(await linksOf(tooLong), null);
});

it("embeds the same arrays as the full product", async ({ org, app }) => {
  const { product } = await org.create(await fullBody(app, org));
  await org.create({ title: "Bare" });
  for (const include of [...EMBEDDED.map((name) => [name]), EMBEDDED]) {
    const { body: { data: [bare, full] } } = await org.get(
      `/api/products?include=${include}`,
    );

    for (const name of EMBEDDED) {
      const isAsked = include.includes(name);
      assertEquals(full[name], isAsked ? product[name] : undefined);
      assertEquals(bare[name], isAsked ? [] : undefined);
    }
  }
});

it("refuses unknown names in include", async ({ org }) => {
  const embeds = [
    "product_collections",
    "toString",
    "sales_rights,",
    ",",
    "*",
    "%00",
  ]
    .concat("sales_rights;product_territories", ",".repeat(1000))
    .concat("Product_Territories", "x".repeat(9000));
  for (const include of embeds) {
    const { status, text, body } = await org.get(
      `/api/products?include=${include}`,
    );

    assertEquals(status, 400, include);
    const [{ parameter, message }] = body.error.details;
    assertEquals(parameter, "include");
    // The message names what can be embedded, and does not repeat what was sent.
    for (const name of EMBEDDED) assert(message.includes(name), name);
    assert(text.length < message.length + 400);
  }
});

it("returns scalars and display fields without include", async ({ org }) => {
  const { product } = await org.create({
    license_id: org.license,
    season_id: org.season,
    publisher_id: org.publisher,
    product_collections: [{ collection_id: org.series }],
    series_id: org.series,
    product_prices: [{ currency_code: "GBP" }],
  });

  const { body: { data: [item] } } = await org.get("/api/products");

  for (const array of Object.keys(ARRAYS)) delete product[array];
  assertEquals(item, product);
  assertEquals(item.season_name, "Spring");
  assertEquals(item.collections.length, 1);
});

it("returns full pages and misses no product during inserts", async ({ org }) => {
  const first = await org.create();
  let growing = true;
  const creating = Promise.all(
    Array.from({ length: PRODUCTS }, () => org.create()),
  ).finally(() => growing = false);

  let walks = 0;
  let known = 1;
  while (growing || walks === 0) {
    const seen = new Set<string>();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { status, body } = await org.get(
        `/api/products?limit=${LIMIT}&page=${page}`,
      );

      assertEquals(status, 200);
      const items: Item[] = body.data;
      assertEquals(items, items.toSorted(newestFirst));
      assertEquals(new Set(items.map(({ id }) => id)).size, items.length);
      assert(body.meta.total >= known);
      assertEquals(
        items.length,
        Math.min(LIMIT, body.meta.total - LIMIT * (page - 1)),
      );
      known = body.meta.total;
      pages = body.meta.total_pages;
      for (const { id } of items) seen.add(id);
    }
    // Products inserted meanwhile come first, and move this one to a later page.
    assert(seen.has(first.id));
    walks++;
  }
  await creating;

  const { body } = await org.get("/api/products?limit=100");
  assertEquals(body.meta.total, PRODUCTS + 1);
  assertEquals(body.data.length, PRODUCTS + 1);
});

it("returns only products that match, although they change meanwhile", async ({ org, app }) => {
  const changed = await org.create({ publisher_id: org.publisher });
  const other = await org.create({ publisher_id: org.publisher });
  // A new name invalidates the stored JSON, so the list reads twice.
  await org.put(`/api/publishers/${org.publisher}`, { name: "Renamed" });
  let scans = 0;
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    async scan(statement) {
      if (++scans === 2) {
        await org.put(changed.path, { publisher_id: null });
      }
      return await operations.scan(statement);
    },
  }));

  const { body } = await send(
    app.variant({ database }),
    `/api/products?publisher_id=${org.publisher}`,
    { headers: { "x-api-key": org.key } },
  );

  assertEquals(scans, 2);
  assertEquals(idsOf(body.data), [other.id]);
  assertEquals(body.meta.total, 1);
});

function newestFirst(one: Item, other: Item): number {
  return one.created_at === other.created_at ? 0 : one.created_at < other.created_at ? 1 : -1;
}
