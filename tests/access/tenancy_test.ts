import { assert, assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import type { Reply } from "../support/client/envelope.ts";
import {
  type App,
  openApp,
  type Organization,
} from "../support/app/harness.ts";

const CONDITIONS: Record<string, string>[] = [{}, { "if-match": "*" }];

Deno.test("Another organization", async ({ step: it }) => {
  await using app = await openApp();

  // `tests/input/fields_test.ts` sends foreign and unknown ids to every field.
  await it("has records and rows that look nonexistent", async () => {
    const { org, other, mine, theirs } = await scene(app);
    const [link] = mine.product.contributors;
    const [price] = theirs.product.product_prices;
    const kinds: [string, (id: string) => object][] = [
      [other.publisher, (publisher_id) => ({ publisher_id })],
      [other.license, (product_availability_id) => ({
        product_availability_id,
      })],
      [other.license, (lifecycle_status_id) => ({ lifecycle_status_id })],
      [other.license, (series_id) => ({ series_id })],
      [other.format, (product_form_id) => ({ product_form_id })],
      [other.contributor, (contributor_id) => ({
        contributors: [{ ...link, contributor_id }],
      })],
      [other.contributor, (contributor_role_id) => ({
        contributors: [{ ...link, contributor_role_id }],
      })],
      [price.id, (id) => ({ product_prices: [{ ...price, id }] })],
    ];
    for (const [theirs, bodyWith] of kinds) {
      await assertUnknown(theirs, async (id) => [
        await org.post("/api/products", { title: "x", ...bodyWith(id) }),
        await org.put(mine.path, bodyWith(id)),
      ]);
    }

    assertEquals(await mine.read(), mine.product);
    assertEquals(await theirs.read(), theirs.product);
  });

  await it("has products that look nonexistent", async () => {
    const { org, other, theirs } = await scene(app);
    await app.sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      values (${other.id}, ${other.program}, ${theirs.id})
    `;
    const [price] = theirs.product.product_prices;
    const bodies = [
      {},
      { title: "Persuasion" },
      { title: 1 },
      { license_id: org.license },
      { license_id: other.license, series_id: other.series },
      { product_prices: [] },
      { product_prices: [{ id: price.id, retail_price: 1 }] },
      { product_collections: [{ collection_id: org.series }] },
      { product_form_id: null, collateral: [] },
      theirs.product,
    ];
    const ask = async (id: string) => {
      const path = `/api/products/${id}`;
      const replies = [await org.get(path)];
      for (const headers of CONDITIONS) {
        for (const body of bodies) {
          replies.push(await org.put(path, body, headers));
        }
        replies.push(await org.delete(path, headers));
      }
      return replies.map((reply) => comparable(reply).replaceAll(id, "ID"));
    };

    const foreign = await ask(theirs.id);
    const unknown = await ask(crypto.randomUUID());

    assertEquals(foreign, unknown);
    assertEquals(await theirs.read(), theirs.product);
  });

  await it("has products that are in no list", async () => {
    const { org, theirs } = await scene(app);
    const { product_code, format_id, publishing_status_id } = theirs.product;

    for (
      const query of [
        `search=${product_code}`,
        `format_id=${format_id}`,
        `format_id=${format_id}&search=Emma`,
        `format_id=${format_id}&page=2`,
      ]
    ) {
      const { status, body } = await org.get(`/api/products?${query}`);

      assertEquals([status, body.data, body.meta.total], [200, [], 0]);
    }
    for (
      const query of [
        "",
        "search=emma",
        "include=product_territories,sales_rights",
        `publishing_status_id=${publishing_status_id}`,
      ]
    ) {
      const { body } = await org.get(`/api/products?${query}`);

      const items: { organization_id: string }[] = body.data;
      assertEquals([items.length, body.meta.total], [1, 1]);
      assert(items.every((item) => item.organization_id === org.id));
    }
  });
});

/** Two organizations, each with a complete product. */
async function scene(app: App) {
  const [org, other] = [await app.organization(), await app.organization()];
  const productOf = async (owner: Organization) => {
    const created = await owner.create(await fullBody(app, owner));
    const read = async () => (await owner.get(created.path)).body.data;
    return { ...created, read };
  };
  return {
    org,
    other,
    mine: await productOf(org),
    theirs: await productOf(other),
  };
}

/** Expects 400, with the same response for this id as for a nonexistent one. */
async function assertUnknown(
  id: string,
  ask: (id: string) => Promise<Reply[]>,
): Promise<void> {
  const foreign = await ask(id);
  const unknown = await ask(crypto.randomUUID());

  for (const { status } of foreign) assertEquals(status, 400);
  assertEquals(foreign.map(comparable), unknown.map(comparable));
}

/** The response without the parts that always differ. */
function comparable({ status, headers, text, body }: Reply): string {
  const requestId = headers.get("x-request-id")!;
  const names = [...headers.keys()].sort().join();
  return `${status} ${names} ${
    (body ? text : "").replaceAll(requestId, "REQUEST")
  }`;
}
