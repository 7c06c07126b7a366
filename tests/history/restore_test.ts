import { assertEquals } from "@std/assert";
import { TIMED } from "../support/app/deadline.ts";
import { type Organization, testsOf } from "../support/app/harness.ts";
import { onixClient } from "../support/client/onix.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openDemo } from "../support/examples/record.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const still = ({ updated_at: _, ...others }: Any) => others;

Deno.test(
  "The demo catalogue and a whole ONIX record come back after everything was changed and deleted",
  TIMED,
  async () => {
    await using app = await openDemo();
    const ask = (method: string, path: string, body?: object) =>
      app.send(`/api${path}`, {
        method,
        headers: { ...app.callers.key, "content-type": "application/json" },
        ...body && { body: JSON.stringify(body) },
      });
    const key = new Headers(app.callers.key).get("x-api-key")!;
    const onix = onixClient(app, { key } as Organization);
    const message = await Deno.readTextFile(
      new URL("../onix/messages/book_3.1_reference.xml", import.meta.url),
    );
    assertEquals((await onix.report(message)).rejected, 0);
    const ids: string[] = [];
    for (let page = 1; ids.length < page * 100; page++) {
      const { body } = await ask("GET", `/products?limit=100&page=${page}`);
      ids.push(...body.data.map(({ id }: Any) => id));
      if (body.data.length < 100) break;
    }
    await app.sql`delete from publishing_program_products`;
    const all = async () => {
      const shown: Record<string, Any> = {};
      for (const id of ids) {
        const { body } = await ask("GET", `/products/${id}`);
        const xml = await onix.xml(`/${id}`);
        shown[id] = [still(body.data), xml.replace(/<SentDateTime>.*?</, "<")];
      }
      const { body: { meta } } = await ask("GET", "/products?limit=1");
      const { body: { data } } = await ask(
        "GET",
        "/products?q=odyssey&limit=100",
      );
      return { shown, meta, found: data.map(({ id }: Any) => id).toSorted() };
    };
    const batch = async (operations: object[]) => {
      for (let i = 0; i < operations.length; i += 50) {
        const { body } = await ask("POST", "/products/batch", {
          operations: operations.slice(i, i + 50),
          return: "minimal",
        });
        for (const result of body.data) {
          assertEquals(
            result.status,
            200,
            JSON.stringify(result),
          );
        }
      }
    };
    const before = await all();
    const versions = new Map<string, string>();
    for (const id of ids) {
      const { body } = await ask("GET", `/products/${id}/history?limit=1`);
      versions.set(id, body.data[0].version);
    }

    await batch(ids.map((id) => ({
      method: "update",
      id,
      body: {
        title: "Changed",
        subtitle: null,
        product_prices: [],
        collateral: [],
        contributors: [],
        subjects: [],
        product_availability_code: "21",
      },
    })));
    for (const id of ids) {
      await ask(
        "PUT",
        `/products/${id}/territories`,
        [] as Any,
      );
    }
    await batch(
      ids.map((id) => ({ method: "restore", id, version: versions.get(id)! })),
    );
    assertEquals(await all(), before);

    await batch(
      ids.map((id) => ({
        method: "update",
        id,
        body: { title: "Changed again" },
      })),
    );
    await batch(ids.map((id) => ({ method: "delete", id })));
    assertEquals((await ask("GET", "/products")).body.meta.total, 0);
    await batch(
      ids.map((id) => ({ method: "restore", id, version: versions.get(id)! })),
    );
    assertEquals(await all(), before);
    const again = await onix.report(message);
    assertEquals(again.unchanged, again.records);
  },
);

const it = testsOf("A product after 200 random writes");

it("is in each version as it was shown", async ({ app, org, sql }) => {
  const full: Any = await fullBody(app, org);
  const { id, path } = await org.create(full);
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const random = (below: number) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const { territories, rights } = {
    territories: (await org.get(`${path}/territories`)).body.data,
    rights: [{
      sales_rights_type: "01",
      territory: { countries_included: ["CH"] },
    }],
  };
  // The form belongs to the format, and is not restored.
  const names = Object.keys(full).filter((name) =>
    name !== "title" && name !== "product_form_id"
  );
  const writes: ((n: number) => PromiseLike<unknown>)[] = [
    (n) => org.put(path, { title: `Title ${n}` }),
    (n) =>
      org.put(path, {
        subtitle: n % 3 ? `Subtitle ${n}` : null,
        page_count: n + 1,
      }),
    (n) =>
      org.put(path, {
        product_prices: [{ currency_code: "EUR", retail_price: n }],
      }),
    () => org.put(path, { product_prices: [] }),
    () => {
      const name = names[random(names.length)]!;
      return org.put(path, { [name]: full[name] });
    },
    () => {
      const name = names[random(names.length)]!;
      return org.put(path, { [name]: Array.isArray(full[name]) ? [] : null });
    },
    () => org.put(`${path}/sales-rights`, random(2) ? rights : []),
    () => org.put(`${path}/territories`, random(2) ? territories : []),
    (n) => org.batch([{ method: "update", id, body: { title: `Batch ${n}` } }]),
    (n) => sql`update products set title = ${`SQL ${n}`} where id = ${id}`,
    (n) =>
      sql`update product_prices set retail_price = ${n} where product_id = ${id}`,
    async () => {
      await org.delete(path);
      await org.post(`${path}/restore`, {});
    },
  ];
  const shown: Any[] = [(await org.get(path)).body.data];
  for (let n = 0; n < 200; n++) {
    await writes[random(writes.length)]!(n);
    // A version that SQL has made is stored behind the response to a read, and here before it.
    await org.get(`${path}/history?limit=1`);
    const { body } = await org.get(path);
    if (body.data.updated_at !== shown.at(-1).updated_at) shown.push(body.data);
  }

  for (const product of shown) {
    const { body } = await org.get(`${path}?at=${product.updated_at}`);
    assertEquals(body.data, product, `seed ${seed}`);
  }
  // A restoration of each is the state of then.
  for (const product of shown.filter((_, i) => i % 10 === 0)) {
    const { status, body } = await org.post(`${path}/restore`, {
      at: product.updated_at,
    });
    assertEquals(status, 200, `seed ${seed}: ${JSON.stringify(body.error)}`);
    assertEquals(still(body.data.product), still(product), `seed ${seed}`);
  }
});
