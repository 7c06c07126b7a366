import { isRefusal, refusalOf } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import type { Carried } from "./columns.ts";
import { type Line, lineStatements, unhurried } from "./line_statements.ts";
import type { RecordLine } from "./parse_line.ts";
import { writeStatements } from "./write_statements.ts";

/** Writes records of one kind: all of them but those that it reports. */
export type BatchWriter = (batch: readonly RecordLine[]) => Promise<void>;

/**
 * Makes the function that writes a batch, in one transaction where no line is at
 * fault. It throws what is no fault of a line.
 */
export function batchWriter(
  database: Operations,
  kinds: ReadonlyMap<string, Carried>,
  refused: (number: number, reason: string) => void,
): BatchWriter {
  const statements = new Map([...kinds].map(([kind, carried]) => [kind, {
    ...lineStatements(kind, carried),
    ...writeStatements(carried),
  }]));

  async function writeAll(batch: readonly RecordLine[]): Promise<void> {
    const { lock, byIds, clear, write } = statements.get(batch[0]!.kind)!;
    const ids = batch.map(({ id }) => id);
    await database.transaction(async (tx) => {
      const results = await tx.send(...unhurried, lock(ids), byIds(ids));
      const stored = new Map(
        (results.at(-1) as Line[]).map(({ id, line }) => [id, line]),
      );
      // An import that runs again writes only what it has not written before.
      const changed = batch.filter(({ id, text }) => stored.get(id) !== text);
      const given = changed.map(({ id }) => id);
      const known = given.filter((id) => stored.has(id));
      const lines = `[${changed.map(({ text }) => text).join()}]`;
      await tx.commit(
        ...known.length > 0 ? clear(known, lines) : [],
        ...given.length > 0 ? write(given, lines) : [],
      );
    });
  }

  /** Halves a batch that fails, until the lines at fault stand alone. */
  return async function write(batch) {
    const [first] = batch;
    if (!first) return;
    try {
      await writeAll(batch);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (batch.length === 1) return refused(first.number, refusalOf(error));
      const middle = batch.length >> 1;
      await write(batch.slice(0, middle));
      await write(batch.slice(middle));
    }
  };
}
