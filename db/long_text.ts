import type { Statement } from "./connections/sql.ts";
import type { Queries } from "./database.ts";

/** The memory that a request has reserved for its response. */
export interface Memory {
  /** Reserves more bytes without waiting. Returns false beyond the caller's share, and while others wait. */
  take(bytes: number): boolean;
  /**
   * Reserves this number of bytes in all. Gives back what it has before it waits, so that
   * requests do not wait for each other. Throws `SERVICE_UNAVAILABLE` at the deadline.
   */
  hold(bytes: number): Promise<void>;
}

/** The size of a text that is read without reserved memory: no more are read at once than there are connections. */
export const SHORT_BYTES = 131_072;

/** The maximum size of the products in a response, in bytes. */
export const MAX_BYTES = 16 * 2 ** 20;

/** What a byte of a text takes while it becomes a response: the driver, the text and the response have copies. */
export const COPIES = 3;

/** The column `withheld` of a row that may have a long text. */
export interface LongText {
  /** The size of the text in bytes if it is longer than allowed, and thus absent. Otherwise null. */
  withheld: number | null;
}

/**
 * Reads a row with a text that may be long. `statement` withholds a text of more bytes than
 * it is given. Then memory is reserved, and the text is read again. A text of more than
 * 16 MiB stays withheld. Memory for a text of `likely` bytes is reserved before the first
 * attempt, if there is enough. `copies` is what a byte of the text takes.
 */
export async function readLong<Row extends LongText>(
  database: Queries,
  kind: "lookUp" | "scan",
  statement: (allowed: number) => Statement<Row>,
  likely = SHORT_BYTES,
  copies = COPIES,
): Promise<Row | undefined> {
  const { memory } = database;
  const hasMemory = likely <= SHORT_BYTES || !memory ||
    memory.take(likely * copies);
  let allowed = hasMemory ? likely : SHORT_BYTES;
  while (true) {
    const [row] = await database[kind](statement(allowed));
    if (!row?.withheld || row.withheld > MAX_BYTES) return row;
    allowed = row.withheld;
    await memory?.hold(allowed * copies);
  }
}
