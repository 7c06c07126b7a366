import { assert, assertEquals } from "@std/assert";
import { openApp } from "./harness.ts";

/** How many products come while the list is read. */
const PRODUCTS = 30;

const LIMIT = 7;

interface Item {
  id: string;
  created_at: string;
}

Deno.test("GET /products, while products are created", async (t) => {
  await using app = await openApp();
  const org = await app.organization();

  await t.step(
    "gives whole pages in their order, and misses none",
    async () => {
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
        // Whatever came meanwhile came before it, and moved it to a later page.
        assert(seen.has(first.id));
        walks++;
      }
      await creating;

      const { body } = await org.get("/api/products?limit=100");
      assertEquals(body.meta.total, PRODUCTS + 1);
      assertEquals(body.data.length, PRODUCTS + 1);
    },
  );
});

function newestFirst(one: Item, other: Item): number {
  return one.created_at === other.created_at
    ? 0
    : one.created_at < other.created_at
    ? 1
    : -1;
}
