import { assert, assertEquals } from "@std/assert";
import { OWN_TABLES, pathOfTable, SHARED_TABLES } from "../../schema/records.ts";
import { fullBody } from "../support/data/bodies.ts";
import type { Reply } from "../support/client/envelope.ts";
import { EVERY_OPERATION } from "../support/client/every_operation.ts";
import { type App, openApp } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

/** The lists that all organizations share. */
const SHARED = SHARED_TABLES.map((table) => pathOfTable(table).slice(1))
  .concat("code-lists");

const CONDITIONS: Record<string, string>[] = [{}, { "if-match": "*" }];

Deno.test("Another organization", async ({ step: it }) => {
  await using app = await openApp({
    verifyToken: (token) => Promise.resolve(token.split(".")[1]!),
  });

  await it("has ids that look unknown to every operation", async () => {
    const { org, other } = await scene(app);
    const [ours, theirs] = [await owner(org), await owner(other)];
    const webhook = { url: "https://shop.invalid/", enabled: false };
    await theirs("POST", "/webhooks", webhook);
    await theirs("POST", "/recipients", { name: "Theirs" });
    for (const table of OWN_TABLES) {
      await theirs("POST", pathOfTable(table), { name: "Theirs" });
    }
    const lists = new Map<string, string>();

    for (const { key, method, template } of EVERY_OPERATION) {
      const [, resource = "", parameter = ""] = template.split("/");
      if (!parameter.startsWith("{") || SHARED.includes(resource)) continue;
      const { text, body: { data } } = await theirs("GET", `/${resource}`);
      lists.set(resource, text);
      const unknown = resource === "api-keys" ? "0".repeat(12) : NOBODY;
      const [foreign, missing] = await Promise.all(
        [data[0].id as string, unknown].map(async (id) => {
          const path = template.replace(parameter, id)
            .replace("{product_id}", NOBODY)
            .replace("{delivery_id}", `msg_${"0".repeat(32)}`);
          const body = template.endsWith("s") ? [] : {};
          const reply = await ours(method, path, body);
          return comparable(reply).replaceAll(id, "ID");
        }),
      );
      assertEquals(foreign, missing, key);
    }

    assert(lists.size > 10);
    for (const [resource, text] of lists) {
      assertEquals((await theirs("GET", `/${resource}`)).text, text, resource);
    }
  });

  /** Makes a user an owner, and returns a function that sends requests of theirs. */
  async function owner({ id }: Organization) {
    const user = crypto.randomUUID();
    await app.sql`
      insert into organization_members (organization_id, user_id, role)
      values (${id}, ${user}, 'owner')
    `;
    return (method: string, path: string, body?: unknown) =>
      app.send(`/api${path}`, {
        method,
        headers: {
          "authorization": `Bearer head.${user}.signature`,
          "x-organization-id": id,
          "content-type": "application/json",
        },
        ...!/GET|DELETE/.test(method) && { body: JSON.stringify(body) },
      });
  }

  // `tests/input/fields_test.ts` sends foreign and unknown ids to every field.
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

const NOBODY = "01980000-0000-7000-8000-000000000001";

/** Two organizations, each with a complete product, of which one is theirs. */
async function scene(app: App) {
  const [org, other] = [await app.organization(), await app.organization()];
  await org.create(await fullBody(app, org));
  const created = await other.create(await fullBody(app, other));
  const read = async () => (await other.get(created.path)).body.data;
  return { org, other, theirs: { ...created, read } };
}

/** The response without the parts that always differ. */
function comparable({ status, headers, text, body }: Reply): string {
  const requestId = headers.get("x-request-id")!;
  const names = [...headers.keys()].sort().join();
  return `${status} ${names} ${(body ? text : "").replaceAll(requestId, "REQUEST")}`;
}
