import { SCALARS } from "../../schema/product.ts";
import {
  holderOf,
  type Reference,
  referencesOf,
} from "../../schema/references.ts";
import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { rfc3339 } from "../times.ts";
import { jsonArray } from "./json_array.ts";
import { record } from "./record.ts";

/** The scalar fields of product `p`, including those stored in a record, such as `product_form_id`. */
const scalars = sql`
  select
    p.id,
    p.organization_id,
    p.product_code,
    ${rfc3339("p.created_at")} as created_at,
    ${rfc3339("p.updated_at")} as updated_at
    ${Object.keys(SCALARS).map(scalar)}
`;

const collections = jsonArray(sql`
  select c.id, c.name, c.collection_type
  from product_collections x
  join collections c on c.organization_id = ${organization} and c.id = x.collection_id
  where x.organization_id = ${organization} and x.product_id = p.id
  order by x.position, x.collection_id
`);

/**
 * The fields of product `p` in lists, as the inside of a JSON object. `concat` skips
 * nulls, so the fields of an unset reference are absent.
 */
export const scalarsJson = sql`concat(
  trim(both '{}' from (select row_to_json(scalars)::text from (${scalars}) scalars)),
  ${referencesOf().filter(({ shows }) => shows).map(shownJson)}
  ',"collections":' || nullif(${collections}::text, '[]')
)`;

function scalar(field: string): Statement {
  const holder = holderOf(field);
  if (!holder) return raw(`, p.${field}`);
  const column = raw(field);
  const held = record(holder.table, raw(`p.${holder.field}`));
  return sql`, (select r.${column} ${held}) as ${column}`;
}

/** The fields shown of a referenced record, as `,"field":value`. */
function shownJson(
  { field, table, shows, isAlwaysShown }: Reference,
): Statement {
  const fields = Object.entries(shows!);
  const values = fields.map(([name, column]) =>
    `',"${name}":', coalesce(to_json(r.${column})::text, 'null')`
  );
  const shown = sql`(
    select concat(${names(...values)})
    ${record(table, raw(`p.${field}`))}
  )`;
  if (!isAlwaysShown) return sql`${shown},`;
  const nulls = fields.map(([name]) => `,"${name}":null`);
  return sql`coalesce(${shown}, ${raw(`'${nulls.join("")}'`)}),`;
}
