import type { ArrayField, Field, Fields, Shown } from "../../../schema/fields.ts";
import { type ArrayName, ARRAYS, LISTED, SCALARS } from "../../../schema/product.ts";
import { joined, raw, sql, type Statement } from "../../connections/sql.ts";
import {
  fromReferenced,
  jsonObject,
  type RowAlias,
  selectFields,
  valueJson,
} from "../../row_json.ts";

/*
 * Builds the SQL of a product's JSON from `schema/product.ts`: its summary, which lists show, its
 * details, and the arrays that lists can include. `tests/products/product.sql` shows the SQL that
 * reads a product.
 */

const PRODUCT_ROW: RowAlias = { alias: "p" };

/** The columns of product `p`, including those that a referenced record stores. */
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

/** The linked records, which product `p` shows if it has some, as `,"field":value`. */
const linkedFields = Object.entries<Field>(SCALARS).flatMap(([name, field]) =>
  field.kind === "linked"
    ? [
      sql`${raw(`',"${name}":'`)} || nullif(${
        valueJson(name, field, SCALARS, PRODUCT_ROW)
      }::text, '[]')`,
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
 * The fields that lists omit, of a new product without arrays that have a path of their own. It saves
 * time: PostgreSQL starts every subselect of a plan, and those of rights and supply are a third.
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

/** The arrays that lists can include and that are rows of other tables, as lists show them. */
export const listedRows = Object.entries<ArrayField>(LISTED).flatMap(
  ([name, array]) =>
    array.kind === "rows"
      ? [{
        name: name as ArrayName,
        array: valueJson(name, array, LISTED as Fields, PRODUCT_ROW),
      }]
      : [],
);

/**
 * The arrays that lists can include and that are columns of products. The row is `x` here, because
 * a page of documents selects only the id of `p`.
 */
export const listedValues = Object.entries<ArrayField>(LISTED).flatMap(
  ([name, array]) =>
    array.kind === "rows" ? [] : [{
      name: name as ArrayName,
      array: valueJson(name, array, LISTED, { alias: "x" }),
    }],
);

/** The territories of product `p` with their supply, which lists include as `supply_details`. */
export const wholeTerritories = valueJson(
  "product_territories",
  ARRAYS.product_territories,
  ARRAYS,
  PRODUCT_ROW,
);
