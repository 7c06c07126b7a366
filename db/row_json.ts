import { discriminatorOf } from "../schema/bodies.ts";
import type {
  Column,
  Derived,
  Field,
  Fields,
  Group,
  Linked,
  List,
  Rows,
  Shown,
  Values,
} from "../schema/fields.ts";
import { isShared, RECORDS, type RecordTable } from "../schema/records.ts";
import { joined, names, organization, raw, sql, type Statement } from "./connections/sql.ts";
import { rfc3339 } from "./times.ts";

/* Builds the SQL that returns rows as JSON, from the descriptions of their fields. */

/** A row whose fields are selected. */
export interface RowAlias {
  alias: string;
  /** The column by which the tables below refer to it. Absent for a product. */
  link?: string | undefined;
}

/** The aliases of rows, from products to the lowest rows of a tree. */
const ALIASES = ["p", "x", "y", "z", "w"];

function aliasBelow({ alias }: RowAlias): string {
  return ALIASES[ALIASES.indexOf(alias) + 1]!;
}

/** The selected values as a JSON object. */
export function jsonObject(selected: Statement): Statement {
  return sql`(select row_to_json(x) from (select ${selected}) x)`;
}

/**
 * The rows of a select as a JSON array of objects, without white space: `json_agg` and
 * `json_build_object` would add some.
 */
export function jsonArray(rows: Statement): Statement {
  return sql`array_to_json(array(select row_to_json(x) from (${rows}) x))`;
}

/**
 * The `from` and `where` that select record `r` of the table by its id: a column, or a
 * parameter. A subselect for each record plans ten times faster than joins.
 */
export function recordWithId(table: string, id: Statement): Statement {
  const own = isShared(table) ? [] : sql`r.organization_id = ${organization} and`;
  return sql`from ${raw(table)} r where ${own} r.id = ${id}`;
}

/** The select list of record `r`. */
export function selectRecord(table: RecordTable): Statement {
  return selectFields(RECORDS[table].fields, { alias: "r" });
}

/** The select list of a row with these fields. */
export function selectFields(fields: Fields, row: RowAlias): Statement {
  return joined(
    Object.entries(fields).flatMap(([name, field]) => {
      if (field.kind === "shown" && field.isForBodies) return [];
      const value = valueJson(name, field, fields, row);
      if (field.kind !== "column") return [sql`${value} as ${raw(name)}`];
      const { format, refers, labels } = field;
      return [
        format || refers?.heldBy ? sql`${value} as ${raw(name)}` : value,
        ...labels ? [selectLabel(name, labels, row)] : [],
      ];
    }),
  );
}

/** The value of a field of the row. */
export function valueJson(
  name: string,
  field: Field,
  fields: Fields,
  row: RowAlias,
): Statement {
  switch (field.kind) {
    case "column":
      return columnValue(name, field, fields, row);
    case "shown":
      return shownValue(field, fields, row);
    case "derived":
      return derivedValue(field, row);
    case "group":
      return groupValue(field, row);
    case "rows":
      return rowsValue(field, row);
    case "values":
    case "list":
      return storedValues(`${row.alias}.${name}`, field);
    case "linked":
      return linkedValue(field);
  }
}

function columnValue(
  name: string,
  { format, refers }: Column,
  fields: Fields,
  { alias }: RowAlias,
): Statement {
  if (refers?.heldBy) {
    const holder = fromReferenced(refers.heldBy, fields, alias);
    return sql`(select r.${raw(name)} ${holder})`;
  }
  return formatted(`${alias}.${name}`, format);
}

function formatted(column: string, format: Column["format"]): Statement {
  switch (format) {
    case "decimal":
      return raw(`trim_scale(${column})`);
    case "time":
      return rfc3339(column);
    case "array":
      return raw(`coalesce(${column}, '{}')`);
    case undefined:
      return raw(column);
  }
}

function selectLabel(
  name: string,
  list: number,
  { alias }: RowAlias,
): Statement {
  return raw(
    `(select c.label from onix_codes c where c.list = ${list} and c.code = ${alias}.${name}) as ${name}_label`,
  );
}

/** The `from` and `where` of the record that a reference of the row names. */
export function fromReferenced(
  name: string,
  fields: Fields,
  alias: string,
): Statement {
  const { table, heldBy } = (fields[name] as Column).refers!;
  if (!heldBy) return recordWithId(table, raw(`${alias}.${name}`));
  const holder = fromReferenced(heldBy, fields, alias);
  return recordWithId(table, sql`(select r.${raw(name)} ${holder})`);
}

function shownValue(
  { reference, column }: Shown,
  fields: Fields,
  { alias }: RowAlias,
): Statement {
  const record = fromReferenced(reference, fields, alias);
  return sql`(select r.${raw(column)} ${record})`;
}

function derivedValue(
  { code, isTrueFor, isFalseFor }: Derived,
  { alias }: RowAlias,
): Statement {
  const isOneOf = (codes: readonly string[]) =>
    `${alias}.${code} in (${codes.map((code) => `'${code}'`).join(", ")})`;
  const isTrue = isOneOf(isTrueFor);
  if (!isFalseFor) return raw(isTrue);
  const isFalse = isOneOf(isFalseFor);
  return raw(`case when ${isTrue} then true when ${isFalse} then false end`);
}

function groupValue({ fields, unless }: Group, row: RowAlias): Statement {
  const group = jsonObject(selectFields(fields, row));
  return unless ? sql`case when not ${raw(`${row.alias}.${unless}`)} then ${group} end` : group;
}

/** The rows below a row, in their order. */
function rowsValue(array: Rows, parent: RowAlias): Statement {
  const { table, fields, key = ["id"], isIdHidden, types, link } = array;
  const row = { alias: aliasBelow(parent), link };
  const { alias } = row;
  const above = parent.alias;
  const column = (name: string) => `${alias}.${name}`;
  const isBelow = parent.link
    ? `${alias}.product_id = ${above}.product_id and ${alias}.${parent.link} = ${above}.id`
    : `${alias}.product_id = ${above}.id`;
  const from = sql`
    from ${raw(table)} ${raw(alias)}
    where ${raw(alias)}.organization_id = ${organization} and ${raw(isBelow)}
    order by ${names(...["position", ...key].map(column))}
  `;
  if (types) {
    return sql`array_to_json(array(select ${typedValue(array, row)} ${from}))`;
  }
  const hasId = key.includes("id") && !isIdHidden;
  const id = hasId ? [raw(column("id"))] : [];
  return jsonArray(
    sql`select ${joined([...id, selectFields(fields, row)])} ${from}`,
  );
}

/** A row as an object with the fields of its type. */
function typedValue(array: Rows, row: RowAlias): Statement {
  const discriminator = `${row.alias}.${discriminatorOf(array)}`;
  const cases = Object.entries(array.types!).map(([type, { fields }]) => {
    const own = raw(`${row.alias}.id, ${discriminator}`);
    const object = jsonObject(joined([own, selectFields(fields, row)]));
    return sql` when ${raw(`${discriminator} = '${type}'`)} then ${object}`;
  });
  return sql`case${cases} end`;
}

/** A JSON array from a column of values, with the fields of its entries in order. */
function storedValues(column: string, field: Values | List): Statement {
  const shape = JSON.stringify(shapeOf(field));
  return raw(`coalesce(shown_values(${column}, '${shape}'), '[]')`);
}

/** The shape of an array for `shown_values`: single values (`[]`), or objects with these fields. */
function shapeOf(field: Values | List): unknown {
  if (field.kind === "list") return [];
  return Object.fromEntries(
    Object.entries(field.fields).map(([name, field]) => {
      switch (field.kind) {
        case "values":
        case "list":
          return [name, shapeOf(field)];
        case "column":
          return [name, field.fallback ?? null];
        default:
          throw new Error(`Values cannot have a field of kind "${field.kind}"`);
      }
    }),
  );
}

function linkedValue({ table, through, reference }: Linked): Statement {
  const shown = Object.entries(RECORDS[table as RecordTable].fields)
    .filter(([name, field]) => name === "id" || field.kind === "column" && field.body)
    .map(([name]) => `c.${name}`);
  const id = raw(`x.${reference}`);
  return jsonArray(sql`
    select ${names(...shown)}
    from ${raw(through)} x
    join ${raw(table)} c on c.organization_id = ${organization} and c.id = ${id}
    where x.organization_id = ${organization} and x.product_id = p.id
    order by x.position, ${id}
  `);
}
