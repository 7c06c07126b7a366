import * as v from "valibot";
import { Amount, Percent, PositiveInteger } from "./numbers.ts";
import { DateTime } from "./date_time.ts";
import { array, type Distinct, distinctBy, SAME } from "./objects.ts";
import { code, type OnixList } from "./onix_codes.ts";
import { idOrName, type Names } from "./named.ts";
import { Day, described, heading, idIn, text, Timestamp } from "./values.ts";

/*
 * The vocabulary in which `product.ts` and `records.ts` describe what is stored. A field has the same
 * name in its column and in JSON. Everything that reads or writes a field is derived from its
 * description: schemas (`bodies.ts`) and SQL (`db/products/`).
 */

/** The fields of an object, in the order of responses. */
export type Fields = Readonly<Record<string, Field>>;

export type Field =
  & (Column | Shown | Derived | Group | Rows | Values | List | Linked)
  & { about?: About };

/** A field that is an array in bodies. */
export type ArrayField = Rows | Values | List;

/** A field with a column of its own. */
export type StoredField = Column | Values | List;

/** What a field means, for clients. */
export interface About {
  sentence: string;
  /**
   * Its path in ONIX, relative to the composite of the object, from which reading and writing
   * follow (`features/onix/schema/codecs/path.ts`). Default: the field's name in PascalCase. Null: it has none.
   * Example: `Extent[ExtentType=00,ExtentUnit=03]/ExtentValue`.
   */
  element?: string | null;
}

/** A column of the row. */
export interface Column {
  kind: "column";
  /**
   * Its value in bodies. Absent if the service assigns it: bodies may then have it, but it is
   * ignored.
   */
  body?: v.GenericSchema;
  /** Its value in responses, where it may be null unless it is required or has a fallback. */
  response: v.GenericSchema;
  /** Its value in lines of files, if the service otherwise assigns it. */
  restored?: v.GenericSchema;
  /** Whether a new row must have it. */
  isRequired?: boolean;
  /** The value of a new row without it. Other columns are then null. */
  fallback?: unknown;
  /** The form in responses. Default: as stored. */
  format?: "decimal" | "time" | "array";
  /** The ONIX list of a code. */
  list?: OnixList;
  /** The ONIX list of a code that responses show with its label, as `<name>_label`. */
  labels?: OnixList;
  /** The record whose id the column holds. */
  refers?: Reference;
}

/** A column that holds the id of a record. */
export interface Reference {
  /** The table of the record. */
  table: string;
  /** The foreign key that refuses an unknown id. Default: `<table>_<name without _id>`. */
  constraint?: string;
  /** The description of the list filter by this reference. Without it, lists have no such filter. */
  filter?: string;
  /** Whether `product_counts` stores a count for each of its values. */
  isCounted?: true;
  /** Whether the record must also be one of the product's collections. */
  isSeries?: true;
  /** The reference whose record stores the id instead of the row. */
  heldBy?: string;
}

/** A column of the record that a reference names, in responses only. */
export interface Shown {
  kind: "shown";
  reference: string;
  column: string;
  /** Whether it is null, instead of absent, if there is no record. */
  isAlwaysThere?: true;
  /** Whether only bodies have it, in place of the reference. */
  isForBodies?: true;
}

/** Whether the code of the row is one of a set, in responses only. */
export interface Derived {
  kind: "derived";
  code: string;
  isTrueFor: readonly string[];
  /**
   * The codes for which it is false. It is then null for all others. Without them, it is false for
   * all others.
   */
  isFalseFor?: readonly string[];
}

/** Columns of the row as an object. */
export interface Group {
  kind: "group";
  fields: Fields;
  /** The name of its schemas in the OpenAPI document. */
  type?: string;
  /** A column that must be false. If it is true, the group is null, in bodies as well. */
  unless?: string;
  rules?: readonly Rule[];
}

/** Rows of a table below the row, as an array. */
export interface Rows {
  kind: "rows";
  table: string;
  fields: Fields;
  type?: string;
  /**
   * How a body writes the array:
   * - `patch`: an entry with an id updates its row, one without is appended, other rows
   *   are kept. `[]` deletes all.
   * - `replace`: an entry with an id keeps and updates its row, other rows are deleted.
   * - `link`: the entries replace the rows. `key` identifies a row.
   * - `tree`: the entries replace the rows and all rows below them. An entry with an id
   *   keeps it.
   */
  put: "patch" | "replace" | "link" | "tree";
  /** The fields that identify a row. Default: `id`. */
  key?: readonly string[];
  /** The fields by which an upsert matches entries without an id to rows. */
  naturalKey?: readonly string[];
  /** Whether responses omit the ids. */
  isIdHidden?: true;
  /** The column of the tables below that references this table. */
  link?: string;
  /** The fields of each type of row. `fields` then has the discriminator alone. */
  types?: Readonly<Record<string, TypeOfRow>>;
  /**
   * The fields by which entries are matched in ONIX, `group.field` in a group. Default: their
   * required codes.
   */
  same?: readonly string[];
  /** The fields that distinguish entries with the same key, the strongest first. */
  apart?: readonly string[];
  /** The fields that are one value in ONIX: a record changes all of them or none. */
  together?: readonly string[];
  /** Whether an entry in ONIX keeps its other fields if one of them cannot be read. */
  keepsRest?: true;
  /** The rules on several fields of an entry. */
  rules?: readonly Rule[];
  /** The keys that no two entries of a tree may share. */
  distinct?: readonly Distinct[];
  /** An entry, for the error of one that is no object. */
  example?: string;
  /** The last segment of its own path, such as `territories`. Product bodies then ignore the array. */
  path?: string;
  /** The fields of an entry in lists. Default: all. */
  inLists?: readonly string[] | "none";
}

/** One of the types of rows in a table. */
export interface TypeOfRow {
  /** The name of its schemas in the OpenAPI document. */
  type: string;
  fields: Fields;
  /** Its composite in ONIX. */
  element: string;
  same: readonly string[];
  /** The fields that distinguish entries with the same key, the strongest first. */
  apart: readonly string[];
  /** The fields that are one value in ONIX: a record changes all of them or none. */
  together?: readonly string[];
  /**
   * The fields that describe others, with those. If a described field changes in a stored entry and
   * the describing one does not, that is cleared, since it is no longer true.
   */
  describes?: Readonly<Record<string, readonly string[]>>;
}

/** Objects without an identity, in one column of the type `jsonb`. A body replaces them all. */
export interface Values {
  kind: "values";
  fields: Fields;
  type?: string;
  rules?: readonly Rule[];
  /** What no two entries may share. */
  distinct?: readonly Distinct[];
  /** The fields by which entries are matched in ONIX. Default: their required codes. */
  same?: readonly string[];
  /** An entry, for the error of one that is no object. */
  example?: string;
  /** A valid entry in the form in which it is stored. Default: unchanged. */
  stored?: (entry: Record<string, unknown>) => Record<string, unknown>;
  /** Whether an entry that has the array must have at least one value in it. */
  isRequired?: boolean;
}

/** Codes or URLs, in one column of the type `jsonb`. A body replaces them all. */
export interface List {
  kind: "list";
  /** A value in bodies. */
  item: v.GenericSchema;
  /** A value in responses. */
  response: v.GenericSchema;
  /** The maximum number of values. Default: that of all arrays. */
  max?: number;
  /** Whether no value may occur twice. */
  isDistinct?: boolean;
  /** Whether an entry that has the array must have at least one value in it. */
  isRequired?: boolean;
}

/** The records that rows link to, in responses only and absent if there are none. */
export interface Linked {
  kind: "linked";
  /** The table of the records. */
  table: string;
  /** The table of the rows, and their reference to the records. */
  through: string;
  reference: string;
}

/**
 * A rule on several fields of an entry, each of which may be absent or null. It is not run if one
 * of them is invalid.
 */
export interface Rule {
  /** The fields that it reads. An issue is reported at the last one. */
  fields: readonly string[];
  /** The message of the issue, if there is one. */
  check: (entry: Record<string, unknown>) => string | undefined;
  /**
   * The check constraint `<table>_<name>`, which checks stored values that a body does not have,
   * with its message.
   */
  constraint?: { name: string; message: string };
}

/** A column, nullable and optional unless `options` say otherwise. */
export function column(
  body: v.GenericSchema,
  response: v.GenericSchema = body,
  options: Partial<Column> = {},
): Column {
  return { kind: "column", body, response, ...options };
}

/** Makes a field required in new rows. An array must then have a value. */
export function required<F extends StoredField>(field: F): F {
  return { ...field, isRequired: true };
}

/** A column that the service assigns, and an import restores if `restored` is given. */
export function assigned(
  response: v.GenericSchema,
  restored?: v.GenericSchema,
): Column {
  return {
    kind: "column",
    response,
    isRequired: true,
    ...restored && { restored },
  };
}

/** The time of an event, assigned by the service. */
export const time: Column = {
  ...assigned(Timestamp, DateTime),
  format: "time",
};

export const words = column(text(), v.string());
export const day = column(Day);
export const count = column(
  PositiveInteger,
  v.pipe(v.number(), v.integer()),
);

export const amount = column(Amount, v.number(), { format: "decimal" });
export const percent = column(
  Percent,
  described("In percent.", v.number()),
  { format: "decimal" },
);

/** True or false, false by default. */
export const isTrue = column(
  v.boolean("invalid_type: Expected true or false"),
  v.boolean(),
  { fallback: false },
);

/** True or false, where null counts as false. False by default. */
export const isTrueOrNull = column(
  v.pipe(
    v.nullable(v.boolean("invalid_type: Expected true or false")),
    v.transform((isTrue) => isTrue ?? false),
  ),
  v.boolean(),
  { fallback: false },
);

/** A code of an ONIX list. */
export function codeOf(list: OnixList): Column {
  const codes = code(list);
  const shown = described(v.getDescription(codes)!, v.string());
  return column(codes, shown, { list });
}

/** A code of an ONIX list, which responses show with its label. */
export function labelled(list: OnixList): Column {
  return { ...codeOf(list), labels: list };
}

/** Codes of an ONIX list in an array column, empty by default. */
export function codesOf(
  onixList: OnixList,
  item: v.GenericSchema = code(onixList),
): Column {
  const codes = `Codes of ONIX List ${onixList}.`;
  return column(
    described(codes, array(item, { distinct: [SAME] })),
    described(codes, v.array(v.string())),
    { fallback: [], format: "array" },
  );
}

/** The id of a record. */
export function refers(
  table: string,
  options: Omit<Reference, "table"> = {},
): Column {
  const path = `/${table.replaceAll("_", "-")}`;
  return { ...column(idOrName(idIn(path))), refers: { table, ...options } };
}

/** A column of the record that a reference names. */
export function shown(
  reference: string,
  column: string,
  options: Pick<Shown, "isAlwaysThere" | "isForBodies"> = {},
): Shown {
  return { kind: "shown", reference, column, ...options };
}

/** Whether the column `code` of the row has one of these codes. */
export function derived(
  code: string,
  isTrueFor: readonly string[],
  isFalseFor?: readonly string[],
): Derived {
  return { kind: "derived", code, isTrueFor, ...isFalseFor && { isFalseFor } };
}

/** Columns of the row as an object. */
export function group(
  fields: Fields,
  options: Omit<Group, "kind" | "fields"> = {},
): Group {
  return { kind: "group", fields, ...options };
}

/** The rows of a table below the row. */
export function rows(
  table: string,
  fields: Fields,
  options: Omit<Rows, "kind" | "table" | "fields">,
): Rows {
  return { kind: "rows", table, fields, ...options };
}

/** Objects in one column. */
export function values(
  fields: Fields,
  options: Omit<Values, "kind" | "fields"> = {},
): Values {
  return { kind: "values", fields, ...options };
}

/** Codes of an ONIX list. */
export function listOfCodes(
  onixList: OnixList,
  options: Pick<List, "max" | "isDistinct"> = {},
): List {
  return {
    kind: "list",
    item: code(onixList),
    response: v.string(),
    ...options,
  };
}

/** Values of any schema. */
export function listOf(item: v.GenericSchema, options: Pick<List, "max"> = {}): List {
  return { kind: "list", item, response: item, ...options };
}

/** Whether a text is missing: absent, null or blank. */
export function isMissing(text: unknown): boolean {
  return text === undefined || text === null ||
    typeof text === "string" && !/\S/.test(text);
}

/** A rule: some codes need a name. */
export function neededFor(
  name: string,
  codeField: string,
  ...codes: string[]
): Rule {
  return {
    fields: [codeField, name],
    check: ({ [codeField]: code, [name]: value }) =>
      codes.includes(code as string) && isMissing(value)
        ? `required: The code ${code} of ${codeField} needs a name`
        : undefined,
  };
}

/** A rule: one code needs a name, and no other may have it. */
export function onlyFor(name: string, codeField: string, only: string): Rule {
  const needed = neededFor(name, codeField, only);
  return {
    ...needed,
    check(entry) {
      const { [codeField]: code, [name]: value } = entry;
      const isOther = typeof code === "string" && code !== only;
      return isOther && value !== undefined && value !== null
        ? `unexpected_name: Only the code ${only} of ${codeField} has a name: omit it`
        : needed.check(entry);
    },
  };
}

/**
 * Identifiers of one party or thing, such as `SupplierIdentifier`: a type of an ONIX list, the
 * name of a proprietary type, and the value. One of each type, and a proprietary one of each name.
 */
export function identifiers(
  type: string,
  codeField: string,
  list: OnixList,
  { rules = [], ...options }: Pick<Values, "rules" | "distinct" | "stored"> = {},
  element = pascal(codeField).replace("Id", "ID"),
): Values {
  // deno-fmt-ignore
  const fields: Fields = {
    [codeField]: about("The type of the identifier.", required(codeOf(list)), element),
    id_type_name: about("The name of a proprietary type, required for code 01 and only there.", words, "IDTypeName"),
    id_value: about("The identifier.", required(column(heading())), "IDValue"),
  };
  return values(fields, {
    type,
    same: [codeField, "id_type_name"],
    rules: [onlyFor("id_type_name", codeField, "01"), ...rules],
    distinct: [distinctBy(codeField, "id_type_name")],
    ...options,
  });
}

/** Adds its meaning and its path in ONIX to a field. */
export function about<F extends Field>(
  sentence: string,
  field: F,
  element?: string | null,
): F {
  return {
    ...field,
    about: element === undefined ? { sentence } : { sentence, element },
  };
}

/**
 * Returns the fields by which the entries of an array are matched in ONIX. `type` is the code in
 * the key that names the kind of entry, such as the type of a right.
 */
export function keysOf(
  { fields, same, apart = [] }:
    & Pick<Rows | Values, "fields" | "same">
    & Pick<Rows, "apart">,
): { key: readonly string[]; apart: readonly string[]; type?: string } {
  const codes = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === "column" && field.isRequired && field.list ? [name] : []
  );
  const key = same ?? codes;
  const [first] = key;
  return { key, apart, ...first && codes.includes(first) && { type: first } };
}

/** Returns the path of a field in ONIX, if it has one. */
export function elementOf(name: string, { about }: Field): string | null {
  return about?.element === undefined ? pascal(name) : about.element;
}

/**
 * Returns the meaning of a field in three parts: its sentence, the description of its values, its
 * path in ONIX.
 */
export function meaningOf(
  name: string,
  field: Field,
  values?: v.GenericSchema,
): string | undefined {
  if (!field.about) return;
  const element = elementOf(name, field);
  return [
    field.about.sentence,
    values && v.getDescription(values),
    element && `ONIX: \`${element}\`.`,
  ].filter(Boolean).join(" ");
}

/** The schema of a field with its meaning. */
export function explained<const S extends v.GenericSchema>(
  name: string,
  field: Field,
  schema: S,
  values?: v.GenericSchema,
): S {
  const meaning = meaningOf(name, field, values);
  return meaning ? described(meaning, schema) as unknown as S : schema;
}

/** Describes the label of a code, which is beside the code as `<name>_label`. */
export function meaningOfLabel(name: string, list: OnixList): string {
  return `The label of \`${name}\` in ONIX List ${list}.`;
}

const PASCAL = new Map<string, string>();

/** The name of a field as that of an element, such as `ExtentType`. */
export function pascal(name: string): string {
  let element = PASCAL.get(name);
  if (element === undefined) {
    element = name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
    PASCAL.set(name, element);
  }
  return element;
}

/** The name of an element in snake_case. */
export function snake(element: string): string {
  return element.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();
}

/** Whether the field has a column of its own. */
export function isStored(field: Field): field is StoredField {
  return ["column", "values", "list"].includes(field.kind);
}

/** The columns of a row with these fields, including those of its groups. */
export function columnsIn(fields: Fields): [string, StoredField][] {
  return Object.entries(fields).flatMap(
    ([name, field]): [string, StoredField][] => {
      if (field.kind === "group") return columnsIn(field.fields);
      return isStored(field) ? [[name, field]] : [];
    },
  );
}

/** The tables of an array, with those of the arrays below it. */
export function tablesOf({ table, fields }: Rows): string[] {
  return [table, ...arraysBelow(fields).flatMap(tablesOf)];
}

/** The arrays of rows below a row with these fields, including those in its groups. */
export function arraysBelow(fields: Fields): Rows[] {
  return Object.values(fields).flatMap((field) => {
    if (field.kind === "group") return arraysBelow(field.fields);
    return field.kind === "rows" ? [field] : [];
  });
}

/** The fields with names and codes of referenced records, by the reference. */
export function namesIn(fields: Fields): Names {
  const names = Object.entries(fields).flatMap(([field, shown]) => {
    if (shown.kind !== "shown" || !isName(shown)) return [];
    const { reference, column } = shown;
    return { reference, field, column };
  }).sort((a, b) => a.column < b.column ? -1 : a.column > b.column ? 1 : 0);
  return new Map(
    Array.from(
      Map.groupBy(names, ({ reference }) => reference),
      ([reference, given]) => {
        const { isRequired = false } = fields[reference] as Column;
        return [reference, { isRequired, given }];
      },
    ),
  );
}

/** Whether the field is a name or code that can stand for the id of its record. */
export function isName(
  shown: Shown,
): shown is Shown & { column: "code" | "name" } {
  return shown.column === "code" || shown.column === "name";
}
