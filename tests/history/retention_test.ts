import { assert, assertEquals } from "@std/assert";
import { eraseContributor } from "../../features/history/db/erase.ts";
import {
  deleteDue,
  initialProgress,
  type RetentionProgress,
} from "../../features/history/db/retention.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { TIMED } from "../support/app/deadline.ts";
import { onixClient } from "../support/client/onix.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("Versions of products", TIMED, async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const other = await app.organization();
  const START: RetentionProgress = { ...initialProgress(), made: "-infinity" };

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
    // The versions that are added follow one another by a millisecond, and are to end before now.
    await age(1);
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

  await it("take at most 64 MiB of a product", async () => {
    const { id, path } = await changed("A");
    await age(1);
    const MIB = 2 ** 20;
    await sql`
      insert into product_documents (
        organization_id, product_id, change_version, names_version, changed_at, event, summary, details
      )
      select d.organization_id, d.product_id, d.change_version + n, 0, d.changed_at + make_interval(secs => n / 1000.0), 'changed',
        '"title":"A"', '"x":"' || repeat('x', ${3 * MIB}) || '"'
      from product_documents d
      cross join generate_series(1, 30) n
      where d.product_id = ${id}
    `;
    await deleteDue(app.database, 90, START);
    assertEquals((await titles(id)).length, 21);
    assertEquals((await org.get(path)).status, 200);
    await sql`delete from product_documents where product_id = ${id}`;
  });

  await it({
    name: "are counted when they are committed, also if their transaction began before a round",
    // The embedded database has one connection.
    ignore: !SETTINGS.url,
    async fn() {
      const { id } = await changed("A");
      let progress = START;
      await sql.begin(async (sql) => {
        await sql`
          insert into product_documents (
            organization_id, product_id, change_version, names_version, changed_at, event, summary, details
          )
          select d.organization_id, d.product_id, d.change_version + n, 0, now(), 'changed', d.summary, d.details
          from product_documents d
          cross join generate_series(1, 1500) n
          where d.product_id = ${id}
        `;
        progress = await deleteDue(app.database, 90, START);
      });
      await deleteDue(app.database, 90, progress);
      assertEquals((await titles(id)).length, 1000);
    },
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
    assertEquals(await titles(shown), [null, `"contributor_id":"${org.contributor}"`]);
    assertEquals(await titles(gone), [null, null]);
    assertEquals(await titles(without), [null, `"contributor_id":"${org.contributor}"`, "C"]);
  });

  await it("that are erased leave a gap", async () => {
    const contributors = [{ contributor_id: org.contributor, contributor_role_code: "A01" }];
    const { id, path } = await org.create({ title: "One" });
    await org.put(path, { title: "Two", contributors });
    await org.put(path, { subtitle: "Three", contributors: [] });
    const [, second] = (await org.get(`${path}/history`)).body.data;
    const { id: gone, path: former } = await org.create({ title: "Gone", contributors });
    await org.delete(former);
    await eraseContributor(operationsOf(app, org), org.contributor);

    const { data } = (await org.get(`${path}/history`)).body;
    assertEquals(
      data.map(({ event, changes }: { event: string; changes: unknown }) => [event, changes]),
      [["changed", null], ["created", []]],
    );
    const { data: all } = (await org.get("/api/history")).body;
    const events = all.filter(({ product }: Any) => product.id === id).map(({ event }: Any) =>
      event
    );
    assertEquals(events, ["changed", "created"]);
    const { version, at } = second;
    const calls = [
      org.get(`${path}?version=${version}`),
      org.get(`${path}?at=${at}`),
      org.post(`${path}/restore`, { version }),
      org.post(`${path}/restore?dry_run=true`, { at }),
      org.batch([{ method: "restore", id, version }]).then(({ body }) => body.data[0]),
      org.post(`${former}/restore`, {}),
    ];
    for (const call of calls) assertEquals((await call).status, 410);
    const { data: deleted } = (await org.get("/api/products/deleted")).body;
    assertEquals(deleted.filter((one: Any) => one.id === gone), []);
  });

  await it("that show a contributor are erased with the ONIX record beside a deletion, which may outlive them", async () => {
    const { report } = onixClient(app, org);
    const records = [
      record({ contributors: ["To Be Erased"] }),
      record({
        reference: "kept",
        isbn: isbnOf(7),
        contributors: ["Another"],
      }),
    ];
    const { outcomes } = await report(message(...records));
    const [id, kept] = outcomes.map(({ id }: Any) => id);
    const { data: product } = (await org.get(`/api/products/${id}`)).body;
    await org.put(`/api/products/${id}`, { contributors: [] });
    await sql`
      delete from product_documents d
      where d.product_id = ${id} and strpos(d.details, '"contributor_name":"To Be Erased"') > 0
    `;
    for (const one of [id, kept]) await org.delete(`/api/products/${one}`);
    const beside = async (id: string) =>
      (await sql`select d.onix::text from product_documents d where d.product_id = ${id} and d.event = 'deleted'`)[
        0
      ]!.onix;
    assert((await beside(id)).includes("To Be Erased"));

    const [{ contributor_id }] = product.contributors;
    await eraseContributor(operationsOf(app, org), contributor_id);

    assertEquals(await beside(id), "{}");
    assert((await beside(kept)).includes("Another"));
  });

  await it("are judged by a time that cannot jump", async () => {
    const { id, path } = await changed("A", "B");
    await age(100);
    await org.put(path, { title: "C" });
    await age(50);
    // To the last round, it was a hundred days earlier.
    await sql`
      insert into history_clock (at) values (now() - interval '100 days')
      on conflict (one) do update set at = excluded.at
    `;
    const { clock, ...progress } = await deleteDue(app.database, 90, START);
    assertEquals(await titles(id), ["A", "B", "C"]);
    // Two hours count as two days at most, five days as 120.
    for (const [hours, kept] of [[2, 3], [5 * 24, 2]] as const) {
      const readAt = clock!.readAt - hours * 3_600_000;
      await deleteDue(app.database, 90, { ...progress, ...START, clock: { ...clock!, readAt } });
      assertEquals((await titles(id)).length, kept);
    }
    await sql`delete from history_clock`;
  });
});
