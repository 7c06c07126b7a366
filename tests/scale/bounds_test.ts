import { assert, assertEquals } from "@std/assert";
import type { Transaction } from "../../db/connections/transaction.ts";
import { type Database } from "../../db/database.ts";
import { sql } from "../../db/connections/sql.ts";
import { type App, openApp, send } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";
import type { Organization } from "../support/app/organization.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

/*
 * What a request takes of the database: the number of its statements does not depend on how many
 * rows and names it sends, and the number of its locks has a bound. PostgreSQL keeps the locks of
 * all its databases in one table of a fixed size.
 */

/** What requests have taken so far. */
interface Taken {
  statements: number;
  /** The most advisory locks of a transaction. */
  locks: number;
}

/** The same database, which counts what requests take of it. */
function measured(database: Database): { database: Database; taken: Taken } {
  const taken: Taken = { statements: 0, locks: 0 };
  const measuring = (tx: Transaction): Transaction => ({
    isDistributed: tx.isDistributed,
    author: tx.author,
    async send(...flight) {
      taken.statements += flight.length;
      const results = await tx.send(...flight);
      const [[row]] = await tx.send(sql<{ locks: number }>`
        select count(*)::int as locks
        from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid()
      `);
      taken.locks = Math.max(taken.locks, row!.locks);
      return results;
    },
    commit(...flight) {
      taken.statements += flight.length;
      return tx.commit(...flight);
    },
  });
  const changed = withOperations(database, (operations) => ({
    ...operations,
    transaction: (work, ...opening) =>
      operations.transaction((tx) => work(measuring(tx)), ...opening),
  }));
  return { database: changed, taken };
}

/** What is sent: rows or records, each with names that no other has. */
interface Input {
  path: string;
  type: string;
  body(rows: number, names: number, prefix: string): string;
}

const each = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i));

const sheetOf: Input["body"] = (rows, names, prefix) =>
  [
    "title,isbn13,contributors",
    ...each(rows, (row) => {
      const cell = each(names, (i) => `${prefix} ${row} ${i} (A01)`).join("; ");
      return `Emma,,"${cell}"`;
    }),
  ].join("\n");

const batchOf = (method: object, bodyOf: (row: number, names: string[]) => object) =>
(
  rows: number,
  names: number,
  prefix: string,
) =>
  JSON.stringify({
    return: "minimal",
    operations: Array.from({ length: rows }, (_, row) => ({
      ...method,
      body: {
        title: "Emma",
        ...bodyOf(row, each(names, (i) => `${prefix} ${row} ${i}`)),
      },
    })),
  });

const contributorsOf = (names: string[]) => ({
  contributors: names.map((contributor_name) => ({
    contributor_name,
    contributor_role_code: "A01",
  })),
});

const INPUTS: Record<string, Input> = {
  "a sheet that creates names": {
    path: "csv/products?create=true&create_names=true",
    type: "text/csv",
    body: sheetOf,
  },
  "a sheet of unknown names": {
    path: "csv/products?create=true",
    type: "text/csv",
    body: sheetOf,
  },
  "a batch of unknown names": {
    path: "products/batch",
    type: "application/json",
    body: batchOf({ method: "create" }, (_, names) => contributorsOf(names)),
  },
  "a batch of unknown names, and other faults": {
    path: "products/batch",
    type: "application/json",
    body: batchOf({ method: "create" }, (_, names) => ({
      page_count: "x",
      ...contributorsOf(names),
    })),
  },
  "a batch of upserts": {
    path: "products/batch",
    type: "application/json",
    body: batchOf({ method: "upsert", match: "isbn13" }, (row, names) => ({
      isbn13: isbnOf(names.length * 1_000 + row),
      product_identifiers: names.map((id_value) => ({
        product_id_type: "01",
        id_type_name: id_value,
        id_value,
      })),
    })),
  },
  "ONIX that creates names": {
    path: "onix/products",
    type: "application/xml",
    body: (rows, names, prefix) =>
      message(...each(rows, (row) =>
        record({
          reference: `${prefix}.${row}`,
          isbn: null,
          imprint: `${prefix} Imprint ${row}`,
          publisher: `${prefix} Publisher ${row}`,
          collection: `${prefix} Series ${row}`,
          contributors: each(names, (i) => `${prefix} ${row} ${i}`),
        }))),
  },
};

/** The most locks: a slot for a name, and the keys of each row. */
const maxLocks = (rows: number) => 80 + 3 * rows;

Deno.test("The statements and locks of", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  for (const [what, input] of Object.entries(INPUTS)) {
    await it(`${what} do not grow with it`, async () => {
      // The first one creates what all of them need, such as a format.
      await takenBy(app, org, input, 1, 1);
      const few = await takenBy(app, org, input, 3, 2);
      const many = await takenBy(app, org, input, 50, 20);

      assertEquals(many.statements, few.statements);
      assert(many.locks <= maxLocks(50), `${many.locks} locks`);
    });
  }
});

/** What a request with these rows, and names in each, takes of the database. */
async function takenBy(
  app: App,
  org: Organization,
  { path, type, body }: Input,
  rows: number,
  names: number,
): Promise<Taken> {
  const { database, taken } = measured(app.database);
  const { status, text } = await send(app.variant({ database }), `/api/${path}`, {
    method: "POST",
    headers: { "x-api-key": org.key, "content-type": type },
    body: body(rows, names, `${path.length} ${type.length} ${rows}`),
  });
  assertEquals(status, 200, text);
  return taken;
}
