import { assert, assertEquals } from "@std/assert";
import { Copy } from "../support/client/copy.ts";
import { assertDetails } from "../support/client/expect.ts";
import { type App, openApp, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { assertBuilt, read, store } from "../support/client/stored.ts";

/** The arrays that keep rows without an entry, with an entry each. */
const MERGED = {
  product_prices: { currency_code: "GBP" },
  packing_configurations: { unit_of_measure: "inner" },
};

const TEXT = { collateral_type: "text_content", text: "€".repeat(100_000) };

const it = testsOf("The largest size of a product");

it("is a response of 4 MiB", async ({ org, app, sql }) => {
  const { id, path } = await org.create();
  await sql`
    insert into collateral (organization_id, product_id, id, position, collateral_type, text)
    select ${org.id}, ${id}, gen_random_uuid(), i, 'text_content', repeat('€', 100000)
    from generate_series(0, 9) i
  `;
  let collateral: object[] = (await read(app, org, path)).data.collateral
    .map(({ id }: { id: string }) => ({ id }));
  for (;;) {
    const before = await read(app, org, path);
    const reply = await org.put(path, {
      title: "Changed",
      collateral: [...collateral, TEXT, TEXT],
    });
    if (reply.status !== 200) {
      assertDetails(reply, ["", "too_large"]);
      assertEquals((await read(app, org, path)).text, before.text);
      break;
    }
    collateral = reply.body.data.collateral.map((
      { id, collateral_type }: Record<string, string>,
    ) => ({ id, collateral_type }));
  }
  assertEquals(collateral.length, 12);
  await assertBuilt(app, org);
});

for (const [array, entry] of Object.entries(MERGED)) {
  it(`is 500 entries of ${array}`, async ({ org }) => {
    const { path, product } = await org.create({
      [array]: Array(499).fill(entry),
    });
    const more = { title: "Changed", [array]: [entry, entry] };

    assertDetails(await org.put(path, more), [`/${array}`, "too_large"]);
    assertEquals((await org.get(path)).body.data, product);
    assertEquals(await count(org, path, array, [entry]), 500);
    assertDetails(await org.put(path, { [array]: [entry] }), [
      `/${array}`,
      "too_large",
    ]);
    assertEquals(await count(org, path, array, []), 0);
    assertEquals(await count(org, path, array, [entry]), 1);
  });

  it(`counts all rows of ${array}, even with gaps in their positions`, async ({ org, sql }) => {
    const full = await org.create();
    const { id, path } = await org.create({ [array]: [entry] });
    await sql`
                insert into ${sql(array)} (
                  organization_id, product_id, id, position, ${sql(Object.keys(entry)[0]!)}
                )
                select ${org.id}, ${full.id}, gen_random_uuid(), 0, ${Object.values(entry)[0]}
                from generate_series(1, 500)
    `;
    await sql`update ${sql(array)} set position = 499 where product_id = ${id}`;

    assertDetails(await org.put(full.path, { [array]: [entry] }), [
      `/${array}`,
      "too_large",
    ]);
    assertEquals(await count(org, path, array, [entry, entry]), 3);
  });
}

it("is a page of 16 MiB, and as much of a batch", async ({ org, sql }) => {
  const products = await Promise.all(
    Array.from({ length: 5 }, () => org.create()),
  );
  await sql`
    insert into collateral (organization_id, product_id, id, position, collateral_type, text)
    select ${org.id}, p.id, gen_random_uuid(), i, 'text_content', repeat('x', 100000)
    from products p
    cross join generate_series(0, 33) i
    where p.organization_id = ${org.id}
  `;
  const list = (query: string) => org.get(`/api/products?${query}`);
  const update = (count: number, options: object) =>
    org.batch(
      products.slice(0, count).map(({ id }) => ({
        method: "update",
        id,
        body: { title: "Changed" },
      })),
      options,
    );

  const tooMany = await list("include=collateral");
  const page = await list("include=collateral&limit=4");
  const tooLong = await update(5, {});
  const titles = (await list("limit=100")).body.data.map((
    { title }: { title: string },
  ) => title);
  const batch = await update(4, {});
  const keyed = await org.post(
    "/api/products/batch",
    {
      operations: [{
        method: "update",
        id: products[0]!.id,
        body: { title: "Kept" },
      }],
    },
    { "idempotency-key": "order-1" },
  );
  const minimal = await update(5, { return: "minimal" });
  const known = await update(5, { return: "minimal" });

  assertEquals(tooMany.status, 400);
  const [{ parameter, code }] = tooMany.body.error.details;
  assertEquals([parameter, code], ["limit", "too_large"]);
  assertEquals([page.status, page.body.data.length], [200, 4]);
  assertDetails(tooLong, ["/return", "too_large"]);
  assertEquals(titles.includes("Changed"), false);
  assertDetails(keyed, ["/return", "too_large"]);
  assertEquals([batch.status, minimal.status], [200, 200]);
  // The last one has stored the JSON of all, whose sizes are known now.
  assertDetails(known, ["/operations", "too_large"]);
});

it("limits the documents that a transaction stores", async ({ org, app, sql }) => {
  if (app.isDistributed) return;
  const collateral = [TEXT, TEXT, TEXT];
  const products = await Promise.all(
    Array.from({ length: 5 }, () => org.create({ collateral })),
  );
  const ids = products.map(({ id }) => id).toSorted();
  await sql`delete from product_documents where organization_id = ${org.id}`;

  await store(app, org, ...ids);
  assertEquals(await documents(app, org), 4);

  await store(app, org, ...ids.slice(4));
  assertEquals(await documents(app, org), 5);
});

it("is named by the error for what SQL made larger", async ({ org, sql }) => {
  const { id, path } = await org.create({ collateral: [TEXT] });
  await sql`
    insert into collateral (organization_id, product_id, id, position, collateral_type, text)
    select ${org.id}, ${id}, gen_random_uuid(), i, 'text_content', repeat('x', 100000)
    from generate_series(1, 49) i
  `;
  for (
    const reply of [
      await org.get(path),
      await org.get(`${path}/territories`),
      await org.put(path, {}),
    ]
  ) {
    assertEquals(reply.status, 409);
    assert(reply.body.error.message.includes(id));
  }
  assertEquals((await org.get("/api/products")).body.meta.total, 1);
  assertDetails(await org.put(path, { title: "Changed" }), ["", "too_large"]);
  const { status } = await org.put(path, { collateral: [] });
  assertEquals(status, 200);
});

Deno.test("The largest page of changes", async ({ step: it }) => {
  await using app = await openApp();

  /** Creates a product with this many texts of 100,000 characters. */
  async function createLarge(
    org: Organization,
    texts: number,
  ): Promise<string> {
    const { id } = await org.create();
    await app.sql`
      insert into collateral (organization_id, product_id, id, position, collateral_type, text)
      select ${org.id}, ${id}, gen_random_uuid(), i, 'text_content', repeat('x', 100000)
      from generate_series(1, ${texts}::int) i
    `;
    return id;
  }

  /** The ids on each page. */
  async function pagesOf(org: Organization): Promise<string[][]> {
    const pages: string[][] = [];
    const copy = new Copy(org, app);
    await new Copy(org, app).catchUp();
    for (let isOver = false; !isOver;) {
      const { changes, more } = await copy.read("include=collateral");
      pages.push(changes.map(({ id }) => id));
      assert(pages.length < 10, "The client does not reach the end");
      isOver = !more;
    }
    return pages;
  }

  await it("ends before the product that exceeds 4 MiB", async () => {
    const org = await app.organization();
    const ids = [];
    for (const texts of [30, 9, 9]) ids.push(await createLarge(org, texts));

    assertEquals(await pagesOf(org), [ids.slice(0, 2), ids.slice(2)]);
  });

  await it("contains at least one product", async () => {
    const org = await app.organization();
    const ids = [await createLarge(org, 90), await createLarge(org, 1)];

    assertEquals(await pagesOf(org), [ids.slice(0, 1), ids.slice(1)]);
  });

  await it("is 16 MiB, and a larger product is named", async () => {
    const org = await app.organization();
    const id = await createLarge(org, 170);
    // Other transactions of the server hold the feed back.
    await new Copy(org, app).catchUp();

    const { status, body } = await org.get(
      "/api/products/changes?include=collateral",
    );

    assertEquals(status, 409);
    assert(body.error.message.includes(id));
  });
});

/** Writes the array, and returns the product's number of entries. */
async function count(
  org: Organization,
  path: string,
  array: string,
  entries: object[],
): Promise<number> {
  const { status, body } = await org.put(path, { [array]: entries });
  assertEquals(status, 200, JSON.stringify(body.error));
  return body.data[array].length;
}

async function documents(app: App, org: Organization): Promise<number> {
  const { count } = await app.sql`
    select
    from product_documents d
    join products p using (organization_id, change_version)
    where p.organization_id = ${org.id} and p.id = d.product_id
  `;
  return count;
}
