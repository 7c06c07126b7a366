import type { RecordBody } from "../../schema/record_bodies.ts";
import { type OwnTable, RECORDS } from "../../schema/records.ts";
import {
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { recordWithId } from "./shown_record.ts";

/*
 * The statements that write the row of a record.
 */

/** Creates the row with the columns that the body has; the others are empty. */
export function insertRow(
  table: OwnTable,
  id: string,
  body: RecordBody,
): Statement {
  const columns = columnsOf(table);
  const values = columns.map((column) => sql`, ${body[column] ?? null}`);
  return sql`
    insert into ${raw(table)} (organization_id, id, ${names(...columns)})
    values (${organization}, ${id}${values})
  `;
}

/** Writes the columns that the body has, and moves `updated_at` by at least a millisecond. */
export function updateRow(
  table: OwnTable,
  id: string,
  body: RecordBody,
): Statement {
  const columns = names(...columnsOf(table));
  return sql`
    update ${raw(table)} r
    set
      updated_at = greatest(
        now(),
        (r.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC'
      ),
      (${columns}) = (
        select ${columns}
        from jsonb_populate_record(r, ${json(body)})
      )
    where r.organization_id = ${organization} and r.id = ${id}
  `;
}

/** Locks the row until the transaction ends. Products may refer to it meanwhile. */
export function lockRow(table: OwnTable, id: string): Statement {
  return sql`select ${recordWithId(table, id)} for no key update`;
}

/** Deletes the row. Gives a row where there was one. */
export function deleteRow(
  table: OwnTable,
  id: string,
): Statement<{ id: string }> {
  return sql<{ id: string }>`
    delete from ${raw(table)} r
    where r.organization_id = ${organization} and r.id = ${id}
    returning r.id
  `;
}

function columnsOf(table: OwnTable): string[] {
  return Object.keys(RECORDS[table].columns);
}
