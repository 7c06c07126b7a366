import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import { Copy } from "../support/client/copy.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { type App, openApp, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { fc } from "../support/app/packages.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { TIMED } from "../support/app/deadline.ts";

/*
 * A copy finally equals the catalogue, however API writes, SQL transactions and
 * reads of the feed interleave.
 */

/** One step. `product` and `session` are indexes, modulo the number of existing ones. */
interface Step {
  what: "create" | "update" | "delete" | "open" | "insert" | "remove" | "end";
  product: number;
  session: number;
  commits: boolean;
  /** The limit of a page read afterwards. 0 means no read. */
  reads: number;
}

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.constantFrom(
      "create" as const,
      "update" as const,
      "delete" as const,
      "open" as const,
      "insert" as const,
      "remove" as const,
      "end" as const,
    ),
    product: fc.nat(50),
    session: fc.nat(1),
    commits: fc.boolean(),
    reads: fc.nat(3),
  }),
  { minLength: 5, maxLength: 40 },
);

Deno.test({
  ...TIMED,
  name: "GET /products/changes keeps a copy complete for any interleaving",
}, async ({ step: it }) => {
  await using fresh = SETTINGS.url ? await openFreshDatabase() : undefined;
  const url = fresh?.settings.url;
  await using app = await openApp({}, { url, poolSize: 8 });
  // PgBouncer gives no client a session of its own.
  const sessions = url && SETTINGS.prepare ? await sessionsBeside(app, url) : [];

  await it("of sequential steps", async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const org = await app.organization();
        const copy = new Copy(org, app);
        await play(app, org, copy, sessions, steps);
        for (const { sql } of sessions) await sql`rollback`;
        await copy.catchUp();
        await copy.assertComplete();
      }),
      { numRuns: url ? 60 : IS_WHOLE ? 25 : 10 },
    );
  });

  await it({
    name: "of 32 concurrent writers and open transactions",
    ignore: !url,
    fn: () => storm(app, url!),
  });

  for (const { sql } of sessions) await sql.end();
});

interface Session {
  sql: postgres.Sql;
  /** The products that the transaction has locked. */
  locked: Set<string>;
}

/** Sessions with distinct slots in `product_counts`: an open transaction would block others in its slot. */
async function sessionsBeside(app: App, url: string): Promise<Session[]> {
  // Opens the service's connections.
  const org = await app.organization();
  await Promise.all(Array.from({ length: 16 }, () => org.create()));
  const all = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const sql = connect(url);
      const [row] = await sql`select pg_backend_pid() as pid`;
      return { sql, pid: row!.pid as number };
    }),
  );
  const pids = await app.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database()
  `;
  const kept = all.filter(({ pid }) =>
    pids.filter((other) => other.pid % 16 === pid % 16).length === 1
  ).slice(0, 2).map(({ sql }) => sql);
  for (const { sql } of all) if (!kept.includes(sql)) await sql.end();
  return kept.map((sql) => ({ sql, locked: new Set() }));
}

function connect(url: string): postgres.Sql {
  const { prepare } = SETTINGS;
  return postgres(url, { max: 1, fetch_types: false, prepare, onnotice() {} });
}

async function play(
  app: App,
  org: Organization,
  copy: Copy,
  sessions: Session[],
  steps: Step[],
): Promise<void> {
  for (const session of sessions) session.locked.clear();
  for (const step of steps) {
    const rows = await app.sql<{ id: string }[]>`
      select id from products where organization_id = ${org.id} order by id
    `;
    const free = rows.filter(({ id }) => sessions.every(({ locked }) => !locked.has(id)));
    const id = free[step.product % free.length]?.id;
    await happen(app, org, sessions, step, id);
    if (step.reads > 0) await copy.read(`limit=${step.reads}`);
  }
}

/** Runs a statement. A session that is older than a change of the product is refused, and rolls back. */
async function orRollback(session: Session, statement: Promise<unknown>): Promise<boolean> {
  try {
    await statement;
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "40001") throw error;
    await session.sql`rollback`;
    session.locked.clear();
    return false;
  }
}

async function happen(
  app: App,
  org: Organization,
  sessions: Session[],
  { what, session: at, commits, product }: Step,
  id?: string,
): Promise<void> {
  const session = sessions[at % sessions.length];
  switch (what) {
    case "create":
      await org.create({ title: `Emma ${product}` });
      break;
    case "update":
      if (!id) break;
      await org.put(`/api/products/${id}`, { title: `Again ${product}` });
      break;
    case "delete":
      if (id) await org.delete(`/api/products/${id}`);
      break;
    case "open":
      if (!session || !id) break;
      await begin(session);
      session.locked.add(id);
      await orRollback(
        session,
        session
          .sql`update products set title = 'Open' where organization_id = ${org.id} and id = ${id}`,
      );
      break;
    case "insert":
      if (session) {
        await begin(session);
        await session
          .sql`insert into products (organization_id, title) values (${org.id}, 'Open')`;
      } else {
        await app
          .sql`insert into products (organization_id, title) values (${org.id}, 'By SQL')`;
      }
      break;
    case "remove":
      if (!id) break;
      if (session) {
        await begin(session);
        session.locked.add(id);
        const isDeleted = await orRollback(
          session,
          session.sql`delete from products where organization_id = ${org.id} and id = ${id}`,
        );
        // The same product may be inserted again.
        if (commits && isDeleted) {
          await session
            .sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'Back')`;
        }
      } else {
        await app
          .sql`delete from products where organization_id = ${org.id} and id = ${id}`;
      }
      break;
    case "end":
      if (!session) break;
      await (commits ? session.sql`commit` : session.sql`rollback`);
      session.locked.clear();
  }
}

/** In an open transaction, BEGIN only warns. */
async function begin({ sql, locked }: Session): Promise<void> {
  if (locked.size === 0) await sql`begin`;
  // Members of the set keep their transaction open. An insert locks no rows of others.
  locked.add("begun");
}

async function storm(app: App, url: string): Promise<void> {
  const org = await app.organization();
  const copy = new Copy(org, app);
  const until = performance.now() + 4_000;
  let writes = 0;

  async function overApi(): Promise<void> {
    while (performance.now() < until) {
      const { id, path } = await org.create();
      await org.put(path, { product_prices: [{ currency_code: "USD" }] });
      if (Math.random() < 0.4) await org.delete(`/api/products/${id}`);
      writes += 2;
    }
  }
  async function bySql(): Promise<void> {
    const sql = connect(url);
    while (performance.now() < until) {
      await sql.begin(async (sql) => {
        const [{ id }] = await sql`
          insert into products (organization_id, title) values (${org.id}, 'By SQL') returning id
        ` as unknown as [{ id: string }];
        await pause(Math.random() * 50);
        await sql`update products set title = 'Again' where organization_id = ${org.id} and id = ${id}`;
        if (Math.random() < 0.3) throw new Error("Rolled back");
        if (Math.random() < 0.3) {
          await sql`delete from products where organization_id = ${org.id} and id = ${id}`;
        }
      }).catch((error) => assertEquals(error.message, "Rolled back"));
    }
    await sql.end();
  }
  async function follow(): Promise<void> {
    while (performance.now() < until) await copy.read("limit=1000");
  }
  await Promise.all([
    ...Array.from({ length: 32 }, overApi),
    ...Array.from({ length: 3 }, bySql),
    follow(),
  ]);

  assert(writes > 50);
  await copy.catchUp("limit=100");
  await copy.assertComplete();
}
