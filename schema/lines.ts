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
import {
  chosen,
  closedObject,
  isObject,
  list,
  MAX_ENTRIES,
  object,
  sameFields,
  unique,
} from "./objects.ts";
import { ARRAYS, SCALARS } from "./product.ts";
import { nounOf, OWN_TABLES, type OwnTable, RECORDS } from "./records.ts";
import { REFERENCES, referencesIn } from "./references.ts";
import { heading, Uuid } from "./values.ts";

/*
 * The lines of an exported organization. A line is a record: the columns of its table, and
 * arrays of the rows below it, named after their tables. A missing field is null or
 * empty. A record may only refer to records on earlier lines.
 */

type LineObject = Record<string, unknown>;

/** A table of the format. */
export interface LineTable {
  table: string;
  /** Columns that the file omits, since each database sets its own values. */
  omit?: readonly string[];
  /** The column of the tables below that refers to this table. */
  link?: string | undefined;
  /** What no two rows of the organization share, or of the record. Default: their id. */
  key?: string;
  /** The tables below. */
  rows: readonly LineTable[];
  /** A row with the rows below it. */
  schema: v.GenericSchema<unknown, LineObject>;
}

const MAX_INT = 2_147_483_647;

/** The position of a row, up to this one. */
function positionUpTo(most: number) {
  return v.pipe(
    v.number("invalid_type: Expected a whole number"),
    v.check(
      (number) =>
        Number.isInteger(number) && number >= -MAX_INT && number <= most,
      `out_of_range: Expected a whole number up to ${most}`,
    ),
  );
}

const RowPosition = positionUpTo(MAX_INT);

/** The positions of rows that later updates append to. */
const AppendedPosition = positionUpTo(MAX_ENTRIES - 1);

/** An offset that PostgreSQL does not know. */
const FAR_OFFSET = /[+-](?:1[6-9]|2\d):\d\d$/;

/** A time as exports write it, to the microsecond. */
const ExactTime = v.pipe(
  v.string("invalid_type: Expected a time as a string"),
  v.check(
    (time) => isDateTime(time.replace(" ", "T")) && !FAR_OFFSET.test(time),
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
const ONIX_RECORDS = onixTable("onix_records", "record_reference", {
  record_reference: heading(500),
  record: v.string("invalid_type: Expected a string"),
  digest: heading(),
  product_updated_at: v.optional(v.nullable(ExactTime)),
  differences: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
  identities: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
});

/** The other references under which records of a product came. */
const ONIX_ALIASES = onixTable("onix_aliases", "record_reference", {
  record_reference: heading(500),
});

/** When each sender sent its latest message with a record of the product. */
const ONIX_SENDERS = onixTable("onix_senders", "sender_name", {
  sender_name: heading(500),
  sent_at: ExactTime,
});

/** A table of what ONIX stores beside a product. */
function onixTable(
  table: string,
  key: string,
  columns: v.ObjectEntries,
): LineTable {
  return {
    table,
    key,
    rows: [],
    schema: closedObject(columns) as LineTable["schema"],
  };
}

const POSITIONS = {
  patch: AppendedPosition,
  link: RowPosition,
  replace: RowPosition,
};

/** The tables by kind of record. Each kind follows the kinds that it refers to. */
export const LINE_KINDS: Readonly<Record<string, LineTable>> = {
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
    }, [ONIX_RECORDS, ONIX_ALIASES, ONIX_SENDERS]),
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
      publishing_program_products: v.optional(v.pipe(
        v.array(products, "invalid_type: Expected an array"),
        unique(sameFields(["product_id"])),
      )),
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
    ...put && !key && { id: Uuid },
    // Files of earlier releases have no positions in the trees.
    ...put &&
      { position: put === "tree" ? v.optional(RowPosition) : POSITIONS[put] },
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
  return chosen<LineObject>(Object.values(byType), (row) => {
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
  const { body, isRequired, refers } = field;
  if (refers?.heldBy || name === "organization_id") return;
  const value = body ?? ASSIGNED[name]!;
  const isGiven = body ? isRequired : name === "product_code";
  return isGiven ? value : v.optional(v.nullable(value));
}

/**
 * Validates a record of this kind as the API would. Returns its values in the form in
 * which they are stored, or its error.
 */
export function validLine(
  kind: string,
  given: LineObject,
): LineObject & { id: string } | ApiError {
  const schema = v.intersect([LINE_KINDS[kind]!.schema, object({ id: Uuid })]);
  const read = v.safeParse(schema, given);
  return read.success ? read.output : invalidBody(read.issues);
}

/** The ids of other records in a line, with their pointers and tables. */
export function referencesOfLine(kind: string, line: object) {
  const record = line as LineObject;
  const { table } = LINE_KINDS[kind]!;
  const references = kind === "product"
    ? REFERENCES.filter(({ isSeries, heldBy }) => !isSeries && !heldBy)
    : referencesIn(table, RECORDS[table as OwnTable].fields);
  const programmed = record.publishing_program_products as LineObject[] ?? [];
  return [
    ...references.flatMap(({ field, array, table: table_name }) => {
      const rows = array ? record[array.table] as LineObject[] ?? [] : [record];
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

/**
 * The pointers of the rows of a table in a line that repeat the key of an earlier one, at any
 * place. A row above that repeats a key stands for those in it.
 */
export function repeatedRows(
  kind: string,
  line: object,
  table: string,
): string[] {
  const pointers = new Set<string>();
  const seen = new Set<string>();

  function look(
    { rows }: LineTable,
    record: LineObject,
    at: string,
    above?: string,
  ) {
    for (const below of rows) {
      const entries = record[below.table] as LineObject[] ?? [];
      entries.forEach((entry, i) => {
        const pointer = `${at}/${below.table}/${i}`;
        const { key = "id" } = below;
        const row = `${below.table} ${entry[key]}`;
        const repeated = above ??
          (seen.has(row) ? `${pointer}/${key}` : undefined);
        if (repeated && below.table === table) pointers.add(repeated);
        seen.add(row);
        look(below, entry, pointer, repeated);
      });
    }
  }

  look(LINE_KINDS[kind]!, line as LineObject, "");
  return [...pointers];
}

const Header = object({ organization: object({ name: heading() }) });

/** Validates the name of the organization in a header. */
export function validName(name: unknown): string | ApiError {
  const read = v.safeParse(Header, { organization: { name } });
  return read.success
    ? read.output.organization.name
    : invalidBody(read.issues);
}
