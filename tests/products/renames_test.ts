import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import { propagateRenames } from "../../features/changes/db/renames.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import type { Fields } from "../../schema/fields.ts";
import { ROWS, SCALARS } from "../../schema/product.ts";
import { type OwnTable, RECORDS } from "../../schema/records.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { PATIENCE_MS } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { Copy } from "../support/client/copy.ts";
import { fullBody } from "../support/data/bodies.ts";
import { pathOfRecords, RECORD_VALUES, writtenFields } from "../support/data/records.ts";

/*
 * A change of a record is a change of every product that shows it (contract, 10).
 */

/** The organization's record in each table that products show. */
const RECORD_OF: Partial<Record<OwnTable, keyof Organization>> = {
  licenses: "license",
  seasons: "season",
  publishers: "publisher",
  divisions: "division",
  imprints: "imprint",
  collections: "series",
  formats: "format",
  titles: "title",
  contributors: "contributor",
  custom_fields: "customField",
};

/** The columns of records that the JSON of products shows, such as `licenses.badge_colour`. */
const SHOWN = new Set(
  [SCALARS, ...ROWS.map(([, { fields }]) => fields)].flatMap((fields: Fields) =>
    Object.values(fields).flatMap((field) => {
      if (field.kind === "linked") {
        return Object.keys(RECORDS[field.table as OwnTable].fields)
          .map((column) => `${field.table}.${column}`);
      }
      if (field.kind === "column" && field.refers?.heldBy) {
        return ["formats.product_form_id"];
      }
      const reference = field.kind === "shown" && fields[field.reference];
      return reference && reference.kind === "column"
        ? [`${reference.refers!.table}.${field.column}`]
        : [];
    })
  ),
);

Deno.test("A rename reaches the feed", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;

  await it("of every field of the records that products show", async () => {
    const org = await app.organization();
    const { id, path } = await org.create(await fullBody(app, org));
    await org.create();
    const copy = new Copy(org, app);
    await copy.catchUp();
    const version = async () => {
      const [row] = await sql<
        { version: string }[]
      >`select names_version as version from organizations where id = ${org.id}`;
      return row!.version;
    };
    for (const [table, name] of Object.entries(RECORD_OF)) {
      for (const column of writtenFields(table as OwnTable)) {
        const what = `${table}.${column}`;
        const [before, shown] = [await org.get(path), await version()];

        const { status } = await org.put(
          `${pathOfRecords(table as OwnTable)}/${org[name]}`,
          { [column]: RECORD_VALUES[column] },
        );
        await propagateRenames(app.database);

        assertEquals(status, 200, what);
        const listed = await copy.catchUp();
        assertEquals(listed.map((change) => change.id), [id], what);
        assertEquals(listed[0]!.updated_at, before.body.data.updated_at);
        // Stored JSON is built again only where it shows the change.
        assertEquals(await version() !== shown, SHOWN.has(what), what);
        await copy.assertComplete();
      }
    }
  });

  await it("of SQL, and of nothing that stays", async () => {
    const org = await app.organization();
    const { id } = await org.create({ publisher_id: org.publisher });
    const copy = new Copy(org, app);
    await copy.catchUp();

    await sql`update publishers set name = name`;
    await org.put(`/api/publishers/${org.publisher}`, {
      name: "Harbour Press",
    });
    await propagateRenames(app.database);
    assertEquals(await copy.catchUp(), []);

    await sql`update publishers set name = 'By SQL'`;
    await propagateRenames(app.database);
    assertEquals((await copy.catchUp()).map((change) => change.id), [id]);

    await sql`
      with gone as (delete from publishers where id = ${org.publisher} returning *)
      insert into publishers (organization_id, id, name)
      select organization_id, id, 'Another' from gone
    `;
    await propagateRenames(app.database);
    assertEquals((await copy.catchUp()).map((change) => change.id), [id]);
    await copy.assertComplete();
  });

  await it("once, of a product that is written after it", async () => {
    const org = await app.organization();
    const old = await org.create({ publisher_id: org.publisher });
    await org.put(`/api/publishers/${org.publisher}`, { name: "New" });
    const young = await org.create({ publisher_id: org.publisher });
    const copy = new Copy(org, app);
    const listed = await copy.catchUp();
    assertEquals(listed.map(({ id }) => id), [old.id, young.id]);

    await propagateRenames(app.database);

    assertEquals((await copy.catchUp()).map(({ id }) => id), [old.id]);
    await copy.assertComplete();
  });

  await it("of a contributor in ONIX", async () => {
    const org = await app.organization();
    await org.create(await fullBody(app, org));
    const first = await org.get("/api/onix/products");
    const next = /<([^>]+)>/.exec(first.headers.get("link")!)![1]!;

    await org.put(`/api/contributors/${org.contributor}`, {
      key_names: "Austen",
    });
    await propagateRenames(app.database);

    await eventually(true, async () => {
      const reply = await org.get(next);
      return reply.text.includes("<KeyNames>Austen</KeyNames>");
    });
  });

  await it("of many products in chunks", async () => {
    const org = await app.organization();
    await sql.begin(async (sql) => {
      await sql`
        insert into products (organization_id, title)
        select ${org.id}, 'Emma' from generate_series(1, 101)
      `;
      await sql`
        insert into product_contributors (
          organization_id, product_id, contributor_id, contributor_role_id, position
        )
        select p.organization_id, p.id, ${org.contributor}, r.id, 0
        from products p
        cross join (select id from contributor_roles limit 1) r
        where p.organization_id = ${org.id}
      `;
    });
    const rename = (name: string) => org.put(`/api/contributors/${org.contributor}`, { name });
    const copy = new Copy(org, app);
    await copy.catchUp();
    // Others of the server may have run beside the renames above.
    await propagateRenames(app.database);

    await rename("Renamed");
    assertEquals(await copy.catchUp(), []);
    // A process that is killed has done a part.
    await sql`select from spread_renames(null, 40)`;
    const first = await copy.catchUp();
    // Renamed again meanwhile, it begins again.
    await rename("Again");
    await Promise.all([
      propagateRenames(app.database),
      propagateRenames(app.database),
    ]);

    assertEquals(first.length, 40);
    assertEquals((await copy.catchUp()).length, 101);
    await copy.assertComplete();
    const waiting = await sql`select from renames where organization_id = ${org.id}`;
    assertEquals(waiting.length, 0);
  });
});

Deno.test("Renames of many records", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const waiting = async (id: string) =>
    (await sql`select from renames where organization_id = ${id}`).length;

  await it("change the products that show them, and no others", async () => {
    const org = await app.organization();
    const { id } = await org.create({
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_id: idOfCode("17", "A01"),
      }],
    });
    await sql`
      insert into contributors (organization_id, name)
      select ${org.id}, 'Nobody ' || i from generate_series(1, 600) i
    `;
    const copy = new Copy(org, app);
    await copy.catchUp();

    await sql`update contributors set key_names = 'Changed' where organization_id = ${org.id}`;
    await propagateRenames(app.database);

    assertEquals((await copy.catchUp()).map((change) => change.id), [id]);
    assertEquals(await waiting(org.id), 0);
  });

  await it("do not hold back those of another organization", async () => {
    await propagateRenames(app.database);
    const orgs = [await app.organization(), await app.organization()];
    const counts = [1_200, 1];
    for (const [i, { id }] of orgs.entries()) {
      await sql`
        insert into renames (organization_id, record_table, record_id)
        select ${id}, 'contributors', gen_random_uuid()
        from generate_series(1, ${counts[i]!})
      `;
    }
    const left = () => Promise.all(orgs.map(({ id }) => waiting(id)));
    let after: string | undefined;
    for (let i = 0; i < orgs.length; i++) {
      const [chunk] = await sql<[{ organization: string }]>`
        select organization from spread_renames(${after ?? null}, 2500)
      `;
      after = chunk.organization;
    }

    assertEquals(await left(), [700, 0]);
    await propagateRenames(app.database);
    assertEquals(await left(), [0, 0]);
  });
});

Deno.test({
  name: "A rename reaches products that referred to the record meanwhile",
  // The embedded database runs one transaction at a time.
  ignore: !SETTINGS.url,
  async fn({ step: it }) {
    await using fresh = await openFreshDatabase();
    const { url } = fresh.settings;
    await using app = await openApp({}, { url, poolSize: 4 });
    await using writer = session(url!);
    await using renamer = session(url!);

    for (const isolation of ["read committed", "repeatable read"]) {
      await it(`in transactions that are ${isolation}`, async () => {
        const org = await app.organization();
        const copy = new Copy(org, app);
        await copy.catchUp();
        await writer.sql.unsafe(`begin isolation level ${isolation}`);
        await writer.sql`
          insert into products (organization_id, title, publisher_id)
          values (${org.id}, 'Emma', ${org.publisher})
        `;
        await renamer.sql.unsafe(`begin isolation level ${isolation}`);
        await renamer.sql`
          update publishers set name = 'Renamed'
          where organization_id = ${org.id} and id = ${org.publisher}
        `;
        await writer.sql`commit`;
        // Once older transactions of the server have ended, it is given out, with the old name.
        await eventually(1, async () => (await copy.read()).changes.length);
        await renamer.sql`commit`;

        await propagateRenames(app.database);

        await copy.catchUp();
        await copy.assertComplete();
      });
    }

    await it("and is found by the new name", async () => {
      const org = await app.organization();
      const { id } = await org.create({ title: "Emma" });
      let written: Promise<unknown> | undefined;
      await renamer.sql.begin(async (sql) => {
        await sql`
          update contributors set name = 'Renamed'
          where organization_id = ${org.id} and id = ${org.contributor}
        `;
        written = addAuthor(writer.sql, org, id).execute();
        await pause(100);
      });
      await written;
      const { body } = await org.get("/api/products?q=renamed");
      assertEquals(body.meta.total, 1);
    });

    await it("and so are those that were being linked before", async () => {
      const org = await app.organization();
      const { id } = await org.create({ title: "Emma" });
      let renamed: Promise<unknown> | undefined;
      await writer.sql.begin(async (sql) => {
        await addAuthor(sql, org, id);
        renamed = org.put(`/api/contributors/${org.contributor}`, {
          name: "Renamed",
        });
        await pause(100);
      });
      await renamed;
      await propagateRenames(app.database);
      const { body } = await org.get("/api/products?q=renamed");
      assertEquals(body.meta.total, 1);
    });

    await it("and so are those of a record that is renamed again meanwhile", async () => {
      const org = await app.organization();
      const { id } = await org.create({ title: "Emma" });
      await addAuthor(writer.sql, org, id);
      const rename = (sql: postgres.ISql, name: string) =>
        sql`update contributors set name = ${name} where id = ${org.contributor}`;
      await rename(writer.sql, "First");
      await renamer.sql.begin(async (sql) => {
        await rename(sql, "Second");
        // It waits for nobody, and does not forget the record.
        await propagateRenames(app.database);
        await sql`update products set subtitle = 'Again' where id = ${id}`;
      });
      await propagateRenames(app.database);
      const { body } = await org.get("/api/products?q=second");
      assertEquals(body.meta.total, 1);
    });

    await it("and the new title of a product stays", async () => {
      const org = await app.organization();
      const { id } = await org.create({ title: "Emma" });
      let indexed: Promise<unknown> | undefined;
      await writer.sql.begin(async (sql) => {
        await sql`
          update products set title = 'Persuasion'
          where organization_id = ${org.id} and id = ${id}
        `;
        // As a rename does of the products that show the record.
        indexed = renamer.sql`
          select index_search(${org.id}, ${[id]}::uuid[])
        `.execute();
        await pause(100);
      });
      await indexed;
      const { body } = await org.get("/api/products?q=persuasion");
      assertEquals(body.meta.total, 1);
    });

    await it("and waits no longer, once older transactions have ended", async () => {
      await eventually(0, async () => {
        await propagateRenames(app.database);
        return (await app.sql`select from renames`).length;
      });
    });
  },
});

/** Adds the contributor of the organization to the product. */
function addAuthor(
  sql: postgres.ISql,
  org: Organization,
  productId: string,
) {
  return sql`
    insert into product_contributors (
      organization_id, product_id, contributor_id, contributor_role_id, position
    )
    select ${org.id}, ${productId}, ${org.contributor}, r.id, 1
    from contributor_roles r
    where r.code = 'A01'
  `;
}

/** One connection. A transaction that a failed step leaves open ends: the feed of the server waits for it. */
function session(url: string) {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => {},
    connection: { idle_in_transaction_session_timeout: PATIENCE_MS },
  });
  return { sql, [Symbol.asyncDispose]: () => sql.end() };
}
