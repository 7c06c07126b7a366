import { discriminatorOf } from "../../schema/bodies.ts";
import type {
  ArrayField,
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
} from "../../schema/fields.ts";
import { type ArrayName, ARRAYS, LISTED, SCALARS } from "../../schema/product.ts";
import { isShared, RECORDS, type RecordTable } from "../../schema/records.ts";
import { joined, names, organization, raw, sql, type Statement } from "../connections/sql.ts";
import { jsonArray } from "../json_array.ts";
import { rfc3339 } from "../times.ts";

/*
 * The JSON of products and records, which follows from their descriptions.
 * `tests/products/product.sql` shows the SQL that reads a product.
 */

/** A row whose fields are selected. */
interface RowAlias {
  alias: string;
  /** The column by which the tables below refer to it. Absent for a product. */
  link?: string | undefined;
}

const PRODUCT_ROW: RowAlias = { alias: "p" };

/** The aliases of rows, from products to the lowest rows of a tree. */
const ALIASES = ["p", "x", "y", "z", "w"];

function aliasBelow({ alias }: RowAlias): string {
  return ALIASES[ALIASES.indexOf(alias) + 1]!;
}

function jsonObject(selected: Statement): Statement {
  return sql`(select row_to_json(x) from (select ${selected}) x)`;
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

function valueJson(
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
function fromReferenced(
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

/** What `shown_values` shows of an array: single values (`[]`), or objects with these fields. */
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

/** The rows of product `p` that lists can include, as lists show them. */
export const listedRows = Object.entries<ArrayField>(LISTED).flatMap(
  ([name, array]) =>
    array.kind === "rows"
      ? [{
        name: name as ArrayName,
        array: valueJson(name, array, LISTED as Fields, PRODUCT_ROW),
      }]
      : [],
);

/** The territories of product `p` as a whole, which lists can include. */
export const wholeTerritories = valueJson(
  "product_territories",
  ARRAYS.product_territories,
  ARRAYS,
  PRODUCT_ROW,
);

/** The arrays of row `x` of products that lists can include. */
export const listedValues = Object.entries<ArrayField>(LISTED).flatMap(
  ([name, array]) =>
    array.kind === "rows" ? [] : [{
      name: name as ArrayName,
      array: storedValues(`x.${name}`, array),
    }],
);

/** The columns of product `p`, including those that a record holds. */
const columns = Object.fromEntries(
  Object.entries(SCALARS).filter(([, { kind }]) => kind === "column"),
);

/** The fields shown of records, by the reference that names the record. */
const shownFields = Map.groupBy(
  Object.entries<Field>(SCALARS).flatMap(([name, field]) =>
    field.kind === "shown" ? [{ name, ...field }] : []
  ),
  ({ reference }) => reference,
);

/** The records that product `p` shows when it has some, as `,"field":value`. */
const linkedFields = Object.entries<Field>(SCALARS).flatMap(([name, field]) =>
  field.kind === "linked"
    ? [
      sql`${raw(`',"${name}":'`)} || nullif(${linkedValue(field)}::text, '[]')`,
    ]
    : []
);

/** The columns of product `p` as a JSON object. */
const columnFields = jsonObject(selectFields(columns, PRODUCT_ROW));

/**
 * The fields of product `p` in lists, as the inside of a JSON object. `concat` skips
 * nulls, so the fields of an unset reference are absent.
 */
export const summaryJson = concatOf([
  sql`trim(both '{}' from ${columnFields}::text)`,
  ...Array.from(
    shownFields,
    ([reference, fields]) => shownJson(reference, fields),
  ),
  ...linkedFields,
]);

function concatOf(parts: readonly Statement[]): Statement {
  return sql`concat(${joined(parts)})`;
}

/** The fields shown of a referenced record, as `,"field":value`. */
function shownJson(
  reference: string,
  fields: (Shown & { name: string })[],
): Statement {
  const values = fields.map(({ name, column }) =>
    `',"${name}":', coalesce(to_json(r.${column})::text, 'null')`
  );
  const record = fromReferenced(reference, SCALARS, "p");
  const shown = sql`(select concat(${raw(values.join(", "))}) ${record})`;
  if (!fields[0]!.isAlwaysThere) return shown;
  const nulls = fields.map(({ name }) => `,"${name}":null`).join("");
  return sql`coalesce(${shown}, ${raw(`'${nulls}'`)})`;
}

/** The fields of product `p` that lists omit, as the inside of a JSON object. */
export const detailsJson = detailsWith((name, array) =>
  valueJson(name, array, ARRAYS, PRODUCT_ROW)
);

/**
 * The same for a new product without arrays that have a path of their own. PostgreSQL
 * starts every subselect of a plan, and those of rights and supply are a third of all.
 */
export const newDetailsJson = detailsWith((name, array) =>
  array.kind === "rows" && array.path ? raw("'[]'") : valueJson(name, array, ARRAYS, PRODUCT_ROW)
);

function detailsWith(
  value: (name: string, array: ArrayField) => Statement,
): Statement {
  const fields = Object.entries<ArrayField>(ARRAYS).map(
    ([name, array], i) => {
      const label = raw(`'${i > 0 ? "," : ""}"${name}":'`);
      return sql`${label}, ${value(name, array)}`;
    },
  );
  return concatOf(fields);
}
