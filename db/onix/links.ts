import { objectsIn } from "../../schema/objects.ts";
import type { RecordValues } from "../../schema/onix/mapping/reading.ts";
import {
  isOneOfTexts,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { type LockKey, lockKeys } from "../products/keys.ts";
import { comparedName, mayBeNamed } from "../record_names.ts";
import { findFormats } from "./formats.ts";
import {
  COLUMNS,
  IDENTIFYING,
  LINK_TABLES,
  type LinkRow,
  ofTables,
  type Table,
} from "./link_tables.ts";
import { type LinkedRecord, type NamedRecord, NamedRecords } from "./named_records.ts";

/*
 * The records of the organization that ONIX records name, for a group of these: looked up
 * with one statement a table, and created or filled under a lock.
 */

/** What is linked for one record: in each table in the order of its names, and the format of its form. */
export interface Links extends Record<Table, LinkedRecord[]> {
  formatId: string | undefined;
}

/**
 * Finds or creates what these records name, and returns it for each of them. What is created
 * or filled is decided under a lock, so that of imports at once the later one finds what the
 * earlier one has written.
 */
export async function linkRecords(
  tx: Transaction,
  written: readonly RecordValues[],
): Promise<Links[]> {
  const wanted = written.map(recordsNamedIn);
  const named = ofTables((table) => wanted.flatMap((one) => one[table]));
  const find = LINK_TABLES.map((table) => findRows(table, named[table]));
  let { tables, links } = linkTo(await tx.send(...find), wanted);
  if (tables.some(({ isChanged }) => isChanged)) {
    const [, ...found] = await tx.send(lockKeys(lockKeysOf(named)), ...find);
    ({ tables, links } = linkTo(found, wanted));
    await tx.send(...tables.flatMap((table) => table.writes()));
  }
  const formats = await findFormats(
    tx,
    new Set(written.flatMap((record) => productFormIn(record) ?? [])),
  );
  return links.map((one, i) => {
    const form = productFormIn(written[i]!);
    return { ...one, formatId: form && formats.get(form) };
  });
}

/** Links what each record names to the rows of the tables. What is missing is a row to create or to fill. */
function linkTo(rows: readonly object[][], wanted: readonly Record<Table, NamedRecord[]>[]) {
  const tables = LINK_TABLES.map((table, i) => new NamedRecords(table, rows[i] as LinkRow[]));
  const links = wanted.map((one) => ofTables((table, i) => tables[i]!.linkAll(one[table])));
  return { tables, links };
}

/** What a record names in each table. */
function recordsNamedIn(record: RecordValues): Record<Table, NamedRecord[]> {
  const named = (name: unknown) => name ? [{ name: String(name) }] : [];
  return {
    publishers: named(record.publisher),
    imprints: named(record.imprint),
    collections: objectsIn(record.collections) as NamedRecord[],
    contributors: objectsIn(record.contributors) as NamedRecord[],
  };
}

/** The form that a record names (List 150). */
function productFormIn({ product_form }: RecordValues): string | undefined {
  return typeof product_form === "string" ? product_form : undefined;
}

/** The names and identifiers that imports at once may create or fill a record for. */
function lockKeysOf(named: Record<Table, NamedRecord[]>): LockKey[] {
  return LINK_TABLES.flatMap((table) =>
    named[table].flatMap((one) => [
      { kind: table, value: comparedName(one.name) },
      ...IDENTIFYING[table].flatMap((column) =>
        one[column] ? [{ kind: `${table} ${column}`, value: String(one[column]) }] : []
      ),
    ])
  );
}

/** The records with the names or identifiers, oldest first. */
function findRows(
  table: Table,
  named: readonly NamedRecord[],
): Statement<LinkRow> {
  const identified = IDENTIFYING[table].map((identifier) => {
    const values = named.flatMap((one) => one[identifier] as string ?? []);
    return sql` or r.${raw(identifier)} ${isOneOfTexts(values)}`;
  });
  const columns = ["id", "name", ...COLUMNS[table]];
  return unprepared(sql`
    select ${names(...columns.map((column) => `r.${column}`))}
    from ${raw(table)} r
    where r.organization_id = ${organization} and (
      ${mayBeNamed(table, named.map(({ name }) => name))} ${identified}
    )
    order by r.created_at, r.id
    -- Who deletes one meanwhile waits; what is deleted already is created again.
    for key share of r
  `);
}
