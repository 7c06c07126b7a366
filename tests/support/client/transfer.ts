import type { Session } from "../../../db/command_line/arguments.ts";
import { sessionOf } from "../../../db/commands/cli.ts";
import { asScript } from "../../../db/connections/transaction.ts";
import { raw } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { seed } from "../../../db/migrate.ts";
import { DEMO } from "../../../db/sql_files.ts";
import { exportCatalogue } from "../../../features/transfer/db/export.ts";
import { CATALOGUE } from "../../../schema/lines.ts";
import { importCatalogue } from "../../../features/transfer/db/import.ts";
import type { App } from "../app/harness.ts";
import { ROOT } from "../app/process.ts";

/** The organization of `sql/demo.sql`. */
export const DEMO_ORGANIZATION = "00000000-0000-4000-8000-000000000001";

/** The operations of commands on the database, of an organization or of all. */
export function commandsOn({ database }: App) {
  return (organizationId?: string): Queries =>
    database.for({
      deadline: performance.now() + 600_000,
      caller: organizationId ? { organizationId, name: "test" } : undefined,
    });
}

/** The session of commands on the database. */
export function sessionOn(app: App): Session {
  const database = commandsOn(app);
  return sessionOf(() => undefined, (id) => Promise.resolve(database(id)));
}

/** Runs SQL like an operator. */
export async function execute(
  database: Queries,
  ...statements: string[]
): Promise<Record<string, unknown>[]> {
  const replies = await database.transaction(
    (tx) => tx.commit(...statements.map(raw)),
    asScript,
  );
  return replies.at(-1) as Record<string, unknown>[];
}

/** Installs the demo organization, with values that are hard to export. */
export async function fillDemo(database: Queries): Promise<void> {
  await seed(database, [DEMO.pathname]);
  await execute(
    database,
    `update product_prices set retail_price = 999999999999.9999, position = 0`,
    `update custom_field_values set field_value = '123456789012345678901234567890.50'
      where jsonb_typeof(field_value) = 'number'`,
    String
      .raw`update collateral set text = E'"\\" \u2028 \u0001\n😀' where text is not null`,
    `update products set publication_date = '0001-02-03', updated_at = '2199-01-02 03:04:05.006+07'
      where isbn13 is not null`,
    `insert into onix_records
        (organization_id, product_id, record_reference, record, digest, reading, product_updated_at, differences, identities)
      select organization_id, id, 'ref/' || product_code, '<Product><RecordReference>"\u2028</RecordReference></Product>',
        'x', 'x', updated_at, '{"title": ["x"]}', '{"publisher": "x"}'
      from products where isbn13 is not null`,
    `insert into onix_aliases (organization_id, product_id, record_reference)
      select organization_id, id, r || product_code from products, unnest(array['a/', 'b/']) r`,
    `update onix_records set sender_name = 'Press'`,
    `insert into onix_senders
        (organization_id, product_id, sender_name, sent_at, record, digest, differences, identities)
      select organization_id, id, 'Shop', '2026-11-24 12:00:00.000001+01', '<Product/>', 'y', '{"title": 1}', '{"0": "x"}'
      from products`,
  );
}

/** The export of an organization, as text. */
export async function exported(database: Queries): Promise<string> {
  let text = "";
  await exportCatalogue(database, {
    write(lines) {
      text += lines;
      return Promise.resolve();
    },
  });
  return text;
}

/** The text of records after a header. */
export function withHeader(records: string): string {
  const header = {
    kind: "catalogue",
    version: CATALOGUE.version,
    organization: { name: "Test" },
  };
  return `${JSON.stringify(header)}\n${records}`;
}

/** Imports the text, and returns the rejected lines as `number: reason`, and how many are missing. */
export async function imported(
  database: Queries,
  text: string | Uint8Array<ArrayBuffer>,
  { rename = false } = {},
): Promise<string[]> {
  const refused: string[] = [];
  const { records, announced } = await importCatalogue(database, new Blob([text]).stream(), {
    rename,
    refused: (number, reason) => refused.push(`${number}: ${reason}`),
    progress() {},
  });
  if (records < announced) refused.push(`${records} of ${announced} records`);
  return refused;
}

/** Runs a command in a separate process. `line` is shell code, with the command as `$0`. */
export function command(env: Record<string, string>, line: string) {
  return new Deno.Command("sh", {
    args: ["-c", line, `${Deno.execPath()} run --quiet -A db/commands/cli.ts`],
    cwd: ROOT,
    env: { DATABASE_URL: "", DATA_DIR: "", NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
