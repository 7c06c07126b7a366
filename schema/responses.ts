import * as v from "valibot";
import {
  about,
  assigned,
  type Column,
  explained,
  type Field,
  type Fields,
  meaningOfLabel,
  type Rows,
  type Shown,
} from "./fields.ts";
import { discriminatorOf, TYPE } from "./bodies.ts";
import { remembered } from "./objects.ts";
import { isShared, PRODUCTS, RECORDS, type RecordTable } from "./records.ts";
import { ARRAYS, LISTED, SCALARS } from "./product.ts";
import { described, Uuid } from "./values.ts";

/*
 * The schemas of products and records in responses. PostgreSQL generates their JSON.
 * These schemas document it for clients, and tests check every response against them.
 */

const ENTRY = "The id of the entry.";

/** A record. */
export function recordResponse(table: RecordTable) {
  const { fields } = RECORDS[table];
  return objectWith(
    isShared(table) ? fields : { ...fields, products: PRODUCTS },
  );
}

/** The fields of an object in responses. */
function responseEntries(fields: Fields): v.ObjectEntries {
  const entries: v.ObjectEntries = {};
  for (const [name, field] of Object.entries(fields)) {
    const { response, labels } = field.kind === "column" ? field : {};
    entries[name] = explained(
      name,
      field,
      responseValue(field, fields),
      response,
    );
    if (labels) {
      entries[`${name}_label`] = described(
        meaningOfLabel(name, labels),
        v.nullable(v.string()),
      );
    }
  }
  return entries;
}

/** The value of a field. `fields` has its reference. */
function responseValue(field: Field, fields: Fields): v.GenericSchema {
  switch (field.kind) {
    case "column":
      return columnOf(field);
    case "shown":
      return shownOf(field, fields);
    case "derived":
      return field.isFalseFor ? v.nullable(v.boolean()) : v.boolean();
    case "group":
      return field.unless
        ? v.nullable(objectOf(field.fields))
        : objectOf(field.fields);
    case "rows":
      return v.array(responseEntry(field));
    case "values":
      return v.array(objectOf(field.fields));
    case "list":
      return v.array(field.response);
    case "linked":
      return v.optional(v.array(
        linkedRecord(RECORDS[field.table as RecordTable].fields),
      ));
  }
}

function columnOf({ response, isRequired, fallback }: Column) {
  return isRequired || fallback !== undefined ? response : v.nullable(response);
}

/** A column of a record, which is absent without a reference, unless it is always there. */
function shownOf(
  { reference, column, isAlwaysThere }: Shown,
  fields: Fields,
): v.GenericSchema {
  const { refers, isRequired } = fields[reference] as Column;
  const record: Fields = RECORDS[refers!.table as RecordTable].fields;
  const value = columnOf(record[column] as Column);
  if (isRequired) return value;
  if (!isAlwaysThere) return v.optional(value);
  return v.is(value, null) ? value : v.nullable(value);
}

/** An object with these fields. */
export const objectOf = remembered(objectWith);

function objectWith(fields: Fields): v.GenericSchema {
  return v.object(responseEntries(fields));
}

/** An entry of an array. */
export const responseEntry = remembered((array: Rows): v.GenericSchema =>
  array.types
    ? v.variant(
      discriminatorOf(array),
      Object.keys(array.types).map((type) => entryOfType(array, type)),
    )
    : entryWith(array, array.fields)
);

/** An entry of an array whose entries have types. */
export function entryOfType(array: Rows, type: string) {
  return typedEntriesOf(array)[type]!;
}

const typedEntriesOf = remembered((array: Rows) =>
  Object.fromEntries(
    Object.entries(array.types!).map(([type, { fields }]) => [
      type,
      v.object({
        id: described(ENTRY, Uuid),
        [discriminatorOf(array)]: described(
          TYPE,
          v.literal(type),
        ),
        ...responseEntries(fields),
      }),
    ]),
  )
);

function entryWith({ key, isIdHidden }: Rows, fields: Fields) {
  return objectWith(
    key || isIdHidden
      ? fields
      : { id: about(ENTRY, assigned(Uuid), null), ...fields },
  );
}

/** A record that a product shows, without its times. */
export const linkedRecord = remembered(
  (fields: Fields) => {
    const shown = Object.entries(fields).filter(([name, field]) =>
      name === "id" || field.kind === "column" && field.body
    );
    return objectWith(Object.fromEntries(shown));
  },
);

/** A full product, in responses to get, create and update. */
export const Product = v.object(responseEntries({ ...SCALARS, ...ARRAYS }));

/** A product in a list, with the arrays that `include` names. */
export const ListedProduct = v.object({
  ...responseEntries(SCALARS),
  ...v.partial(v.object(responseEntries(LISTED as Fields))).entries,
});
