import { names, organization, sql } from "../connections/sql.ts";
import { isRefusal, refusalOf } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { type Carried, carriedBy, columnsOfTables, TABLES } from "./kinds.ts";
import { linesIn, parseLine, type RecordLine, Refusal } from "./parse_line.ts";
import { type Line, linesOf, unhurried } from "./read_lines.ts";
import {
  among,
  clearRecords,
  lockRecords,
  writeRecords,
} from "./write_lines.ts";

/** Hears how an import goes. */
export interface Listener {
  /** A line is refused, for this reason. */
  refused(number: number, reason: string): void;
  /** As many lines are done, and as many bytes of the file. */
  progress(lines: number, bytes: number): void;
}

/** A transaction takes at most so many lines, and about as many characters. */
const MOST_LINES = 200;
const MOST_LENGTH = 4_000_000;

/**
 * After so many records of a kind, and after each ten times as many, the planner
 * gets to know them: for tables that it last saw empty, any index is as good.
 */
const FIRST_ANALYZE = 400;

/**
 * Makes every record of a file in the format of `kinds.ts` what its line says,
 * and creates the organization where it is not there. Records without a line
 * stay. A line that is refused hides no other, and a line that changes nothing
 * writes nothing. Throws what is no fault of a line.
 */
export async function importCatalogue(
  database: Operations,
  file: AsyncIterable<Uint8Array>,
  { refused, progress }: Listener,
): Promise<void> {
  const kinds = carriedBy(await database.scan(columnsOfTables));
  let number = 0;
  let end = 0;
  let batch: RecordLine[] = [];
  let length = 0;
  let records = 0;
  let expected = 0;
  let written = 0;
  let analyzeAt = FIRST_ANALYZE;

  /** Halves a batch that fails, until the lines at fault stand alone. */
  async function write(batch: RecordLine[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await writeAll(database, kinds.get(batch[0]!.kind)!, batch);
    } catch (error) {
      const reason = reasonOf(error);
      if (batch.length === 1) return refused(batch[0]!.number, reason);
      const middle = batch.length >> 1;
      await write(batch.slice(0, middle));
      await write(batch.slice(middle));
    }
  }

  async function flush(): Promise<void> {
    await write(batch);
    written += batch.length;
    if (written >= analyzeAt) {
      await database.transaction((tx) =>
        tx.commit(...unhurried, sql`analyze ${names(...TABLES)}`)
      );
      analyzeAt *= 10;
    }
    batch = [];
    length = 0;
    progress(number, end);
  }

  async function take(number: number, bytes: Uint8Array): Promise<void> {
    const line = parseLine(bytes, kinds);
    if (!line) return;
    if ("name" in line) {
      expected += line.records;
      await flush();
      return await nameOrganization(database, line.name);
    }
    records++;
    if (batch[0] && batch[0].kind !== line.kind) {
      await flush();
      written = 0;
      analyzeAt = FIRST_ANALYZE;
    }
    batch.push({ number, ...line });
    length += line.text.length;
  }

  for await (const bytes of linesIn(file)) {
    try {
      await take(number + 1, bytes);
    } catch (error) {
      records++;
      refused(number + 1, reasonOf(error));
    }
    number++;
    end += bytes.length;
    if (batch.length >= MOST_LINES || length >= MOST_LENGTH) await flush();
  }
  await flush();
  if (records < expected) {
    refused(
      number + 1,
      `The file ends here, after ${records} of ${expected} records`,
    );
  }
}

/** Writes records of one kind in one transaction. */
async function writeAll(
  database: Operations,
  carried: Carried,
  batch: readonly RecordLine[],
): Promise<void> {
  const ids = batch.map(({ id }) => id);
  const [{ kind }] = batch as [RecordLine];
  await database.transaction(async (tx) => {
    const results = await tx.send(
      ...unhurried,
      lockRecords(carried, ids),
      linesOf(kind, carried, sql`and id ${among(ids)}`),
    );
    const stored = new Map(
      (results.at(-1) as Line[]).map(({ id, line }) => [id, line]),
    );
    // An import that runs again writes only what it has not written before.
    const changed = batch.filter(({ id, text }) => stored.get(id) !== text);
    const given = changed.map(({ id }) => id);
    const known = given.filter((id) => stored.has(id));
    const lines = `[${changed.map(({ text }) => text).join()}]`;
    await tx.commit(
      ...known.length > 0 ? clearRecords(carried, known, lines) : [],
      ...given.length > 0 ? writeRecords(carried, given, lines) : [],
    );
  });
}

/** Creates the organization, or gives it this name. */
async function nameOrganization(
  database: Operations,
  name: string,
): Promise<void> {
  await database.transaction((tx) =>
    tx.commit(sql`
      insert into organizations as o (id, name)
      values (${organization}, ${name})
      on conflict (id) do update set name = excluded.name
      where o.name <> excluded.name
    `)
  );
}

/** Why a line is refused. Throws what is no fault of a line. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (isRefusal(error)) return refusalOf(error);
  throw error;
}
