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

/** A validated line of a file. */
export interface RestoredLine extends Entry {
  id: string;
  /** What `GET` does not show, by name. */
  stored: Record<string, unknown[] | undefined>;
}

type Schema<T = Entry> = v.GenericSchema<unknown, T>;

/**
 * `new` for what creates a row, `changed` for what updates one: every field is optional.
 * `restored` for the line of a file: what is new, with the ids that it had.
 */
type Form = "new" | "changed" | "restored";

/** The maximum number of entries in all arrays of a tree. */
const MAX_ROWS = 20_000;

/** The body that creates a record (`new`), or updates it. */
export function recordBody(table: OwnTable, form: Form): Schema {
  return objectBody({ ...RECORDS[table].fields, products: PRODUCTS }, form);
}

/**
 * The line of a product or of a record in a file: what `GET` shows of it, whose `id`, times
 * and code are restored, and `stored`.
 */
export function lineBody(
  table: OwnTable | "products",
  stored: v.ObjectEntries,
): Schema<RestoredLine> {
  const fields = table === "products"
    ? { ...SCALARS, ...ARRAYS }
    : { ...RECORDS[table].fields, products: PRODUCTS };
  const before = { id: Uuid, stored: v.optional(closedObject(stored), {}) };
  return objectBody(fields, "restored", before) as Schema<RestoredLine>;
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
      const { body, restored, isRequired, fallback } = field;
      if (!body) {
        return form === "restored" && restored
          ? v.optional(restored)
          : undefined;
      }
      if (form !== "changed" && isRequired) return body;
      if (form !== "changed" && fallback !== undefined) {
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
      if (field.path) {
        return form === "restored" ? v.optional(pathBody(field)) : undefined;
      }
      return field.put === "tree"
        ? v.optional(arrayOf(field, form), [])
        : v.optional(arrayOf(field, form));
    case "values":
    case "list": {
      const entries = entriesOf(field);
      return form !== "changed" && field.isRequired
        ? entries
        : v.optional(entries);
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
  const { distinct } = field;
  return array(valueOfArray(field), { min, distinct });
});

/** An entry of an array of values. */
export const valueOfArray = remembered(
  ({ fields, rules, stored }: Values): Schema => {
    const valid = ruled(entryOf(fields), rules);
    return stored ? v.pipe(valid, v.transform(stored)) : valid;
  },
);

/** The schema of an array in the body of a product, or in a tree. */
function arrayOf(rows: Rows, form: Form): v.GenericSchema<unknown, Entry[]> {
  const { put, key = [], distinct } = rows;
  if (put === "link") return list(rowEntry(rows, "new"), ...key);
  if (put === "tree" || form === "new") {
    return array(rowEntry(rows, "new"), { distinct });
  }
  return list(
    form === "restored" ? rowEntry(rows, form) : anyEntry(rows),
    "id",
  );
}

/** An entry with an `id` updates a row. An entry without one creates a row. */
function anyEntry(array: Rows): Schema {
  const types = Object.keys(array.types ?? {});
  const options = (["new", "changed"] as const).flatMap((form) =>
    types.length > 0
      ? types.map((type) => typedEntry(array, form, type))
      : rowEntry(array, form)
  );
  return chosen(
    options,
    (entry) =>
      rowEntry(array, isObject(entry) && "id" in entry ? "changed" : "new"),
  );
}

/**
 * An entry that creates a row, or updates the row with its `id`. In a tree, the `id` of a
 * new entry names the row that it replaces.
 */
export function rowEntry(array: Rows, form: Form): Schema {
  return rowEntries(array)[form];
}

const rowEntries = remembered((array: Rows) => {
  const { fields, types, put, key, isIdHidden, rules } = array;
  function made(form: Form): Schema {
    if (types) {
      return chosen(
        Object.keys(types).map((type) => typedEntry(array, form, type)),
        (entry) => {
          const type = typeOf(array, entry) ??
            (form === "changed" ? likeliestType(array, entry) : undefined);
          return type ? typedEntry(array, form, type) : untyped(array);
        },
      );
    }
    if (form === "changed") {
      return ruled(objectBody(fields, form, { id: ChangedId }), rules);
    }
    const id = put === "tree" || form === "restored" ? KeptId : NoId;
    return ruled(
      objectBody(fields, form, key || isIdHidden ? {} : { id }),
      rules,
    );
  }
  return {
    new: made("new"),
    changed: made("changed"),
    restored: made("restored"),
  };
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

/** An entry that creates or updates a row of this type. */
export function typedEntry(array: Rows, form: Form, type: string): Schema {
  return typedEntries(array)[form][type]!;
}

const typedEntries = remembered((array: Rows) => {
  const discriminator = discriminatorOf(array);
  function made(form: Form): Record<string, Schema> {
    return Object.fromEntries(
      Object.entries(array.types!).map(([type, { fields }]) => {
        const own = v.literal(type);
        const id = { new: NoId, changed: ChangedId, restored: KeptId }[form];
        const isChanged = form === "changed";
        return [
          type,
          objectBody(fields, form, {
            id,
            [discriminator]: described(TYPE, isChanged ? v.optional(own) : own),
          }),
        ];
      }),
    );
  }
  return {
    new: made("new"),
    changed: made("changed"),
    restored: made("restored"),
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
  return v.safeParse(typedEntry(array, "changed", type), entry).issues;
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

/** Marks an entry whose id is that of a row to create. No body of a request has it. */
export const NEW_ROW: unique symbol = Symbol("new row");

/** Yields every id of a row that exists, in an array and the arrays below it. The entries may be invalid. */
export function* namedRows(
  array: ArrayField,
  entries: unknown,
  path: NamedRow["path"] = [],
): Generator<NamedRow> {
  if (array.kind !== "rows" || !Array.isArray(entries)) return;
  const { table, fields } = array;
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) continue;
    if (typeof entry.id === "string" && !(NEW_ROW in entry)) {
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
