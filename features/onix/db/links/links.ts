import { objectsIn } from "../../../../schema/objects.ts";
import type { RecordValues } from "../../schema/mapping/reading.ts";
import {
  isOneOfTexts,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { type LockKey, lockSlots } from "../../../../db/products/change/keys.ts";
import { mayBeNamed } from "../../../../db/record_names.ts";
import { comparedName } from "../../../../schema/named.ts";
import { findOrCreateFormats } from "./formats.ts";
import {
  IDENTIFIERS,
  IMPORTED_COLUMNS,
  LINK_TABLES,
  type LinkRow,
  type LinkTable,
  valuesByTable,
} from "./link_tables.ts";
import { type LinkedRecord, type NamedRecord, RecordLinker } from "./named_records.ts";

/*
 * Finds the rows that a group of ONIX records names, such as publishers and contributors. Each
 * table takes one statement. Missing rows are created under a lock.
 */

/** The links of one record: in each table in the order of its names, and the format of its form. */
export interface Links extends Record<LinkTable, LinkedRecord[]> {
  formatId: string | undefined;
}

/** The number of writes that are sent at once: usually all. Other requests run after each. */
const WRITES_AT_ONCE = LINK_TABLES.length;

/**
 * Finds or creates the rows that these records name, and returns them for each record. Rows are
 * created and filled under a lock, so that the later of two concurrent imports finds those of the
 * earlier one.
 */
export async function linkRecords(
  tx: Transaction,
  written: readonly RecordValues[],
): Promise<Links[]> {
  const wanted = written.map(recordsNamedIn);
  const named = valuesByTable((table) => wanted.flatMap((one) => one[table]));
  const find = LINK_TABLES.map((table) => findRows(table, named[table]));
  let { tables, links } = linkTo(await tx.send(...find), wanted);
  if (tables.some(({ isChanged }) => isChanged)) {
    const [, ...found] = await tx.send(lockSlots("records", lockKeysOf(named)), ...find);
    ({ tables, links } = linkTo(found, wanted));
    const writes = tables.flatMap((table) => table.writes(tx));
    for (let from = 0; from < writes.length; from += WRITES_AT_ONCE) {
      await tx.send(...writes.slice(from, from + WRITES_AT_ONCE));
    }
  }
  const formats = await findOrCreateFormats(
    tx,
    new Set(written.flatMap((record) => productFormIn(record) ?? [])),
  );
  return links.map((one, i) => {
    const form = productFormIn(written[i]!);
    return { ...one, formatId: form && formats.get(form) };
  });
}

/** Links the names of each record to rows. A missing one becomes a row to create or to fill. */
function linkTo(rows: readonly object[][], wanted: readonly Record<LinkTable, NamedRecord[]>[]) {
  const tables = LINK_TABLES.map((table, i) => new RecordLinker(table, rows[i] as LinkRow[]));
  const links = wanted.map((one) => valuesByTable((table, i) => tables[i]!.linkAll(one[table])));
  return { tables, links };
}

/** Returns the names in a record, by table. */
function recordsNamedIn(record: RecordValues): Record<LinkTable, NamedRecord[]> {
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

/** The names and identifiers for which concurrent imports may create or fill a row. */
function lockKeysOf(named: Record<LinkTable, NamedRecord[]>): LockKey[] {
  return LINK_TABLES.flatMap((table) =>
    named[table].flatMap((one) => [
      { kind: table, value: comparedName(one.name) },
      ...IDENTIFIERS[table].flatMap((column) =>
        one[column] ? [{ kind: `${table} ${column}`, value: String(one[column]) }] : []
      ),
    ])
  );
}

/** The records with the names or identifiers, oldest first. */
function findRows(
  table: LinkTable,
  named: readonly NamedRecord[],
): Statement<LinkRow> {
  const identified = IDENTIFIERS[table].map((identifier) => {
    const values = named.flatMap((one) => one[identifier] as string ?? []);
    return sql` or r.${raw(identifier)} ${isOneOfTexts(values)}`;
  });
  const columns = ["id", "name", ...IMPORTED_COLUMNS[table]];
  return unprepared(sql`
    select ${names(...columns.map((column) => `r.${column}`))}
    from ${raw(table)} r
    where r.organization_id = ${organization} and (
      ${mayBeNamed(table, named.map(({ name }) => name))} ${identified}
    )
    order by r.created_at, r.id
    -- A concurrent deletion of a row waits. A row that was deleted before is created again.
    for key share of r
  `);
}
