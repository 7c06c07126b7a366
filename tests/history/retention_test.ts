import { assertEquals } from "@std/assert";
import { eraseContributor } from "../../db/history/erase.ts";
import { deleteDue, notWalked, type Walked } from "../../db/history/retention.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("Versions of products", TIMED, async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const other = await app.organization();
  const START: Walked = { ...notWalked(), made: "-infinity" };

  /** Makes all versions so many days older. */
  const age = (days: number) =>
    sql`update product_documents set changed_at = changed_at - make_interval(days => ${days}::int)`;
  const titles = async (id: string) => {
    const rows = await sql<{ title: string | null }[]>`
      select case when d.summary <> '' then ('{' || d.summary || '}')::json ->> 'title' end as title
      from product_documents d
      where d.product_id = ${id}
      order by d.change_version
    `;
    return Array.from(rows, ({ title }) => title);
  };
  async function changed(...names: string[]) {
    const { id, path } = await org.create({ title: names[0] });
    for (const title of names.slice(1)) await org.put(path, { title });
    return { id, path };
  }

  await it("stay for HISTORY_DAYS after another one has followed", async () => {
    const { id, path } = await changed("A", "B");
    await age(60);
    await org.put(path, { title: "C" });
    await age(40);
    const { id: unchanged } = await other.create();

    // B followed 100 days ago, C 40 days ago.
    await deleteDue(app.database, 90, START);
    assertEquals(await titles(id), ["B", "C"]);
    assertEquals((await titles(unchanged)).length, 1);
    const before = await sql<
      { at: string }[]
    >`select (now() - interval '50 days')::text as at`;
    const day = before[0]!.at.slice(0, 10);
    assertEquals((await org.get(`${path}?at=${day}`)).body.data.title, "B");
    const { status, body } = await org.get(`${path}?at=2020-01-01`);
    assertEquals([status, body.error.code], [410, "HISTORY_EXPIRED"]);
    const refused = await org.post(`${path}/restore`, { version: "1" });
    assertEquals([refused.status, refused.body.error.code], [
      410,
      "HISTORY_EXPIRED",
    ]);
    // The state before it is not kept.
    const entries = (await org.get(`${path}/history`)).body.data;
    assertEquals(
      entries.map(({ changes }: { changes: unknown }) => changes === null),
      [false, true],
    );

    await age(60);
    await deleteDue(app.database, 90, START);
    assertEquals(await titles(id), ["C"]);
  });

  await it("are the newest alone with 0 days", async () => {
    const { id, path } = await changed("A", "B", "C");
    await age(1);
    await org.put(path, { title: "D" });
    await age(1);
    await deleteDue(app.database, 0, START);
    assertEquals(await titles(id), ["D"]);
  });

  await it("of a deleted product stay for 37 days at least", async () => {
    const { id, path } = await changed("A", "B");
    await org.delete(path);
    await age(36);
    await deleteDue(app.database, 0, START);
    assertEquals(await titles(id), ["B", null]);
    assertEquals((await org.post(`${path}/restore`, {})).status, 200);
    await org.delete(path);
    await age(38);
    await deleteDue(app.database, 0, START);
    assertEquals(await titles(id), []);
    assertEquals((await org.get(`${path}/history`)).status, 404);
    assertEquals((await org.get("/api/products/deleted")).body.data, []);
  });

  await it("are at most a thousand of a product", async () => {
    const { id } = await changed("A");
    await sql`
      insert into product_documents (
        organization_id, product_id, change_version, names_version, changed_at, event, summary, details
      )
      select d.organization_id, d.product_id, d.change_version + n, 0, d.changed_at + make_interval(secs => n / 1000.0), 'changed', d.summary, d.details
      from product_documents d
      cross join generate_series(1, 1500) n
      where d.product_id = ${id}
    `;
    await deleteDue(app.database, 90, START);
    assertEquals((await titles(id)).length, 1000);
  });

  await it({
    name: "are left to another process that deletes them",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const { id } = await changed("A", "B");
      const { id: gone, path } = await changed("A");
      await org.delete(path);
      await age(100);
      const lengths = async () => [(await titles(id)).length, (await titles(gone)).length];
      await sql.begin(async (sql) => {
        await sql`select pg_advisory_xact_lock(hashtextextended('history', 0))`;
        await deleteDue(app.database, 90, START);
        // Without a version to walk, only those of deleted products are due.
        await deleteDue(app.database, 90, { old: "infinity", made: "infinity" });
        assertEquals(await lengths(), [2, 2]);
      });
      await deleteDue(app.database, 90, START);
      assertEquals(await lengths(), [1, 0]);
    },
  });

  await it("that show a contributor are erased, but for what is shown now", async () => {
    const contributors = [{
      contributor_id: org.contributor,
      contributor_role_code: "A01",
    }];
    const { id: shown, path } = await org.create({ contributors, title: "A" });
    await org.put(path, { title: `"contributor_id":"${org.contributor}"` });
    const { id: gone } = await org.create({ contributors, title: "A" });
    await org.delete(`/api/products/${gone}`);
    const { id: without, path: former } = await org.create({
      contributors,
      title: "A",
    });
    await org.put(former, {
      contributors: [],
      title: `"contributor_id":"${org.contributor}"`,
    });
    await org.put(former, { title: "C" });

    const operations = operationsOf(app, org);
    assertEquals(await eraseContributor(operations, org.contributor), 3);
    assertEquals(await eraseContributor(operations, org.contributor), 0);
    assertEquals((await titles(shown)).length, 1);
    assertEquals(await titles(gone), [null]);
    assertEquals((await titles(without)).length, 2);
  });
});
