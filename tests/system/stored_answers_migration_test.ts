import { assertEquals } from "@std/assert";
import { migrate, seed } from "../../db/migrate.ts";
import { miscounted } from "../../db/products/counts.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import {
  type App,
  createOrganization,
  openApp,
  SETTINGS,
} from "../support/app/harness.ts";
import { idsOf } from "../support/sql/loading.ts";
import { ROOT } from "../support/app/process.ts";
import { script } from "../support/sql/script.ts";
import { assertBuilt, read } from "../support/client/stored.ts";

const MIGRATIONS = new URL("sql/migrations/", ROOT);

Deno.test({
  name:
    "The migration to stored answers keeps every product and the right totals",
  ignore: !SETTINGS.url,
  async fn() {
    await using fresh = await openFreshDatabase();
    await using folder = await migrationsBefore("0009");
    await migrate(fresh.operations, folder.url);
    await seed(fresh.operations);
    const apps: App[] = [];
    const org = await createOrganization({
      send: (path, init) => apps[0]!.send(path, init),
      sql: (work) => script(fresh.operations, work),
    });
    // Three products written and counted by the service, then four inserted by SQL, then a write by a caller.
    await script(fresh.operations, async (sql) => {
      await sql`
        insert into products (organization_id, title, format_id, counted)
        select ${org.id}, 'Emma', ${org.format}, i <= 3
        from generate_series(1, 7) i
      `;
      await sql`
        insert into product_counts (organization_id, filter, value, slot, products)
        values
          (${org.id}, 'organization_id', ${org.id}, 3, 3),
          (${org.id}, 'format_id', ${org.format}, 3, 1),
          (${org.id}, 'format_id', ${org.format}, 0, 2)
      `;
      await sql`insert into last_writes values (${org.id}, 'caller', '0/0')`;
      await sql`
        insert into product_prices (organization_id, product_id, id, position, currency_code)
        select organization_id, id, gen_random_uuid(), 0, 'GBP' from products
      `;
    });

    await using app = await openApp({}, { url: fresh.settings.url });
    apps.push(app);

    const { body } = await org.get("/api/products");
    const filtered = await org.get(`/api/products?format_id=${org.format}`);
    assertEquals([body.meta.total, filtered.body.meta.total], [7, 7]);
    for (const id of idsOf(body.data)) {
      const { data } = await read(app, org, `/api/products/${id}`);
      assertEquals(data.product_prices.length, 1);
      const { status } = await org.put(`/api/products/${id}`, { title: "Now" });
      assertEquals(status, 200);
    }
    await assertBuilt(app, org);
    assertEquals([...await app.sql((sql) => sql`${miscounted}`)], []);
  },
});

async function migrationsBefore(number: string) {
  const path = await Deno.makeTempDir();
  const url = new URL(`file://${path}/`);
  for (const { name } of Deno.readDirSync(MIGRATIONS)) {
    if (name >= number) continue;
    await Deno.copyFile(new URL(name, MIGRATIONS), new URL(name, url));
  }
  return {
    url,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
