import { joined, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import { readerSettings, type Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import { currentProduct, validDocument } from "../../../db/products/documents/document.ts";
import { selectOrganization } from "../../../db/records/organization.ts";
import { recordJson } from "../../../db/records/records.ts";
import { inSnapshot } from "../../../db/snapshot.ts";
import { CATALOGUE, LINE_KINDS, type LineTable, ONIX_TABLES } from "../../../schema/lines.ts";

/* Exports an organization as lines of JSON, from one snapshot. */

/** The output of an export. */
export interface ExportOutput {
  /** Writes whole lines. */
  write(lines: string): Promise<void>;
  /** Called after each page with the lines written so far and the total. */
  progress?: ((written: number, total: number) => void) | undefined;
}

/** The target size of a page in characters, which bounds the memory in use. */
const PAGE_LENGTH = 4_000_000;

const MAX_LINES = 500;

/** The settings of a transfer: every database writes the same times, and no time limits. */
export const transferSettings: readonly Statement[] = [
  // A node of Citus formats the times.
  sql`set local citus.propagate_set_commands = 'local'`,
  sql`set local timezone = 'UTC'`,
  ...readerSettings,
  // The planner overestimates the size of arrays: JIT would take longer than the query.
  sql`set local jit = off`,
];

/**
 * Writes a consistent snapshot of the organization in the format of `schema/lines.ts`. The same
 * content always produces the same text. Throws for an unknown organization.
 */
export async function exportCatalogue(
  database: Queries,
  output: ExportOutput,
): Promise<void> {
  await inSnapshot(database, transferSettings, async (tx) => {
    const [[found]] = await tx.send(selectOrganization);
    if (!found) throw new Error("There is no organization with this id");
    const { id: _, ...own } = JSON.parse(found.record);
    await writeLines(tx, own, output);
  });
}

async function writeLines(
  tx: Transaction,
  own: object,
  { write, progress }: ExportOutput,
): Promise<void> {
  let written = 0;
  const total = await countRecords(tx);
  const header = { ...CATALOGUE, organization: own, records: total };
  await write(`${JSON.stringify(header)}\n`);
  for (const kind of LINE_KINDS.keys()) {
    let limit = MAX_LINES / 5;
    let range = sql`order by r.id limit ${limit}`;
    for (;;) {
      const [rows] = await tx.send(selectLines(kind, range));
      const text = rows.map(({ line }) => `${line}\n`).join("");
      await write(text);
      progress?.(written += rows.length, total);
      if (rows.length < limit) break;
      const meanLength = text.length / rows.length;
      limit = Math.ceil(Math.min(MAX_LINES, PAGE_LENGTH / meanLength));
      range = sql`and r.id > ${rows.at(-1)!.id} order by r.id limit ${limit}`;
    }
  }
}

async function countRecords(tx: Transaction): Promise<number> {
  const counts = await tx.send(
    ...Array.from(LINE_KINDS.values(), ({ table }) =>
      sql<{ count: number }>`
        select count(*)::float8 as count
        from ${raw(table)} r
        where r.organization_id = ${organization}
      `),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}

/** The ONIX records stored alongside product `r`. */
const onixRows = joined(ONIX_TABLES.map((table) =>
  sql`array(
    select to_jsonb(n) - '{organization_id,product_id,reading}'::text[]
    from ${raw(table)} n
    where n.organization_id = ${organization} and n.product_id = r.id
    order by 1
  ) as ${raw(table)}`
));

/** The stored data of row `r` that `GET` does not show, by table. */
const NOT_SHOWN: Partial<Record<LineTable, Statement>> = {
  products: onixRows,
  publishing_programs: sql`array(
    select x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization} and x.program_id = r.id
    order by 1
  ) as products`,
};

/** Product `r` as `GET` shows it, without the organization: the file may be imported into another. */
const productLine = sql`
  replace(${currentProduct}, '"organization_id":"' || o.id || '",', '')
`;

/**
 * Selects the lines of a kind, of rows `r`. `range` follows the condition on the
 * organization.
 */
export function selectLines(
  kind: string,
  range: Statement,
): Statement<{ id: string; line: string }> {
  const { table } = LINE_KINDS.get(kind)!;
  const stored = NOT_SHOWN[table];
  const isProduct = table === "products";
  const shown = isProduct ? productLine : recordJson(table);
  const document = sql`
    join products p on p.organization_id = ${organization} and p.id = r.id
    join organizations o on o.id = ${organization}
    ${validDocument}
  `;
  return sql`
    select r.id, '{"kind":"${raw(kind)}",' || trim(both '{}' from ${shown}) ${
    stored ? sql`|| ',"stored":' || (select row_to_json(s) from (select ${stored}) s)` : []
  } || '}' as line
    from ${raw(table)} r
    ${isProduct ? document : []}
    where r.organization_id = ${organization} ${range}
  `;
}
