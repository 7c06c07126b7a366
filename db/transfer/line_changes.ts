import { DEFECT, guarded } from "../../schema/defects.ts";
import type { RestoredLine } from "../../schema/bodies.ts";
import { ApiError } from "../../schema/errors.ts";
import type { LineTable } from "../../schema/lines.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isEqual } from "../../schema/objects.ts";
import { FIELDS } from "../../schema/product.ts";
import { RECORDS } from "../../schema/records.ts";
import { isAnyOf, organization, raw, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Creation, Write } from "../products/change.ts";
import { changedFields, partsOfRecord } from "../products/changed_fields.ts";
import { lockKeys } from "../products/keys.ts";
import { resolveNames, undecided } from "../products/names.ts";
import type { Cause } from "../products/write_together.ts";
import { selectLines, transferSettings } from "./export.ts";
import { LineError, readRecordLine, reasonOf, type RecordLine } from "./lines.ts";

/* What lines change. A line that is stored as it is in the file changes nothing, and is not read. */

/** A line that says something new. */
export interface ChangedLine extends Cause {
  number: number;
  /** What becomes of its record. */
  change: Write;
  /** The values of the line. */
  record: RestoredLine;
  /** The record, as a line has it. Absent for a new one. */
  before: RestoredLine | undefined;
  /** What it changes of what `GET` does not show. */
  stored: RestoredLine["stored"];
}

/**
 * Locks the records of the lines, and returns what the lines change, and by number why lines
 * are refused. Only lines that differ from what is stored are read. Imports into one
 * organization write one after the other: both may create the same records.
 */
export async function findChanges(
  tx: Transaction,
  lines: readonly RecordLine[],
): Promise<{ changes: ChangedLine[]; refused: Map<number, string> }> {
  const [{ kind, table }] = lines as [RecordLine];
  const areTheirs = sql`r.id ${isAnyOf(lines.map(({ id }) => id))}`;
  const results = await tx.send(
    ...transferSettings,
    lockKeys([{ kind: "import", value: "" }]),
    sql`
      select from ${raw(table)} r
      where r.organization_id = ${organization} and ${areTheirs}
      order by r.id
      for no key update
    `,
    selectLines(kind, sql`and ${areTheirs}`),
  );
  const found = results.at(-1) as { id: string; line: string }[];
  const texts = new Map(found.map(({ id, line }) => [id, line]));
  const { read, refused } = readDiffering(lines, texts);
  const named = await resolveNames(
    tx,
    read.map(({ record }): Creation | ApiError => {
      if (record instanceof ApiError) return record;
      const { id, ...body } = record;
      return undecided(body, id);
    }),
  );
  const changes = named.flatMap((found, i): ChangedLine[] => {
    const { number } = read[i]!;
    if (found instanceof ApiError) {
      refused.set(number, reasonOf(found.details));
      return [];
    }
    const record = { ...found.body, id: found.id } as RestoredLine;
    const text = texts.get(record.id);
    const before = text === undefined ? undefined : parseExact(text) as RestoredLine;
    const news = guarded(
      () => compareStored(table, record, before),
      () => void refused.set(number, DEFECT.message),
    );
    return news ? [{ number, record, before, ...news }] : [];
  });
  return { changes, refused };
}

/** Reads the lines that differ from what is stored, by id. Says by number why lines cannot be read. */
function readDiffering(lines: readonly RecordLine[], stored: ReadonlyMap<string, string>) {
  const refused = new Map<number, string>();
  const read: { number: number; record: RestoredLine | ApiError }[] = [];
  for (const line of lines) {
    if (line.text === stored.get(line.id)) continue;
    try {
      read.push({ number: line.number, record: readRecordLine(line) });
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      refused.set(line.number, error.message);
    }
  }
  return { read, refused };
}

/** What a record changes of the stored one. Undefined if that is nothing. */
function compareStored(
  table: LineTable,
  { stored, ...values }: RestoredLine,
  before: RestoredLine | undefined,
): Pick<ChangedLine, "change" | "stored"> | undefined {
  const { id, assigned, body } = partsOfRecord(values);
  if (!before) {
    return { change: { method: "create", id, body, assigned, keepsIds: true }, stored };
  }
  const fields = table === "products" ? FIELDS : RECORDS[table].fields;
  const changed = changedFields(before, values, fields);
  const others = Object.fromEntries(
    Object.entries(stored).filter(([name, value]) => !isEqual(value, before.stored[name])),
  );
  if (Object.keys({ ...changed, ...others }).length === 0) return undefined;
  const change = {
    method: "update",
    id,
    body: partsOfRecord(changed).body,
    isWhole: true,
    assigned,
    keepsIds: true,
  } as const;
  return { change, stored: others };
}
