import { raw, sql, type Statement } from "./connections/sql.ts";
import type { Queries } from "./database.ts";
import { MAX_RESPONSE_BYTES } from "./sizes.ts";

/*
 * Reads texts that may be larger than the reserved memory. The statement first returns only the
 * size of such a text. Memory is reserved for it, and the row is read again.
 */

/** The column `too_long` of a row that may have a long text: its bytes, if it is longer than allowed. */
export interface LongText {
  /** The size of the text in bytes if it is longer than allowed, and thus absent. Otherwise null. */
  too_long: number | null;
}

/** The column `name` with the text, or null if it is longer than allowed, and the column `too_long`. */
export function upTo(
  allowed: number | Statement,
  text: Statement,
  name: string,
  bytes = sql`octet_length(${text})`,
): Statement {
  return sql`
    case when ${bytes} <= ${allowed}::int then ${text} end as ${raw(name)},
    case when ${bytes} > ${allowed}::int then ${bytes} end as too_long
  `;
}

/**
 * Reads a row whose text may be longer than the reserved memory. `statement` omits a text of more
 * bytes than are allowed. Memory is then reserved for its size, and the row is read again. A text
 * of more than 16 MiB is not read. `size`: the size of the text, if it is known.
 */
export async function readLong<Row extends LongText>(
  database: Queries,
  kind: "lookUp" | "scan",
  statement: (allowed: number) => Statement<Row>,
  size = 0,
): Promise<Row | undefined> {
  const { memory } = database;
  while (true) {
    await reserveFor(database, size);
    const [row] = await database[kind](statement(memory?.bytes ?? MAX_RESPONSE_BYTES));
    if (!row?.too_long || row.too_long > MAX_RESPONSE_BYTES) return row;
    size = row.too_long;
  }
}

/** Reserves memory for texts of this size, unless as much is reserved. */
export async function reserveFor({ memory }: Queries, bytes: number): Promise<void> {
  if (memory && bytes > memory.bytes) await memory.reserve(bytes);
}
