import type { ProductBody } from "../../schema/product.ts";
import {
  type Reference,
  REFERENCES,
  referencesOf,
} from "../../schema/references.ts";
import { json, raw, sql, type Statement } from "../connections/sql.ts";
import { record } from "./record.ts";

const ARRAYS = new Set(REFERENCES.map(({ array }) => array));

const TABLES = new Set(REFERENCES.map(({ table }) => table));

const isKnown = Array.from(
  TABLES,
  (table) =>
    sql`
      when b.table_name = ${raw(`'${table}'`)}
        then exists (select ${record(table, sql`b.id`)})
    `,
);

/** The pointers of ids without a record of the organization, in the order of the body. */
export function unknownReferences(
  body: ProductBody,
): Statement<{ pointer: string }> {
  const ids = Array.from(ARRAYS, (array) => idsOf(body, array)).flat();
  const rows = ids.map((id, position) => ({ position, ...id }));
  return sql`
    select b.pointer
    from jsonb_to_recordset(${json(rows)})
      b (position int, pointer text, table_name text, id uuid)
    where not case ${isKnown} end
    order by b.position
  `;
}

/** The ids in the body or in one of its arrays, except the series: `unattachedSeries` checks it. */
function idsOf(body: ProductBody, array: Reference["array"]) {
  const references = referencesOf(array).filter(({ isSeries }) => !isSeries);
  const entries: Record<string, unknown>[] = array ? body[array] ?? [] : [body];
  return entries.flatMap((entry, i) =>
    references.flatMap(({ field, table }) => {
      const pointer = array ? `/${array}/${i}/${field}` : `/${field}`;
      const id = entry[field];
      return id ? [{ pointer, table_name: table, id }] : [];
    })
  );
}
