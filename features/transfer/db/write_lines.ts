import { recordProgramChanges } from "../../../db/records/programs.ts";
import type { Entry } from "../../../schema/bodies.ts";
import { type ErrorDetail, unknownReference } from "../../../schema/errors.ts";
import { ONIX_TABLES } from "../../../schema/lines.ts";
import { type OwnTable, RECORDS } from "../../../schema/records.ts";
import { referencesIn } from "../../../schema/references.ts";
import {
  isAnyOf,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { type ReferencedId, unknownReferences } from "../../../db/products/errors/find_errors.ts";
import { writeTogether } from "../../../db/products/write_together.ts";
import { recordColumns } from "../../../db/records/records.ts";
import { followUpdates, updatedFields } from "../../../db/renamed_records.ts";
import type { ChangedLine } from "./line_changes.ts";

/* Writes the changes of lines: products as batches do, all other records at once. */

/** The errors of lines, by their numbers. */
type Faults = Map<number, ErrorDetail[]>;

/** Writes products as batches do, with the data that `GET` does not show. */
export async function writeProductLines(
  tx: Transaction,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const { faults } = await writeTogether(tx, changes, async (done) => {
    await tx.send(...storeOnix(done));
  });
  return new Map(
    Array.from(faults, ([{ number }, { details }]) => [number, details]),
  );
}

/** Replaces the ONIX records of products, where lines change them. */
function storeOnix(changes: readonly ChangedLine[]): Statement[] {
  return ONIX_TABLES.flatMap((table) => {
    const changing = changes.filter(({ stored }) => stored[table]);
    const rows = changing.flatMap(({ record, stored }) =>
      (stored[table] as Entry[])
        .map((row) => ({ ...row, product_id: record.id, reading: null }))
    );
    const existing = changing.flatMap(({ change: { method, id } }) =>
      method === "update" ? id : []
    );
    return [
      ...existing.length > 0
        ? [sql`
          delete from ${raw(table)} x
          where x.organization_id = ${organization}
            and x.product_id ${isAnyOf(existing)}
        `]
        : [],
      ...rows.length > 0
        ? [sql`
          insert into ${raw(table)}
          select r.*
          from jsonb_array_elements(${json(rows)}) e (row)
          cross join jsonb_populate_record(
            null::${raw(table)},
            e.row || jsonb_build_object('organization_id', ${organization}::uuid)
          ) r
        `]
        : [],
    ];
  });
}

/** Writes records other than products, with the products of programs. */
export async function writeRecordLines(
  tx: Transaction,
  table: OwnTable,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const faults = await findUnknown(tx, table, changes);
  const valid = changes.filter(({ number }) => !faults.has(number));
  if (valid.length === 0) return faults;
  const columns = ["id", ...recordColumns(table)];
  const times = ["created_at", "updated_at"];
  const rows = valid.map(({ record, before }) => (
    { ...before, updated_at: null, ...record }
  ));
  const updates = [...columns, ...times]
    .map((name) => `${name} = excluded.${name}`);
  const updated = valid.map(({ record: { id } }, i) => ({
    id,
    fields: Object.fromEntries(columns.map((name) => [name, (rows[i] as Entry)[name] ?? null])),
  }));
  await tx.send(
    ...followUpdates(tx, table, updatedFields(updated)),
    sql`
      insert into ${raw(table)}
        (organization_id, ${names(...columns, ...times)})
      select ${organization}::uuid, ${
      names(...columns, ...times.map((name) => `coalesce(${name}, now())`))
    }
      from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
      on conflict (organization_id, id) do update set ${names(...updates)}
    `,
    ...table === "publishing_programs" ? setPrograms(valid) : [],
  );
  return faults;
}

/** The ids of unknown records in lines. */
async function findUnknown(
  tx: Transaction,
  table: OwnTable,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const references = referencesIn(table, RECORDS[table].fields);
  const ids = changes.flatMap(({ record, stored }, at): ReferencedId[] => [
    ...references.map(({ field, table: table_name }) => (
      { at, pointer: `/${field}`, table_name, id: record[field] }
    )),
    ...(stored.products ?? []).map((id, i) => (
      { at, pointer: `/stored/products/${i}`, table_name: "products", id }
    )),
  ]).filter(({ id }) => id);
  if (ids.length === 0) return new Map();
  const [unknown] = await tx.send(unknownReferences(ids));
  return new Map(
    Array.from(
      Map.groupBy(unknown, ({ at }) => at),
      ([at, ids]) => [
        changes[at]!.number,
        ids.map(({ pointer }) => unknownReference(pointer)),
      ],
    ),
  );
}

/** Sets the products of programs, where lines change them. */
function setPrograms(changes: readonly ChangedLine[]): Statement[] {
  const changing = changes.filter(({ stored }) => stored.products);
  const rows = changing.flatMap(({ record, stored }) =>
    stored.products!.map((product_id) => (
      { program_id: record.id, product_id }
    ))
  );
  const programs = isAnyOf(changing.map(({ record }) => record.id));
  const recorded = recordProgramChanges(sql`x.program_id ${programs}`);
  return [
    recorded,
    sql`
      delete from publishing_program_products x
      where x.organization_id = ${organization} and x.program_id ${programs}
    `,
    sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      select ${organization}::uuid, r.program_id, r.product_id
      from jsonb_to_recordset(${json(rows)}) r (program_id uuid, product_id uuid)
    `,
    recorded,
  ];
}
