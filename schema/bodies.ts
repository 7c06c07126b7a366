import * as v from "valibot";
import {
  type ArrayField,
  type Column,
  explained,
  type Field,
  type Fields,
  type Group,
  isName,
  type List,
  meaningOf,
  meaningOfLabel,
  namesIn,
  type Rows,
  type Rule,
  type Shown,
  type Values,
} from "./fields.ts";
import { catchDefect, DEFECT_TEXT } from "./defects.ts";
import {
  array,
  at,
  checkWithRule,
  chosen,
  closedObject,
  DUPLICATE,
  isObject,
  list,
  object,
  refusedFields,
  SAME,
} from "./objects.ts";
import { BoundedTree } from "./entry_limits.ts";
import { namedRows } from "./named_rows.ts";
import { ARRAYS, SCALARS } from "./product.ts";
import { type OwnTable, PRODUCTS, RECORDS, type RecordTable } from "./records.ts";
import { described, NoId, text, Uuid } from "./values.ts";

/*
 * Derives the schemas of bodies, files and responses from the descriptions of fields. One walk over a
 * field makes each of its forms. PostgreSQL generates the JSON of responses. Their schemas document
 * it, and tests check every response against them.
 */

/**
 * The forms of a schema:
 *
 *     new       creates a row
 *     changed   updates a row: every field is optional
 *     restored  a line of a file: as `new`, with the ids of the file
 *     shown     a response
 */
export type Form = "new" | "changed" | "restored" | "shown";

/** A validated entry of an array, or body of a record: the given fields by name. */
export type Entry = Record<string, unknown>;

/** A validated body of a product: the given fields by name. */
export interface ProductBody {
  [field: string]: unknown;
  isbn13?: string | null;
  isbn10?: string | null;
  format_id?: string | null;
  product_form_id?: string | null;
  series_id?: string | null;
  product_collections?: { collection_id: string }[];
}

/** A validated line of a file. */
export interface RestoredLine extends Entry {
  id: string;
  /** The stored data that `GET` does not show, by name. */
  stored: Record<string, unknown[] | undefined>;
}

type Schema<T = Entry> = v.GenericSchema<unknown, T>;

/** The schemas of products, in bodies and in lines of files, with their forms. */
const ofProducts = new WeakMap<v.GenericSchema, Form>();

/** The schemas of the bodies that replace an array, with that array. */
const ofPaths = new WeakMap<v.GenericSchema, Rows>();

/** The schemas of the types in descriptions, by their names in the OpenAPI document. */
export const NAMED: Record<string, v.GenericSchema> = {};

/**
 * Returns the schema of an object with the fields of `before`, then these. In bodies, response-only
 * fields are ignored.
 */
export function objectOf(
  fields: Fields,
  form: Form,
  before: v.ObjectEntries = {},
  example?: string,
): Schema {
  const isShown = form === "shown";
  const entries = { ...before };
  const ignored: Record<string, string | undefined> = {};
  for (const [name, field] of Object.entries(fields)) {
    const schema = schemaOf(field, form, fields);
    const { body, response, labels } = field.kind === "column" ? field : {};
    const values = isShown ? response : body;
    if (schema) entries[name] = explained(name, field, schema, values);
    else ignored[name] = ignoredMeaning(name, field);
    if (!labels) continue;
    const meaning = meaningOfLabel(name, labels);
    const label = `${name}_label`;
    if (isShown) entries[label] = described(meaning, v.nullable(v.string()));
    else ignored[label] = meaning;
  }
  return isShown ? v.object(entries) : closedObject(entries, ignored, {
    names: namesIn(fields),
    ...example && { example },
  }) as Schema;
}

/** Describes a field that bodies may have although it is ignored. */
function ignoredMeaning(name: string, field: Field): string | undefined {
  if (field.kind !== "shown" || !isName(field)) return meaningOf(name, field);
  const { about, reference, column } = field as Field & typeof field;
  const sentence =
    `${about?.sentence} In a body without \`${reference}\`, it stands for that: to change it by ${column}, leave \`${reference}\` out.`;
  return meaningOf(name, { ...field, about: { ...about, sentence } });
}

/** The schema of a field, or undefined for one that bodies ignore. `fields` has its reference. */
function schemaOf(
  field: Field,
  form: Form,
  fields: Fields,
): v.GenericSchema | undefined {
  const isShown = form === "shown";
  switch (field.kind) {
    case "column":
      return isShown ? shownColumn(field) : givenColumn(field, form);
    case "group": {
      const group = entryOf(field, form);
      const value = field.unless ? v.nullable(group) : group;
      if (isShown) return value;
      return v.optional(value, field.unless ? undefined : {});
    }
    case "rows":
      if (isShown) return v.array(entryOf(field, form));
      if (field.path) {
        return form === "restored" ? v.optional(pathBody(field)) : undefined;
      }
      return field.put === "tree"
        ? v.optional(givenRows(field, form), [])
        : v.optional(givenRows(field, form));
    case "values":
    case "list": {
      const values = isShown ? shownValues(field) : givenValues(field);
      const isOptional = form === "changed" || !isShown && !field.isRequired;
      return isOptional ? v.optional(values) : values;
    }
    case "shown":
      return isShown && !field.isForBodies ? shownField(field, fields) : undefined;
    case "derived":
      if (!isShown) return;
      return field.isFalseFor ? v.nullable(v.boolean()) : v.boolean();
    case "linked":
      return isShown ? v.optional(v.array(linkedRecord(field.table as RecordTable))) : undefined;
  }
}

function givenColumn(
  { body, restored, isRequired, fallback }: Column,
  form: Form,
): v.GenericSchema | undefined {
  if (!body) {
    return form === "restored" && restored ? v.optional(restored) : undefined;
  }
  if (form !== "changed" && isRequired) return body;
  if (form !== "changed" && fallback !== undefined) {
    return v.optional(body, fallback);
  }
  return v.optional(
    isRequired || fallback !== undefined ? body : v.nullable(body),
  );
}

function shownColumn({ response, isRequired, fallback }: Column) {
  return isRequired || fallback !== undefined ? response : v.nullable(response);
}

/**
 * Returns the schema of a referenced record's column. Without a reference, it is absent, or null if
 * it is always there.
 */
function shownField(
  { reference, column, isAlwaysThere }: Shown,
  fields: Fields,
): v.GenericSchema {
  const { refers, isRequired } = fields[reference] as Column;
  const record: Fields = RECORDS[refers!.table as RecordTable].fields;
  const value = shownColumn(record[column] as Column);
  if (isRequired) return value;
  if (!isAlwaysThere) return v.optional(value);
  return v.is(value, null) ? value : v.nullable(value);
}

function shownValues(field: Values | List): v.GenericSchema {
  return v.array(
    field.kind === "list" ? field.response : entryOf(field, "shown"),
  );
}

/** The array of values in a body. */
function givenValues(field: Values | List): v.GenericSchema {
  const min = field.isRequired ? 1 : 0;
  if (field.kind === "list") {
    const { item, max, isDistinct } = field;
    return array(item, { min, max, distinct: isDistinct ? [SAME] : [] });
  }
  const { distinct } = field;
  return array(givenEntryOf(field, "new"), { min, distinct });
}

function givenRows(rows: Rows, form: Form): Schema<Entry[]> {
  const { put, key = [], distinct } = rows;
  const entry = givenEntryOf(rows, form);
  if (put === "link") return list(entry, ...key);
  return put === "tree" || form === "new" ? array(entry, { distinct }) : list(entry, "id");
}

/** The schema of the entries of an array in a body of this form. */
export function givenEntryOf(field: Rows | Values, form: Form): Schema {
  if (field.kind === "values" || field.put === "link" || field.put === "tree") {
    return entryOf(field, "new");
  }
  return form === "changed"
    ? once(field, "new or changed", () => newOrChanged(field))
    : entryOf(field, form);
}

/**
 * The body that replaces an array at a path of its own. Ids are unique among rows of the
 * same table.
 */
export function pathBody(array: Rows): Schema<Entry[]> {
  const body = v.pipe(
    BoundedTree,
    givenRows(array, "new"),
    v.rawCheck(({ dataset, addIssue }) => {
      const seen = new Set<string>();
      for (const { table, id, path } of namedRows(array, dataset.value)) {
        const row = `${table} ${id.toLowerCase()}`;
        if (seen.has(row)) addIssue({ message: DUPLICATE, path: at(...path) });
        seen.add(row);
      }
    }),
  );
  ofPaths.set(body, array);
  return body;
}

/** An entry with an `id` updates a row. An entry without one creates a row. */
function newOrChanged(rows: Rows): Schema {
  const types = Object.keys(rows.types ?? {});
  const options = (["new", "changed"] as const).flatMap((form) =>
    types.length > 0 ? types.map((type) => typedEntry(rows, form, type)) : entryOf(rows, form)
  );
  return chosen(
    options,
    (entry) => entryOf(rows, isObject(entry) && "id" in entry ? "changed" : "new"),
  );
}

const schemas = new WeakMap<object, Map<string, Schema>>();

/** Returns the same schema at each call, because the OpenAPI document names schemas by identity. */
function once(described: object, form: string, make: () => Schema): Schema {
  const made = schemas.get(described) ?? new Map<string, Schema>();
  schemas.set(described, made);
  const schema = made.get(form) ?? make();
  made.set(form, schema);
  return schema;
}

/**
 * Returns the schema of an entry, or of a group. Groups and entries of values are the same in all
 * bodies. In a tree, the `id` of a new entry names the row that it replaces.
 */
export function entryOf(field: Rows | Values | Group, form: Form): Schema {
  if (field.kind === "rows") {
    return once(field, form, () => {
      if (field.types) return oneOfTypes(field, form);
      const { fields, put, type, rules, example } = field;
      const entry = objectOf(fields, form, idOf(field, form), example);
      const isPatched = put === "patch";
      return named(type, form, isPatched, ruled(entry, form, rules));
    });
  }
  const { fields, type, rules } = field;
  const body = form === "shown" ? form : "new";
  return once(fields, body, () => {
    const example = field.kind === "values" ? field.example : undefined;
    const entries = objectOf(fields, body, {}, example);
    const valid = ruled(entries, body, rules);
    const stored = field.kind === "values" && body === "new" && field.stored;
    const entry = stored ? v.pipe(valid, v.transform(stored)) : valid;
    return named(type, body, false, entry);
  });
}

/** Registers a schema under the name of its type in this form, and returns it. */
function named(
  type: string | undefined,
  form: Form,
  hasForms: boolean,
  schema: Schema,
): Schema {
  if (!type || form === "restored") return schema;
  const name = form === "shown"
    ? type
    : hasForms
    ? `${form === "new" ? "New" : "Changed"}${type}`
    : `${type}Body`;
  NAMED[name] = schema;
  return schema;
}

const KeptId = described(
  "The id of the stored entry that this one replaces. Without it, the entry gets a new id.",
  v.optional(Uuid),
);

/** The id of an entry in each form. */
const IDS: Record<Form, v.GenericSchema> = {
  new: NoId,
  changed: described("The id of the entry to change.", Uuid),
  restored: KeptId,
  shown: described("The id of the entry.", Uuid),
};

function idOf({ put, key, isIdHidden }: Rows, form: Form): v.ObjectEntries {
  if (key || isIdHidden) return {};
  return { id: put === "tree" && form === "new" ? KeptId : IDS[form] };
}

/** An entry of an array whose entries have types. */
function oneOfTypes(rows: Rows, form: Form): Schema {
  const options = Object.keys(rows.types!)
    .map((type) => typedEntry(rows, form, type));
  if (form === "shown") {
    return v.variant(discriminatorOf(rows), options as never);
  }
  return chosen(options, (entry) => {
    const type = discriminatedType(rows, entry) ??
      (form === "changed" ? likeliestType(rows, entry) : undefined);
    return type ? typedEntry(rows, form, type) : untyped(rows);
  });
}

function typedEntry(rows: Rows, form: Form, type: string): Schema {
  return once(rows.types![type]!, form, () => {
    const { fields, type: name } = rows.types![type]!;
    const own = v.literal(type);
    const entry = objectOf(fields, form, {
      id: IDS[form],
      [discriminatorOf(rows)]: described(
        "The type of the entry.",
        form === "changed" ? v.optional(own) : own,
      ),
    });
    return named(name, form, true, entry);
  });
}

/** An entry with a missing or wrong type. Its other fields are not checked. */
function untyped({ fields }: Rows): Schema {
  const [[name, field]] = Object.entries(fields) as [[string, Field]];
  return object({ [name]: schemaOf(field, "new", fields)! });
}

/** The column that holds the type of a row. */
export function discriminatorOf({ fields }: Rows): string {
  return Object.keys(fields)[0]!;
}

/** The fields of an entry, which may depend on its type. */
export function fieldsOfEntry(array: Rows | Values, entry: Entry): Fields {
  if (array.kind !== "rows" || !array.types) return array.fields;
  const type = entry[discriminatorOf(array)] as string;
  return { ...array.fields, ...array.types[type]?.fields };
}

/**
 * Returns the fields of an entry that are no longer true, because a field that they describe has
 * changed and they have not (`describes` of `TypeOfRow`).
 */
export function outdatedFields({ types = {} }: Rows, before: Entry, now: Entry): string[] {
  return Object.values(types).flatMap(({ describes = {} }) =>
    Object.entries(describes).flatMap(([name, others]) => {
      const isSame = before[name] != null && before[name] === now[name];
      const isOutdated = others.some((one) => before[one] != null && before[one] !== now[one]);
      return isSame && isOutdated ? [name] : [];
    })
  );
}

/**
 * Returns the types of row that a valid entry can update: its own, or, if it has none, each that it
 * is valid for.
 */
export function typesOf(array: Rows, entry: Entry): string[] {
  const own = discriminatedType(array, entry);
  return own ? [own] : Object.keys(array.types!).filter((type) => !issuesAs(array, type, entry));
}

/** The issues of an entry that updates a row of this type. */
export function issuesAs(array: Rows, type: string, entry: Entry) {
  return v.safeParse(typedEntry(array, "changed", type), entry).issues;
}

function discriminatedType(array: Rows, entry: unknown): string | undefined {
  if (!isObject(entry)) return;
  const type = entry[discriminatorOf(array)];
  return Object.keys(array.types!).find((name) => name === type);
}

/**
 * Returns the type with most fields of an entry without one. Only the database knows the type of
 * its row.
 */
function likeliestType(array: Rows, entry: unknown): string | undefined {
  if (!isObject(entry) || discriminatorOf(array) in entry) return;
  const types = Object.entries(array.types!).map(([type, { fields }]) => ({
    type,
    shared: Object.keys(entry).filter((name) => Object.hasOwn(fields, name)),
  }));
  const most = Math.max(...types.map(({ shared }) => shared.length));
  return types.find(({ shared }) => shared.length === most)!.type;
}

/** Adds the rules of an entry to its schema, in bodies. */
export function ruled(
  entry: Schema,
  form: Form,
  rules: readonly Rule[] = [],
): Schema {
  if (rules.length === 0 || form === "shown") return entry;
  return v.pipe(
    entry,
    v.rawCheck(({ dataset, addIssue }) => {
      const given: unknown = dataset.value;
      if (!isObject(given)) return;
      const refused = refusedFields(dataset.issues);
      for (const { check, fields } of rules) {
        const message = catchDefect(
          () => checkWithRule(given, fields, refused, check),
          () => DEFECT_TEXT,
        );
        if (message) addIssue({ message, path: at(fields.at(-1)!) });
      }
    }),
  );
}

/** A record that a product shows, without its times. */
function linkedRecord(table: RecordTable): Schema {
  const { fields, type } = RECORDS[table];
  return once(fields, "linked", () => {
    const shown = Object.entries<Field>(fields).filter(([name, field]) =>
      name === "id" || field.kind === "column" && field.body
    );
    return named(
      type,
      "shown",
      false,
      objectOf(Object.fromEntries(shown), "shown"),
    );
  });
}

/** The body that creates a record (`new`), or updates it. */
export function recordBody(table: OwnTable, form: Form): Schema {
  return objectOf({ ...RECORDS[table].fields, products: PRODUCTS }, form);
}

/**
 * Returns the schema of a line of a file: a product or record as `GET` shows it, and `stored`. Its
 * `id`, times and code are restored.
 */
export function lineBody(
  table: OwnTable | "products",
  stored: v.ObjectEntries,
): Schema<RestoredLine> {
  const fields = table === "products"
    ? { ...SCALARS, ...ARRAYS }
    : { ...RECORDS[table].fields, products: PRODUCTS };
  const before = { id: Uuid, stored: v.optional(closedObject(stored), {}) };
  const line = objectOf(fields, "restored", before) as Schema<RestoredLine>;
  if (table === "products") ofProducts.set(line, "restored");
  return line;
}

/** The body of `POST /products`. */
export const CreateProduct = productBody("new");

/** The body of `PUT /products/{id}`. An absent field keeps its value, and null clears a field. */
export const UpdateProduct = productBody("changed");

const { product_code: _, ...WITHOUT_CODE } = SCALARS;

/**
 * The body of an upsert, which may have the `product_code` to match. `CreateProduct` or
 * `UpdateProduct` validates it fully.
 */
export const UpsertProduct = objectOf(
  { ...WITHOUT_CODE, ...ARRAYS },
  "changed",
  {
    product_code: v.optional(
      described("The code of the product to update, if it is matched.", text()),
    ),
  },
);

function productBody(form: Form) {
  const body = objectOf({ ...SCALARS, ...ARRAYS }, form) as Schema<ProductBody>;
  ofProducts.set(body, form);
  return body;
}

/** Whether the schema is that of a product, in a body or in a line of a file. */
export function isOfProduct(schema: v.GenericSchema): boolean {
  return ofProducts.has(schema);
}

/** The arrays in a body of this schema, each with its value, and the form of the body. */
export function arraysIn(
  schema: v.GenericSchema,
  body: unknown,
): { form: Form; arrays: [array: ArrayField, value: unknown][] } {
  const path = ofPaths.get(schema);
  if (path) return { form: "new", arrays: [[path, body]] };
  const form = ofProducts.get(schema);
  if (!form || !isObject(body)) return { form: "new", arrays: [] };
  return {
    form,
    arrays: Object.entries<ArrayField>(ARRAYS).map(([name, array]) => [array, body[name]]),
  };
}
