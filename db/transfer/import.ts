import {
  names,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { isRefusal, refusalOf } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { batchWriter } from "./batch_writer.ts";
import { linesIn } from "./byte_lines.ts";
import { readKinds, tablesOf } from "./columns.ts";
import { KINDS } from "./kinds.ts";
import { unhurried } from "./line_statements.ts";
import { lineParser, type RecordLine, Refusal } from "./parse_line.ts";

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
  const kinds = await database.transaction(async (tx) => {
    const kinds = await readKinds(tx);
    await tx.commit();
    return kinds;
  });
  const parse = lineParser(kinds);
  const write = batchWriter(database, kinds, refused);
  let batch: RecordLine[] = [];
  let length = 0;
  let last = { number: 0, end: 0 };

  let records = 0;
  let expected = 0;
  let written = 0;
  let analyzeAt = FIRST_ANALYZE;

  async function flush(): Promise<void> {
    await write(batch);
    written += batch.length;
    if (written >= analyzeAt) {
      await database.transaction((tx) => tx.commit(...unhurried, analyze));
      analyzeAt *= 10;
    }
    batch = [];
    length = 0;
    progress(last.number, last.end);
  }

  async function take(number: number, bytes: Uint8Array): Promise<void> {
    const line = parse(number, bytes);
    if (!line) return;
    if ("name" in line) {
      expected += line.records;
      await flush();
      await database.transaction((tx) => tx.commit(named(line.name)));
      return;
    }
    records++;
    if (batch[0] && batch[0].kind !== line.kind) {
      await flush();
      written = 0;
      analyzeAt = FIRST_ANALYZE;
    }
    batch.push(line);
    length += line.text.length;
  }

  for await (const { number, bytes, end } of linesIn(file)) {
    try {
      await take(number, bytes);
    } catch (error) {
      records++;
      if (error instanceof Refusal) refused(number, error.message);
      else if (isRefusal(error)) refused(number, refusalOf(error));
      else throw error;
    }
    last = { number, end };
    if (batch.length >= MOST_LINES || length >= MOST_LENGTH) await flush();
  }
  await flush();
  if (records < expected) {
    refused(
      last.number + 1,
      `The file ends here, after ${records} of ${expected} records`,
    );
  }
}

const analyze = sql`analyze ${names(...tablesOf(Object.values(KINDS)))}`;

/** Creates the organization, or gives it this name. */
function named(name: string): Statement {
  return sql`
    insert into organizations as o (id, name)
    values (${organization}, ${name})
    on conflict (id) do update set name = excluded.name
    where o.name <> excluded.name
  `;
}
