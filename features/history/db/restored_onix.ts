import { ONIX_COLUMNS, ONIX_TABLES, type OnixTable } from "../../../schema/lines.ts";
import {
  isAnyOf,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Cause } from "../../../db/products/write_together.ts";

/* Restores the ONIX records of products that are created again. */

/**
 * Restores the ONIX records of created products from their last deletion. A reference that another
 * product has now stays there, and is returned by the id of the product.
 */
export async function restoreOnix(
  tx: Transaction,
  done: readonly Cause[],
): Promise<Map<string, string[]>> {
  const ids = done.flatMap(({ change }) =>
    change.method === "create" && change.restoredFrom !== undefined ? change.id : []
  );
  if (ids.length === 0) return new Map();
  const [lost] = await tx.send(selectLost(ids), ...ONIX_TABLES.map(insertOnix(ids)));
  return new Map(lost.map(({ id, references }) => [id, references]));
}

/** The version `d` of each product that has its ONIX records: that of its last deletion. */
function lastOnix(ids: readonly string[]): Statement {
  return sql`
    d.organization_id = ${organization} and d.product_id ${isAnyOf(ids)} and d.onix is not null
      and not exists (
        select from product_documents later
        where later.organization_id = ${organization} and later.product_id = d.product_id
          and later.change_version > d.change_version and later.onix is not null
      )
  `;
}

/** The condition that another product than that of `d` has the reference of `e.entry`. */
const isTaken = sql`(
  exists (
    select from onix_records r
    where r.organization_id = ${organization}
      and r.record_reference = e.entry ->> 'record_reference' and r.product_id <> d.product_id
  )
  or exists (
    select from onix_aliases a
    where a.organization_id = ${organization}
      and a.record_reference = e.entry ->> 'record_reference' and a.product_id <> d.product_id
  )
)`;

/** Selects the references that other products have now, for each product. */
function selectLost(
  ids: readonly string[],
): Statement<{ id: string; references: string[] }> {
  return sql`
    select d.product_id as id, jsonb_agg(e.entry ->> 'record_reference') as references
    from product_documents d
    cross join jsonb_array_elements(
      coalesce(d.onix -> 'onix_records', '[]') || coalesce(d.onix -> 'onix_aliases', '[]')
    ) e (entry)
    where ${lastOnix(ids)} and ${isTaken}
    group by d.product_id
  `;
}

function insertOnix(ids: readonly string[]): (table: OnixTable) => Statement {
  return (table) => {
    const columns = ONIX_COLUMNS[table];
    return sql`
      insert into ${raw(table)} (organization_id, product_id, ${names(...columns)})
      select d.organization_id, d.product_id, ${names(...columns.map((column) => `r.${column}`))}
      from product_documents d
      cross join jsonb_array_elements(d.onix -> '${raw(table)}') e (entry)
      cross join jsonb_populate_record(null::${raw(table)}, e.entry) r
      where ${lastOnix(ids)} and not ${isTaken}
      on conflict do nothing
    `;
  };
}
