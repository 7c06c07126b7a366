import { REFERENCES } from "../schema/references.ts";
import type { OwnTable } from "../schema/records.ts";
import { json, names, organization, raw, sql, type Statement } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";

/*
 * Lets products follow the change of a record that they show, in a distributed database, which has no
 * triggers. On one server, the trigger `renamed` does the same (`move_names` of functions.sql).
 *
 * For example, a publisher gets another name. Then the stored JSON of its organization is no longer
 * valid, and the publisher is added to the table `renames`.
 */

const TIMES = ["created_at", "updated_at"];

/** The columns that the JSON of a product does not show. Its ONIX shows them. */
const UNSHOWN = [
  ...TIMES,
  "names_before_key",
  "key_names",
  "person_name_inverted",
  "is_organization",
  "isni",
  "orcid",
  "biographical_note",
  "identifiers",
];

/** The tables whose rows `product_search` has the names of. */
const SEARCHED: readonly string[] = ["contributors", "collections"];

/**
 * Statements that precede an update of records. They lock the records, invalidate the stored JSON of
 * the organization if a displayed value changes, and let the products that show a changed record
 * follow it (`features/changes/db/renames.ts`). `updated` selects the `id` of each record and the
 * columns that change, as the JSON object `fields`.
 */
export function followUpdates(
  { isDistributed }: Transaction,
  table: OwnTable,
  updated: Statement,
): Statement[] {
  if (!isDistributed || !REFERENCES.some((reference) => reference.table === table)) return [];
  const isUpdated = sql`
    r.organization_id = ${organization} and r.id = any(array(select u.id from (${updated}) u))
  `;
  const changed = (ignored: readonly string[]) =>
    sql`
      from ${raw(table)} r
      join (${updated}) u on u.id = r.id
      where ${isUpdated}
        and to_jsonb(r) - ${listOf(ignored)}
          <> to_jsonb(jsonb_populate_record(r, u.fields)) - ${listOf(ignored)}
    `;
  return [
    // Waits for the transactions that add rows with the old name.
    sql`
      select from ${raw(table)} r
      where ${isUpdated}
      order by r.id
      for ${raw(SEARCHED.includes(table) ? "update" : "no key update")}
    `,
    sql`
      update organizations o
      set names_version = o.names_version + 1
      where o.id = ${organization} and exists (select ${changed(UNSHOWN)})
    `,
    sql`
      insert into renames (organization_id, record_table, record_id)
      select r.organization_id, ${raw(`'${table}'`)}, r.id ${changed(TIMES)}
      on conflict (organization_id, record_table, record_id)
      do update set version = excluded.version, position = null
    `,
  ];
}

/** Selects records with the fields that an update changes, for `followUpdates`. */
export function updatedFields(records: readonly { id: unknown; fields: object }[]): Statement {
  return sql`
    select u.id, u.fields
    from jsonb_to_recordset(${json(records)}) u (id uuid, fields jsonb)
  `;
}

function listOf(columns: readonly string[]): Statement {
  return sql`array[${names(...columns.map((column) => `'${column}'`))}]`;
}
