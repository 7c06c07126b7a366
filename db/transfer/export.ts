import { organization, raw, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { inSnapshot } from "../snapshot.ts";
import { LINE_KINDS } from "../../schema/lines.ts";
import {
  CATALOGUE,
  formatsByKind,
  listColumns,
  selectLines,
  transferSettings,
} from "./format.ts";

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

/**
 * Writes a consistent snapshot of the organization in the format of `format.ts`.
 * The same content always produces the same text. Throws for an unknown
 * organization.
 */
export async function exportCatalogue(
  database: Queries,
  output: ExportOutput,
): Promise<void> {
  await inSnapshot(database, transferSettings, async (tx) => {
    const [[found]] = await tx.send(
      sql<{ name: string }>`
        select name from organizations where id = ${organization}
      `,
    );
    if (!found) throw new Error("There is no organization with this id");
    await writeLines(tx, found.name, output);
  });
}

async function writeLines(
  tx: Transaction,
  name: string,
  { write, progress }: ExportOutput,
): Promise<void> {
  let written = 0;
  const total = await countRecords(tx);
  const header = { ...CATALOGUE, organization: { name }, records: total };
  await write(`${JSON.stringify(header)}\n`);

  const [columns] = await tx.send(listColumns);
  for (const [kind, format] of formatsByKind(columns)) {
    const page = (limit: number, after?: string) =>
      selectLines(
        kind,
        format,
        sql`
        ${after === undefined ? [] : sql`and id > ${after}`}
        order by id
        limit ${limit}
      `,
      );
    let limit = MAX_LINES / 5;
    let [rows] = await tx.send(page(limit));
    while (rows.length > 0) {
      const text = rows.map(({ line }) => `${line}\n`).join("");
      const isLast = rows.length < limit;
      const meanLength = text.length / rows.length;
      limit = Math.ceil(Math.min(MAX_LINES, PAGE_LENGTH / meanLength));
      // The database reads the next page while this one is written.
      const [, [next]] = await Promise.all([
        write(text),
        isLast ? [] : tx.send(page(limit, rows.at(-1)!.id)),
      ]);
      progress?.(written += rows.length, total);
      if (!next) break;
      rows = next;
    }
  }
}

async function countRecords(tx: Transaction): Promise<number> {
  const counts = await tx.send(
    ...Object.values(LINE_KINDS).map(({ table }) =>
      sql<{ count: number }>`
        select count(*)::float8 as count
        from ${raw(table)}
        where organization_id = ${organization}
      `
    ),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}
