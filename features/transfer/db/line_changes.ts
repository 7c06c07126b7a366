import { catchDefect, DEFECT } from "../../../schema/defects.ts";
import type { RestoredLine } from "../../../schema/bodies.ts";
import { ApiError } from "../../../schema/errors.ts";
import type { LineTable } from "../../../schema/lines.ts";
import { parseExact } from "../../../schema/numbers.ts";
import { isEqual } from "../../../schema/objects.ts";
import { FIELDS } from "../../../schema/product.ts";
import { RECORDS } from "../../../schema/records.ts";
import { isAnyOf, organization, raw, sql } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Creation, Write } from "../../../db/products/change/change.ts";
import { changedFields, partsOfRecord } from "../../../db/products/change/changed_fields.ts";
import { lockKeys, restorationKey } from "../../../db/products/change/keys.ts";
import { possibleCreation } from "../../../db/products/errors/complete_errors.ts";
import { resolveNames } from "../../../db/products/names.ts";
import type { Cause } from "../../../db/products/write_together.ts";
import { selectLines, transferSettings } from "./export.ts";
import { LineError, readRecordLine, reasonOf, type RecordLine } from "./lines.ts";

/*
 * Compares lines with stored records. In: lines of one kind. Out: the changes, or why a line is
 * refused. A line that is equal to the stored record is not even parsed.
 */

/** A line that differs from its record. */
export interface ChangedLine extends Cause {
  number: number;
  /** The change of its record. */
  change: Write;
  /** The values of the line. */
  record: RestoredLine;
  /** The stored record in the form of a line. Absent for a new one. */
  before: RestoredLine | undefined;
  /** The changes of data that `GET` does not show. */
  stored: RestoredLine["stored"];
}

/**
 * Locks the records of the lines. Returns the changes, and by line number why lines are refused.
 * Only lines that differ are parsed. Imports into one organization write one after the other, since
 * both may create the same records. Restorations of the products wait too: one would create a
 * product between the lock and the comparison.
 */
export async function findChanges(
  tx: Transaction,
  lines: readonly RecordLine[],
): Promise<{ changes: ChangedLine[]; refused: Map<number, string> }> {
  const [{ kind, table }] = lines as [RecordLine];
  const areTheirs = sql`r.id ${isAnyOf(lines.map(({ id }) => id))}`;
  const results = await tx.send(
    ...transferSettings,
    lockKeys([
      { kind: "import", value: "" },
      ...table === "products" ? lines.map(({ id }) => restorationKey(id)) : [],
    ]),
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
      return possibleCreation(body, id);
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
    const news = catchDefect(
      () => compareStored(table, record, before),
      () => void refused.set(number, DEFECT.message),
    );
    return news ? [{ number, record, before, ...news }] : [];
  });
  return { changes, refused };
}

/**
 * Parses the lines that differ from their stored records, by id. Records by line number why lines
 * cannot be read.
 */
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

/** Compares a record with the stored one. Undefined if they are equal. */
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
