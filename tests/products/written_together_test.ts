import { assert, assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { fullBody } from "../support/bodies.ts";
import type { Reply } from "../support/envelope.ts";
import { assertFaults, assertHas } from "../support/expect.ts";
import { valuesOf } from "../support/filters.ts";
import { idOfCode, openApp, SETTINGS } from "../support/harness.ts";
import { assertTotals } from "../support/totals.ts";

const PRODUCTS = "/api/products";

/** More than are written in one transaction. */
const MANY = 20;

Deno.test("Writes at once", async (t) => {
  // One connection for all writes, so that they wait for it together.
  await using app = await openApp({}, { poolSize: 2 });

  await t.step("create each its own product", async () => {
    const [ours, theirs] = [await app.organization(), await app.organization()];
    const full = [await fullBody(app, ours), await fullBody(app, theirs)];
    const body = (i: number) =>
      i % 3 ? { ...full[i % 2]!, title: `Emma ${i}` } : { title: `Emma ${i}` };

    const replies = await Promise.all(
      numbers(MANY).map((i) => (i % 2 ? theirs : ours).post(PRODUCTS, body(i))),
    );

    for (const [i, { status, headers, body: { data } }] of replies.entries()) {
      const org = i % 2 ? theirs : ours;
      assertEquals(status, 201);
      assertEquals(data.organization_id, org.id);
      assertHas(data, body(i));
      assertEquals(headers.get("location"), `${PRODUCTS}/${data.id}`);
      assertEquals((await org.get(`${PRODUCTS}/${data.id}`)).body.data, data);
    }
    await assertTogether(replies);
    for (const org of [ours, theirs]) {
      const { body } = await org.get(PRODUCTS);
      assertEquals(body.meta.total, MANY / 2);
    }
  });

  await t.step("are refused for nobody's fault but their own", async () => {
    const org = await app.organization();
    const values = await valuesOf(app, org);
    const unknown = uuidv7();
    const bodies = numbers(MANY).map((i) => ({
      title: `Emma ${i}`,
      lifecycle_status_id: values.lifecycle_status_id[i % 2],
      ...i % 5 === 2 && { license_id: unknown },
      ...i % 5 === 4 && { product_collections: [{ collection_id: unknown }] },
    }));

    const replies = await Promise.all(
      bodies.map((body) => org.post(PRODUCTS, body)),
    );

    for (const [i, reply] of replies.entries()) {
      if (i % 5 === 2) {
        assertFaults(reply, ["/license_id", "unknown_reference"]);
      } else if (i % 5 === 4) {
        assertFaults(reply, [
          "/product_collections/0/collection_id",
          "unknown_reference",
        ]);
      } else {
        assertEquals(reply.status, 201);
        assertEquals(reply.body.data.title, bodies[i]!.title);
      }
    }
    await assertTotals(app, org, values);
  });

  await t.step("change each its own product", async () => {
    const org = await app.organization();
    const values = await valuesOf(app, org);
    const products = await Promise.all(
      numbers(MANY).map(() =>
        org.create({
          format_id: org.format,
          product_prices: [{ currency_code: "GBP" }],
        })
      ),
    );
    const body = (i: number) => ({
      title: `Emma ${i}`,
      product_prices: [{
        id: products[i]!.product.product_prices[0].id,
        list_price: i,
      }],
      ...i % 2 &&
        { lifecycle_status_id: values.lifecycle_status_id[(i >> 1) % 2] },
      ...i % 4 === 3 && { format_id: null },
    });

    const replies = await Promise.all(
      products.map(({ path }, i) => org.put(path, body(i))),
    );

    for (const [i, { status, body: { data } }] of replies.entries()) {
      assertEquals([status, data.id], [200, products[i]!.id]);
      assertHas(data, body(i));
      assertEquals((await org.get(products[i]!.path)).body.data, data);
    }
    await assertTogether(replies);
    await assertTotals(app, org, values);
  });

  await t.step("of one product get each what they have written", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    const spelled = [path, `${PRODUCTS}/${id.toUpperCase()}`];

    const replies = await Promise.all(
      numbers(MANY).map((i) =>
        org.put(spelled[i % 2]!, {
          title: `Emma ${i}`,
          product_prices: [{ currency_code: "GBP" }],
        })
      ),
    );

    for (const [i, { status, body }] of replies.entries()) {
      assertEquals([status, body.data.title], [200, `Emma ${i}`]);
    }
    const counts = replies.map(({ body }) => body.data.product_prices.length);
    assertEquals(counts.sort((a, b) => a - b), numbers(MANY).map((i) => i + 1));
  });

  await t.step("are made or not, each for its own reason", async () => {
    const org = await app.organization();
    const products = await Promise.all(numbers(8).map(() => org.create()));
    const tags = await Promise.all(
      products.map(async ({ path }) =>
        (await org.get(path)).headers.get("etag")!
      ),
    );
    const put = (i: number, body: object, tag?: string) =>
      org.put(
        products[i]!.path,
        { title: `Emma ${i}`, ...body },
        tag === undefined ? {} : { "if-match": tag },
      );

    const replies = await Promise.all([
      put(0, {}),
      put(1, {}, tags[1]),
      put(2, {}, tags[1]),
      put(3, { product_prices: [{ id: uuidv7(), list_price: 1 }] }),
      put(4, { series_id: org.series }),
      org.put(`${PRODUCTS}/${uuidv7()}`, { title: "Emma" }),
      org.put(`${PRODUCTS}/${uuidv7()}`, { title: "Emma" }, {
        "if-match": "*",
      }),
      put(5, {}),
    ]);

    assertEquals(replies.map(({ status }) => status), [
      ...[200, 200, 412, 400, 400, 404, 404, 200],
    ]);
    const titles = await Promise.all(
      products.map(async ({ path }) => (await org.get(path)).body.data.title),
    );
    assertEquals(
      titles,
      numbers(8).map((i) => [0, 1, 5].includes(i) ? `Emma ${i}` : "Emma"),
    );
  });

  await t.step("change each what its own organization has", async () => {
    const orgs = [await app.organization(), await app.organization()];
    const products = await Promise.all(
      numbers(8).map((i) => orgs[i % 2]!.create()),
    );

    const replies = await Promise.all(
      products.map(({ path }, i) => orgs[i % 2]!.put(path, { title: `${i}` })),
    );

    assertEquals(
      replies.map(({ status, body }) => [status, body.data?.title]),
      numbers(8).map((i) => [200, `${i}`]),
    );
  });

  await t.step("are held each against its own If-Match", async () => {
    const org = await app.organization();
    const [one, two] = [await org.create(), await org.create()];
    const stale = { "if-match": '"stale"' };

    const replies = await Promise.all([
      org.put(one.path, { title: "Persuasion" }),
      org.put(two.path, { title: "Persuasion" }, stale),
    ]);

    assertEquals(replies.map(({ status }) => status), [200, 412]);
    assertEquals((await org.get(two.path)).body.data, two.product);
  });

  await t.step("set the form beside products that are not there", async () => {
    const org = await app.organization();
    const body = {
      format_id: org.format,
      product_form_id: await idOfCode(app, "product_forms", "BB"),
    };
    const { path } = await org.create();
    const missing = () => `${PRODUCTS}/${uuidv7()}`;

    const replies = await Promise.all(
      [missing(), path, missing()].map((path) => org.put(path, body)),
    );

    assertEquals(replies.map(({ status }) => status), [404, 200, 404]);
    assertHas(replies[1]!.body.data, body);
  });

  await t.step("set the form of one format in a transaction", async () => {
    const org = await app.organization();
    const { format_id: formats } = await valuesOf(app, org);
    const forms = [
      await idOfCode(app, "product_forms", "BB"),
      await idOfCode(app, "product_forms", "BC"),
    ];
    const bodies = numbers(MANY).map((i) => ({
      title: "Emma",
      format_id: formats[i % 2]!,
      product_form_id: forms[(i >> 1) % 2]!,
    }));

    const created = await Promise.all(
      bodies.map((body) => org.post(PRODUCTS, body)),
    );
    const written = await transactionsOf(created);
    const paths = created.map(({ body }) => `${PRODUCTS}/${body.data.id}`);
    const updated = await Promise.all(
      bodies.map((body, i) => org.put(paths[i]!, body)),
    );
    const rewritten = await transactionsOf(updated);
    const blind = await Promise.all(
      bodies.map(({ product_form_id }, i) =>
        org.put(paths[i]!, { product_form_id })
      ),
    );
    const apart = await transactionsOf(blind);

    for (const replies of [created, updated, blind]) {
      assertEquals(
        replies.map(({ body }) => body.data.product_form_id),
        bodies.map(({ product_form_id }) => product_form_id),
      );
    }
    for (const transactions of [written, rewritten]) {
      const kinds = new Set(
        transactions.map((transaction, i) => `${transaction} ${i % 4}`),
      );
      assertEquals(kinds.size, new Set(transactions).size);
      assert(kinds.size < MANY);
    }
    assertEquals(new Set(apart).size, MANY);
  });

  /** The transaction that has written each of the products. */
  async function transactionsOf(replies: Reply[]): Promise<string[]> {
    const ids = replies.map(({ body }) => body.data.id);
    const rows = await app.sql((sql) =>
      sql<{ id: string; transaction: string }[]>`
        select id, xmin::text as transaction
        from products
        where id = any(string_to_array(${ids.join()}, ',')::uuid[])
      `
    );
    const found = new Map(rows.map(({ id, transaction }) => [id, transaction]));
    return ids.map((id) => found.get(id)!);
  }

  async function assertTogether(replies: Reply[]): Promise<void> {
    const transactions = new Set(await transactionsOf(replies)).size;
    assert(transactions < replies.length / 2, `${transactions} transactions`);
  }
});

Deno.test({
  name: "A row that another transaction has keeps nobody else waiting",
  // The embedded database has one session, and a pooler's have no time-outs.
  ignore: !SETTINGS.url || !SETTINGS.prepare,
  async fn() {
    await using app = await openApp({}, { poolSize: 9 });
    const org = await app.organization();
    const products = await Promise.all(numbers(8).map(() => org.create()));
    const [locked, ...others] = products.map(({ path }) => path);
    const put = (path: string) => org.put(path, { title: "Persuasion" });
    const operations = app.database.until(performance.now() + 20_000);

    const waiting = await operations.transaction(async (sql) => {
      await sql`
        select from products
        where organization_id = ${org.id} and id = ${products[0]!.id}
        for update
      `;
      const waiting = put(locked!);
      // It would be given up after two seconds.
      const replies = await Promise.race([
        Promise.all(others.map(put)),
        pause(1_500),
      ]);
      assertEquals(replies?.map(({ status }) => status), Array(7).fill(200));
      return () => waiting;
    });

    assertEquals((await waiting()).status, 200);
  },
});

function numbers(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
