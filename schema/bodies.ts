import * as v from "valibot";
import {
  type ArrayField,
  explained,
  type Field,
  type Fields,
  type Group,
  type List,
  meaningOf,
  meaningOfLabel,
  type Rows,
  type Rule,
  type Values,
} from "./fields.ts";
import {
  array,
  at,
  chosen,
  closedObject,
  DUPLICATE,
  isObject,
  list,
  object,
  remembered,
  SAME,
} from "./objects.ts";
import { ARRAYS, SCALARS } from "./product.ts";
import { type OwnTable, PRODUCTS, RECORDS } from "./records.ts";
import { described, NoId, text, Uuid } from "./values.ts";

/*
 * The schemas of request bodies, which follow from the descriptions of products and
 * records.
 */

/** A validated body of a product: the given fields by name. */
export interface ProductBody {
  [field: string]: unknown;
  format_id?: string | null;
  product_form_id?: string | null;
  series_id?: string | null;
  product_collections?: { collection_id: string }[];
}

/** A validated entry of an array, or body of a record: the given fields by name. */
export type Entry = Record<string, unknown>;

type Schema<T = Entry> = v.GenericSchema<unknown, T>;

/** `new` for what creates a row, `changed` for what updates one: every field is optional. */
type Form = "new" | "changed";

/** The maximum number of entries in all arrays of a tree. */
const MAX_ROWS = 20_000;

/** The body that creates a record (`new`), or updates it. */
export function recordBody(table: OwnTable, form: Form): Schema {
  return objectBody({ ...RECORDS[table].fields, products: PRODUCTS }, form);
}

/**
 * The body that replaces an array at a path of its own. Ids are unique among rows of the
 * same table.
 */
export function pathBody(array: Rows): Schema<Entry[]> {
  return v.pipe(
    v.unknown(),
    v.check(
      (tree) => countEntries(tree) <= MAX_ROWS,
      `too_many: At most ${MAX_ROWS} entries in all arrays together`,
    ),
    arrayOf(array, "new"),
    v.rawCheck(({ dataset, addIssue }) => {
      const seen = new Set<string>();
      for (const { table, id, path } of namedRows(array, dataset.value)) {
        const row = `${table} ${id.toLowerCase()}`;
        if (seen.has(row)) addIssue({ message: DUPLICATE, path: at(...path) });
        seen.add(row);
      }
    }),
  );
}

/** Valid entries of an array at a path of its own as a body, without what only responses have. */
export function sentBack(array: Rows, entries: readonly Entry[]): Entry[] {
  return v.parse(pathBodyOf(array), entries);
}

const pathBodyOf = remembered(pathBody);
const ChangedId = described("The id of the entry to change.", Uuid);

const KeptId = described(
  "The id of the stored entry that this one replaces. Without it, the entry gets a new id.",
  v.optional(Uuid),
);

/** What the discriminator of an entry means, in bodies and responses. */
export const TYPE = "The type of the entry.";

/** The schema of an object that writes these fields. The others are ignored. */
function objectBody(
  fields: Fields,
  form: Form,
  before: v.ObjectEntries = {},
): Schema {
  const written: v.ObjectEntries = { ...before };
  const ignored: Record<string, string | undefined> = {};
  for (const [name, field] of Object.entries(fields)) {
    const schema = bodyValue(field, form);
    const { body, labels } = field.kind === "column" ? field : {};
    if (schema) written[name] = explained(name, field, schema, body);
    else ignored[name] = meaningOf(name, field);
    if (labels) ignored[`${name}_label`] = meaningOfLabel(name, labels);
  }
  return closedObject(written, ignored) as Schema;
}

/** The schema of a field in bodies, or undefined for a field that only responses have. */
function bodyValue(field: Field, form: Form): v.GenericSchema | undefined {
  switch (field.kind) {
    case "column": {
      const { body, isRequired, fallback } = field;
      if (!body) return;
      if (form === "new" && isRequired) return body;
      if (form === "new" && fallback !== undefined) {
        return v.optional(body, fallback);
      }
      return v.optional(
        isRequired || fallback !== undefined ? body : v.nullable(body),
      );
    }
    case "group": {
      const group = groupOf(field);
      return field.unless
        ? v.optional(v.nullable(group))
        : v.optional(group, {});
    }
    case "rows":
      if (field.path) return;
      return field.put === "tree"
        ? v.optional(arrayOf(field, form), [])
        : v.optional(arrayOf(field, form));
    case "values":
    case "list": {
      const entries = entriesOf(field);
      return form === "new" && field.isRequired ? entries : v.optional(entries);
    }
  }
}

/** The entries of an array of values, in bodies and in files. */
export const entriesOf = remembered((
  field: Values | List,
): v.GenericSchema<unknown, unknown[]> => {
  const min = field.isRequired ? 1 : 0;
  if (field.kind === "list") {
    const { item, max, isDistinct } = field;
    return array(item, { min, max, distinct: isDistinct ? [SAME] : [] });
  }
  return array(valueOfArray(field), { min, distinct: identities(field) });
});

/** What no two entries of an array may share, of which each entry may be invalid. */
function identities({ distinct = [] }: Rows | Values) {
  return distinct.map(({ field, keyOf }) => ({
    field,
    keyOf: (entry: unknown) => isObject(entry) ? keyOf(entry) : undefined,
  }));
}

/** An entry of an array of values. */
export const valueOfArray = remembered(
  ({ fields, rules, stored }: Values): Schema => {
    const valid = ruled(entryOf(fields), rules);
    return stored ? v.pipe(valid, v.transform(stored)) : valid;
  },
);

/** The schema of an array in the body of a product, or in a tree. */
function arrayOf(rows: Rows, form: Form): v.GenericSchema<unknown, Entry[]> {
  const { put, key = [] } = rows;
  if (put === "link") return list(newEntry(rows), ...key);
  if (put === "tree" || form === "new") {
    return array(newEntry(rows), { distinct: identities(rows) });
  }
  return list(anyEntry(rows), "id");
}

/** An entry with an `id` updates a row. An entry without one creates a row. */
function anyEntry(array: Rows): Schema {
  const options = [newEntry(array), changedEntry(array)];
  const types = Object.keys(array.types ?? {});
  return chosen(
    types.length > 0
      ? [
        ...types.map((type) => newEntryOfType(array, type)),
        ...types.map((type) => changedEntryOfType(array, type)),
      ]
      : options,
    (entry) => options[isObject(entry) && "id" in entry ? 1 : 0]!,
  );
}

/** An entry that creates a row. In a tree, its `id` names the row that it replaces. */
export const newEntry = remembered((array: Rows): Schema => {
  const { fields, types, put, key, isIdHidden, rules } = array;
  if (types) {
    return chosen(
      Object.keys(types).map((type) => newEntryOfType(array, type)),
      (entry) => {
        const type = typeOf(array, entry);
        return type ? newEntryOfType(array, type) : untyped(array);
      },
    );
  }
  const id = put === "tree" ? KeptId : NoId;
  const hasId = !key && !isIdHidden;
  return ruled(objectBody(fields, "new", hasId ? { id } : {}), rules);
});

/** An entry that updates the row with its `id`. */
export const changedEntry = remembered((array: Rows): Schema => {
  const { fields, types, rules } = array;
  if (types) {
    return chosen(
      Object.keys(types).map((type) => changedEntryOfType(array, type)),
      (entry) => {
        const type = typeOf(array, entry) ?? likeliestType(array, entry);
        return type ? changedEntryOfType(array, type) : untyped(array);
      },
    );
  }
  return ruled(objectBody(fields, "changed", { id: ChangedId }), rules);
});

/** The columns of an object. */
export const entryOf = remembered((fields: Fields): Schema =>
  objectBody(fields, "new")
);

const groups = new WeakMap<Fields, Schema>();

/** An object of columns, such as a territory: one schema for all groups of these fields. */
export function groupOf({ fields, rules }: Group): Schema {
  const group = groups.get(fields) ?? ruled(entryOf(fields), rules);
  groups.set(fields, group);
  return group;
}

/** An entry that creates a row of this type. */
export function newEntryOfType(array: Rows, type: string): Schema {
  return ofType(array).created[type]!;
}

/** An entry that updates a row of this type. */
export function changedEntryOfType(array: Rows, type: string): Schema {
  return ofType(array).changed[type]!;
}

const ofType = remembered((array: Rows) => {
  const discriminator = discriminatorOf(array);
  const byType = (schemaOf: (type: string, fields: Fields) => Schema) =>
    Object.fromEntries(
      Object.entries(array.types!).map(([type, { fields }]) => [
        type,
        schemaOf(type, fields),
      ]),
    );
  return {
    created: byType((type, fields) =>
      objectBody(fields, "new", {
        id: NoId,
        [discriminator]: described(TYPE, v.literal(type)),
      })
    ),
    changed: byType((type, fields) =>
      objectBody(fields, "changed", {
        id: ChangedId,
        [discriminator]: described(TYPE, v.optional(v.literal(type))),
      })
    ),
  };
});

/** An entry with a missing or wrong type. Its other fields are not checked. */
const untyped = remembered(({ fields }: Rows): Schema => {
  const [[name, field]] = Object.entries(fields) as [[string, Field]];
  return object({ [name]: bodyValue(field, "new")! });
});

/** The column that holds the type of a row. */
export function discriminatorOf({ fields }: Rows): string {
  return Object.keys(fields)[0]!;
}

/** The types of row that a valid entry can update: its own type, or every type that it is valid for. */
export function typesOf(array: Rows, entry: Entry): string[] {
  const own = typeOf(array, entry);
  return own
    ? [own]
    : Object.keys(array.types!).filter((type) => !issuesAs(array, type, entry));
}

/** The issues of an entry that updates a row of this type. */
export function issuesAs(array: Rows, type: string, entry: Entry) {
  return v.safeParse(changedEntryOfType(array, type), entry).issues;
}

function typeOf(array: Rows, entry: unknown): string | undefined {
  if (!isObject(entry)) return;
  const type = entry[discriminatorOf(array)];
  return Object.keys(array.types!).find((name) => name === type);
}

/** The type that shares most fields with an entry without one. Only the database knows the row's type. */
function likeliestType(array: Rows, entry: unknown): string | undefined {
  if (!isObject(entry) || discriminatorOf(array) in entry) return;
  const types = Object.entries(array.types!).map(([type, { fields }]) => ({
    type,
    shared: Object.keys(entry).filter((name) => Object.hasOwn(fields, name)),
  }));
  const most = Math.max(...types.map(({ shared }) => shared.length));
  return types.find(({ shared }) => shared.length === most)!.type;
}

/** The same entry, with the issues of its rules. */
export function ruled(entry: Schema, rules: readonly Rule[] = []): Schema {
  if (rules.length === 0) return entry;
  return v.pipe(
    entry,
    v.rawCheck(({ dataset, addIssue }) => {
      const given: unknown = dataset.value;
      if (!isObject(given)) return;
      for (const { check, fields } of rules) {
        const message = check(given);
        if (message) addIssue({ message, path: at(fields.at(-1)!) });
      }
    }),
  );
}

/** The `id` of an entry in a body, with its path. */
export interface NamedRow {
  table: string;
  id: string;
  path: (string | number)[];
}

/** Yields every id in an array and the arrays below it. The entries may be invalid. */
export function* namedRows(
  array: ArrayField,
  entries: unknown,
  path: NamedRow["path"] = [],
): Generator<NamedRow> {
  if (array.kind !== "rows" || !Array.isArray(entries)) return;
  const { table, fields } = array;
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) continue;
    if (typeof entry.id === "string") {
      yield { table, id: entry.id, path: [...path, i, "id"] };
    }
    for (const [name, field] of Object.entries(fields)) {
      if (field.kind !== "rows") continue;
      yield* namedRows(field, entry[name], [...path, i, name]);
    }
  }
}

function countEntries(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, inner) => sum + countEntries(inner),
    Array.isArray(value) ? value.filter(isObject).length : 0,
  );
}

/** The body of `POST /products`. */
export const CreateProduct = productBody("new");

/** The body of `PUT /products/{id}`. An absent field keeps its value, and null clears a field. */
export const UpdateProduct = productBody("changed");

const { product_code: _, ...WITHOUT_CODE } = SCALARS;

/** The body of an upsert, which may match `product_code`. `CreateProduct` and `UpdateProduct` validate it. */
export const UpsertProduct = objectBody(
  { ...WITHOUT_CODE, ...ARRAYS },
  "changed",
  {
    product_code: v.optional(
      described("The code of the product to update, if it is matched.", text()),
    ),
  },
);

function productBody(form: Form) {
  return objectBody({ ...SCALARS, ...ARRAYS }, form) as Schema<ProductBody>;
}
