import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import deno from "../../deno.json" with { type: "json" };
import { createOrganization, newKey } from "../../db/access.ts";
import { openDatabase } from "../../db/database.ts";
import { problemOf } from "../../db/commands/cli.ts";
import { examine } from "../../db/doctor/checks.ts";
import { doctor } from "../../db/doctor/doctor.ts";
import { migrate, seed } from "../../db/migrate.ts";
import { recount } from "../../db/doctor/recount.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { emptyFolder } from "../support/app/prepared_folder.ts";
import { script } from "../support/sql/script.ts";
import { readConfig } from "../../schema/config.ts";
import { keyServer } from "../support/servers/key_server.ts";
import { TIMED } from "../support/app/deadline.ts";

const DAY_MS = 86_400_000;
const CONFIG = readConfig(() => undefined);

Deno.test("deno task doctor", TIMED, async ({ step: it }) => {
  await using connection = await openDatabase({
    ...CONFIG.database,
    dataDir: await emptyFolder(),
  });
  const database = connection.for({ deadline: performance.now() + 600_000 });

  /** The problems, as `subject: finding -> advice`. */
  async function complaints(config = CONFIG) {
    const findings = Object.entries(await examine(database, config));
    return findings.filter(([, { ok }]) => !ok).map((
      [subject, { finding, advice }],
    ) => `${subject}: ${finding} -> ${advice}`);
  }

  await it("names the pending migrations", async () => {
    const [complaint, ...others] = await complaints();

    assertEquals(others, []);
    assertStringIncludes(
      complaint!,
      "are pending, the first is 0001_schema.sql -> deno task migrate",
    );
  });

  await it("says how to use extensions in a schema that the role does not look into", async () => {
    await script(database, async (sql) => {
      await sql`create schema extensions`;
      await sql`create extension pg_trgm schema extensions`;
    });
    const refused = await assertRejects(() => migrate(database));
    const [complaint, ...others] = await complaints();

    assertEquals(others, []);
    assertStringIncludes(problemOf(refused as Error), "deno task doctor says how");
    assertEquals(
      complaint,
      "extensions: The role postgres cannot use pg_trgm in the schema extensions -> As a superuser, in the database postgres: alter role postgres in database postgres set search_path = public, extensions; then open new sessions",
    );
    await script(database, (sql) => sql`drop schema extensions cascade`);
  });

  await it("asks for code lists and an organization", async () => {
    await migrate(database);

    assertEquals(await complaints(), [
      "code lists: Empty -> deno task seed",
      "keys: There is no organization -> deno task organization create NAME",
    ]);
  });

  await seed(database);
  const [[organization]] = await database.transaction((tx) =>
    tx.commit(createOrganization("Harbour"))
  );
  const organizationId = organization!.id;

  await it("asks for a key unless tokens are configured", async () => {
    assertEquals(await complaints(), [
      "keys: There is no active API key, and no Bearer tokens are configured -> deno task key create --organization ID --name NAME",
    ]);
    const secret = "x".repeat(32);
    assertEquals(await complaints({ ...CONFIG, token: { secret } }), []);
  });

  await it("reports no problem in a complete database", async () => {
    await issue();

    const findings = await examine(database, CONFIG);

    assertEquals(
      Object.entries(findings).map(([subject, { ok, advice }]) => [subject, ok, advice]),
      [
        "database",
        "time-outs",
        "extensions",
        "migrations",
        "code lists",
        "counters",
        "statistics",
        "history",
        "changes",
        "keys",
        "shared isbns",
        "webhooks",
        "recipients",
        "distribution",
      ].map((subject) => [subject, true, undefined]),
    );
    assertEquals(
      findings["shared isbns"]!.finding,
      "No two products of an organization have one ISBN",
    );
  });

  await it("measures the versions of products, not the files of their table", async () => {
    const { history: { finding } = {} } = await examine(database, CONFIG);

    assertStringIncludes(finding!, "0 versions of products in 0 bytes.");
  });

  await it("notes the ISBNs that several products have", async () => {
    await script(database, (sql) =>
      sql`
        insert into products (organization_id, id, title, product_code, isbn13, isbn10)
        values
          (${organizationId}, gen_random_uuid(), 'Emma', 'P-1', '9780141439587', null),
          (${organizationId}, gen_random_uuid(), 'Emma', 'P-2', null, '0141439580')
      `);

    const { "shared isbns": { ok, finding } = {} } = await examine(database, CONFIG);

    assertEquals([ok, finding], [
      true,
      `ISBNs that several products of an organization have: 1, of organization ${organizationId}`,
    ]);
    await script(database, (sql) => sql`delete from products`);
  });

  await it("notes the recipients that have not fetched for 30 days", async () => {
    const at = new Date(Date.now() - 31 * DAY_MS).toISOString();
    await script(
      database,
      (sql) =>
        sql`insert into recipients (organization_id, name, view, created_at) values (${organizationId}, 'Shop', '{}', ${at}), (${organizationId}, 'New shop', '{}', now())`,
    );

    const { recipients: { ok, finding } = {} } = await examine(database, CONFIG);

    assertEquals([ok, finding], [
      true,
      `Not fetched for 30 days: Shop of organization ${organizationId} (never)`,
    ]);
    await script(database, (sql) => sql`delete from recipients`);
  });

  await it("names a key that expires soon, until its expiry", async () => {
    const key = await issue(new Date(Date.now() + DAY_MS));
    await issue(new Date(Date.now() - DAY_MS));

    const id = key.slice(4, 16);
    assertEquals(await complaints(), [
      `keys: These keys expire within 14 days: ${id} -> Replace them: deno task key create`,
    ]);
    await script(
      database,
      (sql) => sql`delete from api_keys where id = ${id}`,
    );
  });

  await it("tells which keys will be revoked, and when", async () => {
    const id = (await issue()).slice(4, 16);
    await script(
      database,
      (sql) => sql`update api_keys set revoked_at = '2999-01-31T12:00Z' where id = ${id}`,
    );

    const { keys } = await examine(database, CONFIG);

    assertStringIncludes(
      keys!.finding,
      `; ${id} will be revoked at 2999-01-31T12:00:00Z`,
    );
    await script(database, (sql) => sql`delete from api_keys where id = ${id}`);
  });

  await it("reports wrong counts until a recount", async () => {
    await script(database, (sql) =>
      sql`
        insert into products (organization_id, title, publishing_status_id)
        select ${organizationId}, 'Emma', id from publishing_statuses limit 3
      `);
    assertEquals(await complaints(), []);
    await script(database, (sql) => sql`delete from product_counts`);

    const [complaint, ...others] = await complaints();

    assertEquals(others, []);
    assertStringIncludes(
      complaint!,
      `counters: Counts, searches or changes are wrong, probably after SQL without triggers, in organization ${organizationId}`,
    );
    assertStringIncludes(complaint!, "-> deno task recount");
    await recount(database);
    assertEquals(await complaints(), []);
  });

  await it("names large tables that were never analyzed", async () => {
    await script(database, (sql) =>
      sql`
        insert into organization_members (organization_id, user_id, role)
        select ${organizationId}, repeat('x', 100) || i, 'viewer' from generate_series(1, 10000) i
      `);

    const { statistics } = await examine(database, CONFIG);

    assert(statistics!.ok);
    assertStringIncludes(statistics!.finding, "Never analyzed");
    assertStringIncludes(statistics!.finding, ": organization_members");
    assertStringIncludes(statistics!.advice!, "analyze");
  });

  await it("takes it as a problem where autovacuum is off, until ANALYZE", async () => {
    await script(
      database,
      (sql) => sql`alter table organization_members set (autovacuum_enabled = false)`,
    );
    const [complaint, ...others] = await complaints();
    assertEquals(others, []);
    assertStringIncludes(complaint!, "statistics: Never analyzed");
    assertStringIncludes(complaint!, "turn autovacuum on");

    await script(database, (sql) => sql`analyze organization_members`);

    assertEquals(await complaints(), []);
    await script(database, (sql) => sql`delete from organization_members`);
  });

  await it("reports a copied database before a migration", async () => {
    await script(
      database,
      (sql) => sql`update change_origins set place = 'elsewhere'`,
    );

    assertEquals(await complaints(), [
      "changes: The database was copied -> deno task migrate",
    ]);
    await migrate(database);
    assertEquals(await complaints(), []);
  });

  await it("refuses the database of another release", async () => {
    await script(
      database,
      (sql) => sql`insert into schema_migrations (name, sha256) values ('9999_later.sql', '')`,
    );

    const [complaint, ...others] = await complaints();

    assertEquals(others, []);
    assertStringIncludes(
      complaint!,
      'of a later release, which has applied "9999_later.sql"',
    );
  });

  async function issue(expires?: Date): Promise<string> {
    const { key, statement } = newKey({
      organizationId,
      name: "Web",
      scope: "read",
      expiresAt: expires?.toISOString(),
    });
    await database.transaction((tx) => tx.commit(statement));
    return key;
  }
});

Deno.test(
  "deno task doctor without a database",
  TIMED,
  async ({ step: it }) => {
    const run = (variables: Record<string, string>, json = false) =>
      doctor((name) => variables[name], { json, variables: Object.keys(variables) });

    await it("reports an invalid configuration", async () => {
      const { ok, text: report } = await run({ PORT: "http" });

      assert(!ok);
      assertStringIncludes(report, "WRONG  configuration  PORT must be");
    });

    await it("reports an unreachable database without its password", async () => {
      const DATABASE_URL = "postgres://catalogue:secret@127.0.0.1:1/books";

      const { ok, text: report } = await run({ DATABASE_URL, PORTT: "1" }, true);

      assert(!ok);
      const [version, configuration, , database] = JSON.parse(report) as {
        finding: string;
        advice: string;
      }[];
      assertStringIncludes(version!.finding, deno.version);
      assertEquals(
        configuration!.finding,
        "The database is 127.0.0.1:1/books. The variable PORTT is unknown: did you mean PORT?",
      );
      assertStringIncludes(database!.finding, "ECONNREFUSED");
      assertStringIncludes(database!.advice, "Check DATABASE_URL");
      assert(!report.includes("secret"));
    });

    await it("names a misspelled variable beside what its absence makes invalid", async () => {
      const { ok, text: report } = await run({
        DATABSE_URL: "postgres://127.0.0.1:1/books",
        DATABASE_REPLICA_URL: "postgres://127.0.0.1:1/books",
      });

      assert(!ok);
      assertStringIncludes(report, "WRONG  configuration  DATABASE_URL must be set");
      assertStringIncludes(report, "DATABSE_URL is unknown: did you mean DATABASE_URL?");
    });

    await it("asks the key set", async () => {
      const key = { kty: "EC", crv: "P-256", kid: "a" };
      const answers: [response: () => Response, finding: string][] = [
        [
          () => Response.json({ keys: [key] }),
          "Keys that can verify tokens: 1",
        ],
        [() => Response.json({ keys: [] }), "no key that can verify"],
        [() => Response.json({ keys: [null] }), "is not a JWK Set"],
        [() => new Response("<html>"), "is not a JWK Set"],
        [() => new Response(null, { status: 404 }), "responded with 404"],
      ];
      for (const [response, expected] of answers) {
        await using server = keyServer(response);
        const { text: report } = await run({
          DATABASE_URL: "postgres://catalogue@127.0.0.1:1/books",
          JWT_JWKS_URL: server.url.href,
          JWT_ISSUER: "https://id.example/",
          JWT_AUDIENCE: "catalogue",
        });
        const line = report.split("\n").find((one) => one.includes("key set"))!;
        assertStringIncludes(line, expected);
        assertEquals(line.startsWith("ok"), expected.startsWith("Keys"));
      }
    });

    await it({
      name: "says which parameters of the URL only libpq knows",
      ignore: !SETTINGS.url,
      async fn() {
        const url = new URL(SETTINGS.url!);
        url.searchParams.set("channel_binding", "require");

        const { ok, text: report } = await run({ DATABASE_URL: String(url) });

        assert(!ok);
        assertStringIncludes(report, "channel_binding");
        assertStringIncludes(report, "Remove this parameter from DATABASE_URL");
      },
    });
  },
);
