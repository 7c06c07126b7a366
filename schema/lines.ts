import * as v from "valibot";
import { discriminatorOf, entriesOf, ruled } from "./bodies.ts";
import { isDateTime } from "./date_time.ts";
import { type ApiError, invalidBody } from "./errors.ts";
import {
  arraysBelow,
  columnsIn,
  type Fields,
  type Rows,
  type StoredField,
} from "./fields.ts";
import { chosen, closedObject, isObject, list, object } from "./objects.ts";
import { ARRAYS, SCALARS } from "./product.ts";
import { nounOf, OWN_TABLES, type OwnTable, RECORDS } from "./records.ts";
import { REFERENCES, referencesIn } from "./references.ts";
import { heading, Uuid } from "./values.ts";

/*
 * The lines of an exported organization. A line is a record: the columns of its table, and
 * arrays of the rows below it, named after their tables. A missing field is null or
 * empty. A record may only refer to records on earlier lines.
 */

type Line = Record<string, unknown>;

/** A table of the format. */
export interface LineTable {
  table: string;
  /** Columns that the file omits, since each database sets its own values. */
  omit?: readonly string[];
  /** The column of the tables below that refers to this table. */
  link?: string | undefined;
  /** The tables below. */
  rows: readonly LineTable[];
  /** A row with the rows below it. */
  schema: v.GenericSchema<unknown, Line>;
}

const MAX_INT = 2_147_483_647;

const Position = v.pipe(
  v.number("invalid_type: Expected a whole number"),
  v.check(
    (number) =>
      Number.isInteger(number) && number >= -MAX_INT && number <= MAX_INT,
    `out_of_range: Expected a whole number up to ${MAX_INT}`,
  ),
);

/** A time as exports write it, to the microsecond. */
const ExactTime = v.pipe(
  v.string("invalid_type: Expected a time as a string"),
  v.check(
    (time) => isDateTime(time.replace(" ", "T")),
    "invalid_time: Expected a time with its offset such as 2027-01-31T12:00:00Z",
  ),
);

/** The columns that the service assigns, and an import restores. */
const ASSIGNED: Record<string, v.GenericSchema> = {
  id: Uuid,
  product_code: heading(),
  created_at: ExactTime,
  updated_at: ExactTime,
};

/** The ONIX record last received for a product. */
const ONIX_RECORDS: LineTable = {
  table: "onix_records",
  rows: [],
  schema: closedObject({
    record_reference: heading(500),
    record: v.string("invalid_type: Expected a string"),
    digest: heading(),
    product_updated_at: v.optional(v.nullable(ExactTime)),
    differences: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  }) as LineTable["schema"],
};

/** The tables by kind of record. Each kind follows the kinds that it refers to. */
export const KINDS: Readonly<Record<string, LineTable>> = {
  ...Object.fromEntries(
    OWN_TABLES.filter((table) => table !== "publishing_programs")
      .map((table) => {
        const { fields } = RECORDS[table];
        const kind = nounOf(table).replace(" ", "_");
        return [kind, tableOf({ table, fields })];
      }),
  ),
  product: {
    ...tableOf({
      table: "products",
      fields: { ...SCALARS, ...ARRAYS },
      link: "product_id",
    }, [ONIX_RECORDS]),
    omit: ["change_version"],
  },
  publishing_program: programs(),
};

function programs(): LineTable {
  const table = "publishing_programs";
  const products = closedObject({ product_id: Uuid });
  return {
    table,
    link: "program_id",
    rows: [{
      table: "publishing_program_products",
      rows: [],
      schema: products,
    }],
    schema: closedObject({
      ...columnEntries(RECORDS[table].fields),
      publishing_program_products: v.optional(v.array(products)),
    }),
  };
}

/** A table of rows, with more tables below it than the description has. */
function tableOf(
  array: Pick<Rows, "table" | "fields"> & Partial<Rows>,
  others: readonly LineTable[] = [],
): LineTable {
  const { table, fields, link } = array;
  const arrays = arraysBelow(fields);
  const below = [...arrays.map((array) => tableOf(array)), ...others];
  const entries = Object.fromEntries(
    below.map(({ table, schema }, i) => [
      table,
      v.optional(list(schema, ...arrays[i]?.key ?? ["id"])),
    ]),
  );
  return {
    table,
    link,
    // Tables without rows below come first, as in files of earlier releases.
    rows: [
      ...below.filter(({ rows }) => rows.length === 0),
      ...below.filter(({ rows }) => rows.length > 0),
    ],
    schema: rowOf(array, entries),
  };
}

/** A row with the columns of these fields, and `below`. */
function rowOf(
  array: Pick<Rows, "fields"> & Partial<Rows>,
  below: v.ObjectEntries,
) {
  const { fields, put, key, rules = [], types } = array;
  const own: v.ObjectEntries = {
    ...put && !key && { id: v.optional(Uuid) },
    ...put && { position: v.optional(Position) },
    ...columnEntries(fields),
    ...below,
  };
  const columns = new Map(columnsIn(fields));
  if (!types) {
    const ofColumns = rules.filter(({ fields }) =>
      fields.every((name) => columns.has(name))
    );
    return ruled(closedObject(own), ofColumns);
  }
  const others = Object.fromEntries(
    Object.values(types).flatMap(({ fields }) => Object.keys(fields))
      .map((name) => [name, v.optional(v.null())]),
  );
  const byType = Object.fromEntries(
    Object.entries(types).map(([type, { fields }]) => [
      type,
      closedObject({ ...own, ...others, ...columnEntries(fields) }),
    ]),
  );
  const discriminator = discriminatorOf(array as Rows);
  return chosen<Line>(Object.values(byType), (row) => {
    const type = isObject(row) ? row[discriminator] : undefined;
    return typeof type === "string" && Object.hasOwn(byType, type)
      ? byType[type]!
      : closedObject(own);
  });
}

function columnEntries(fields: Fields): v.ObjectEntries {
  const entries: v.ObjectEntries = {};
  for (const [name, field] of columnsIn(fields)) {
    const schema = columnEntry(name, field);
    if (schema) entries[name] = schema;
  }
  return entries;
}

function columnEntry(
  name: string,
  field: StoredField,
): v.GenericSchema | undefined {
  if (field.kind !== "column") {
    return v.optional(v.nullable(entriesOf(field)));
  }
  const { body, formerly, isRequired, refers } = field;
  if (refers?.heldBy || name === "organization_id") return;
  const value = formerly ?? body ?? ASSIGNED[name]!;
  return isRequired && body ? value : v.optional(v.nullable(value));
}

/**
 * Validates a record of this kind as the API would. Returns its values in the form in
 * which they are stored, or its error.
 */
export function validLine(
  kind: string,
  given: Line,
): Line & { id: string } | ApiError {
  const schema = v.intersect([KINDS[kind]!.schema, object({ id: Uuid })]);
  const read = v.safeParse(schema, given);
  return read.success ? read.output : invalidBody(read.issues);
}

/** The ids of other records in a line, with their pointers and tables. */
export function referencesOfLine(kind: string, line: object) {
  const record = line as Line;
  const { table } = KINDS[kind]!;
  const references = kind === "product"
    ? REFERENCES.filter(({ isSeries, heldBy }) => !isSeries && !heldBy)
    : referencesIn(table, RECORDS[table as OwnTable].fields);
  const programmed = record.publishing_program_products as Line[] ?? [];
  return [
    ...references.flatMap(({ field, array, table: table_name }) => {
      const rows = array ? record[array.table] as Line[] ?? [] : [record];
      return rows.map((row, i) => ({
        at: 0,
        pointer: array ? `/${array.table}/${i}/${field}` : `/${field}`,
        table_name,
        id: row[field],
      }));
    }),
    ...programmed.map(({ product_id: id }, i) => {
      const pointer = `/publishing_program_products/${i}/product_id`;
      return { at: 0, pointer, table_name: "products", id };
    }),
  ].filter(({ id }) => id);
}

const Header = object({ organization: object({ name: heading() }) });

/** Validates the name of the organization in a header. */
export function validName(name: unknown): string | ApiError {
  const read = v.safeParse(Header, { organization: { name } });
  return read.success
    ? read.output.organization.name
    : invalidBody(read.issues);
}
