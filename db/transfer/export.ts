import { organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { readKinds } from "./columns.ts";
import { CATALOGUE } from "./kinds.ts";
import { lineStatements, unhurried } from "./line_statements.ts";

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
    const results = await tx.send(
      sql`set transaction isolation level repeatable read, read only`,
      ...unhurried,
      nameOfOrganization,
    );
    const [named] = results.at(-1) as { name: string }[];
    if (!named) throw new Error("There is no organization with this id");
    hasBegun = true;
    await writeLines(tx, named.name, sink);
    await tx.commit();
  });
}

const nameOfOrganization = sql<{ name: string }>`
  select o.name from organizations o where o.id = ${organization}
`;

async function writeLines(
  tx: Transaction,
  name: string,
  { write, progress }: Sink,
): Promise<void> {
  const kinds = [...await readKinds(tx)].map(([kind, carried]) =>
    lineStatements(kind, carried)
  );
  let written = 0;
  const counts = await tx.send(...kinds.map(({ count }) => count));
  const records = counts.reduce((sum, [row]) => sum + row!.count, 0);
  const first = JSON.stringify({
    ...CATALOGUE,
    organization: { name },
    records,
  });
  if (!await write(`${first}\n`)) return;

  for (const { page } of kinds) {
    let limit = MOST_LINES / 5;
    let [rows] = await tx.send(page(undefined, limit));
    while (rows.length > 0) {
      const text = rows.map(({ line }) => `${line}\n`).join("");
      const isLast = rows.length < limit;
      const mean = text.length / rows.length;
      limit = Math.ceil(Math.min(MOST_LINES, PAGE_LENGTH / mean));
      // The database reads the next page while this one is written.
      const [isTaken, next] = await Promise.all([
        write(text),
        isLast ? [[]] : tx.send(page(rows.at(-1)!.id, limit)),
      ]);
      if (!isTaken) return;
      progress?.(written += rows.length, records);
      rows = next[0]! as typeof rows;
    }
  }
}
