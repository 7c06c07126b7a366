import { organization, raw, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { carriedBy, CATALOGUE, columnsOfTables, KINDS } from "./kinds.ts";
import { linesOf, unhurried } from "./read_lines.ts";

/** Where the lines of an export go. */
export interface Sink {
  /** Takes whole lines. Gives false when there is no reader any more: then the export ends. */
  write(lines: string): Promise<boolean>;
  /** Hears how many of how many lines are written. */
  progress?: ((written: number, of: number) => void) | undefined;
}

/** About as many characters are in memory at a time, whatever the size of a record. */
const PAGE_LENGTH = 4_000_000;

const MOST_LINES = 500;

/**
 * Writes the organization, as it is at one moment, in the format of `kinds.ts`.
 * The same content is always the same text. Throws where there is no such
 * organization.
 */
export async function exportCatalogue(
  database: Operations,
  sink: Sink,
): Promise<void> {
  let hasBegun = false;
  await database.transaction(async (tx) => {
    // A transaction that is tried again would write its lines twice.
    if (hasBegun) {
      throw new Error("The export is incomplete: the connection was lost");
    }
    // Read only, it gets no transaction id for which readers of changes would wait.
    await tx.send(
      sql`set transaction isolation level repeatable read, read only`,
      ...unhurried,
    );
    const [[named]] = await tx.send(
      sql<
        { name: string }
      >`select name from organizations where id = ${organization}`,
    );
    if (!named) throw new Error("There is no organization with this id");
    hasBegun = true;
    await writeLines(tx, named.name, sink);
    await tx.commit();
  });
}

async function writeLines(
  tx: Transaction,
  name: string,
  { write, progress }: Sink,
): Promise<void> {
  let written = 0;
  const records = await countLines(tx);
  const first = { ...CATALOGUE, organization: { name }, records };
  if (!await write(`${JSON.stringify(first)}\n`)) return;

  const [columns] = await tx.send(columnsOfTables);
  for (const [kind, carried] of carriedBy(columns)) {
    const page = (limit: number, after?: string) =>
      linesOf(
        kind,
        carried,
        sql`
        ${after === undefined ? [] : sql`and id > ${after}`}
        order by id
        limit ${limit}
      `,
      );
    let limit = MOST_LINES / 5;
    let [rows] = await tx.send(page(limit));
    while (rows.length > 0) {
      const text = rows.map(({ line }) => `${line}\n`).join("");
      const isLast = rows.length < limit;
      const mean = text.length / rows.length;
      limit = Math.ceil(Math.min(MOST_LINES, PAGE_LENGTH / mean));
      // The database reads the next page while this one is written.
      const [isTaken, [next]] = await Promise.all([
        write(text),
        isLast ? [] : tx.send(page(limit, rows.at(-1)!.id)),
      ]);
      if (!isTaken) return;
      progress?.(written += rows.length, records);
      if (!next) break;
      rows = next;
    }
  }
}

async function countLines(tx: Transaction): Promise<number> {
  const counts = await tx.send(
    ...Object.values(KINDS).map(({ table }) =>
      sql<{ count: number }>`
        select count(*)::float8 as count
        from ${raw(table)}
        where organization_id = ${organization}
      `
    ),
  );
  return counts.reduce((sum, [row]) => sum + row!.count, 0);
}
