import { organization, sql, type Statement } from "../connections/sql.ts";
import { isRefusal, refusalOf } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { linesIn } from "./byte_lines.ts";
import { readKinds } from "./columns.ts";
import { lineStatements, unhurried } from "./line_statements.ts";
import { lineParser, type RecordLine, Refusal } from "./parse_line.ts";
import { writeStatements } from "./write_statements.ts";

/** Who hears of an import. */
export interface Listener {
  /** Hears of each line that is refused, and why. */
  refused(number: number, reason: string): void;
  /** Hears how many lines are done, and how many bytes of the file. */
  progress(lines: number, bytes: number): void;
}

/** A transaction takes at most so many lines, and about as many characters. */
const MOST_LINES = 200;
const MOST_LENGTH = 4_000_000;

/**
 * Makes every record of the file what its line says, and creates the
 * organization where it is not there. Records that no line names stay. A line
 * that is refused hides no other; a line that changes nothing writes nothing.
 * Throws what is no fault of a line.
 */
export async function importCatalogue(
  database: Operations,
  file: AsyncIterable<Uint8Array>,
  listener: Listener,
): Promise<void> {
  const write = await lineWriter(database, listener);
  const parse = lineParser(write.kinds);
  let batch: RecordLine[] = [];
  let length = 0;

  async function flush(): Promise<void> {
    await write.lines(batch);
    batch = [];
    length = 0;
  }

  let last = { number: 0, end: 0 };
  for await (const { number, bytes, end } of linesIn(file)) {
    last = { number, end };
    try {
      const line = parse(number, bytes);
      if (!line) continue;
      if ("name" in line) {
        await flush();
        await database.transaction((tx) => tx.commit(named(line.name)));
        continue;
      }
      if (batch[0] && batch[0].kind !== line.kind) await flush();
      batch.push(line);
      length += line.text.length;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      listener.refused(number, error.message);
    }
    if (batch.length < MOST_LINES && length < MOST_LENGTH) continue;
    await flush();
    listener.progress(number, end);
  }
  await flush();
  listener.progress(last.number, last.end);
}

/** Creates the organization, or gives it this name. */
function named(name: string): Statement {
  return sql`
    insert into organizations as o (id, name)
    values (${organization}, ${name})
    on conflict (id) do update set name = excluded.name
    where o.name <> excluded.name
  `;
}

async function lineWriter(database: Operations, { refused }: Listener) {
  const kinds = await database.transaction(async (tx) => {
    const kinds = await readKinds(tx);
    await tx.commit();
    return kinds;
  });
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
        (results.at(-1) as { id: string; line: string }[])
          .map(({ id, line }) => [id, line]),
      );
      const changed = batch.filter(({ id, text }) => stored.get(id) !== text);
      const given = changed.map(({ id }) => id);
      const known = given.filter((id) => stored.has(id));
      const text = `[${changed.map(({ text }) => text).join()}]`;
      await tx.commit(
        ...known.length > 0 ? clear(known) : [],
        ...given.length > 0 ? write(given, text) : [],
      );
    });
  }

  /** Halves a batch that fails, until the lines at fault stand alone. */
  async function lines(batch: readonly RecordLine[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await writeAll(batch);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (batch.length === 1) {
        return refused(batch[0]!.number, refusalOf(error));
      }
      const middle = batch.length >> 1;
      await lines(batch.slice(0, middle));
      await lines(batch.slice(middle));
    }
  }

  return { kinds, lines };
}
