import * as v from "valibot";
import { lineBody, objectOf, type RestoredLine } from "./bodies.ts";
import { catchDefect, defectError } from "./defects.ts";
import { refusedBody } from "./accepted.ts";
import { ApiError } from "./errors.ts";
import { tablesOf } from "./fields.ts";
import { isObject, list, object } from "./objects.ts";
import { ORGANIZATION } from "./organization.ts";
import { ROWS } from "./product.ts";
import { nounOf, OWN_TABLES, type OwnTable } from "./records.ts";
import { Uuid } from "./values.ts";

/*
 * The format of export files: one JSON object per line. The first line is the header, of kind
 * `catalogue`. The other lines are records and products as `GET` shows them. Stored data that `GET`
 * does not show is in `stored`. A line may only refer to records on earlier lines.
 */

/** The kind and the version in the header. */
export const CATALOGUE = { kind: "catalogue", version: 2 } as const;

export type LineTable = OwnTable | "products";

/**
 * The tables in which ONIX stores data alongside products, with their columns besides those that
 * identify the product, and without the cached analysis. They are arrays in `stored`.
 */
export const ONIX_COLUMNS = {
  onix_records: [
    ...["record_reference", "record", "sender_name", "digest", "product_updated_at"],
    ...["differences", "identities"],
  ],
  onix_aliases: ["record_reference"],
  onix_senders: ["sender_name", "sent_at", "record", "digest", "differences", "identities"],
} as const;

export type OnixTable = keyof typeof ONIX_COLUMNS;

export const ONIX_TABLES = Object.keys(ONIX_COLUMNS) as OnixTable[];

/** The tables with the rows of a record. */
export function tablesOfLine(table: LineTable): string[] {
  switch (table) {
    case "products":
      return [
        table,
        ...ROWS.flatMap(([, array]) => tablesOf(array)),
        ...ONIX_TABLES,
      ];
    case "publishing_programs":
      return [table, "publishing_program_products"];
    default:
      return [table];
  }
}

/** A row of an ONIX table. */
const OnixRow = v.pipe(
  v.custom<object>(isObject, "invalid_type: Expected an object"),
  v.looseObject({
    record: v.nullish(v.string("invalid_type: Expected a string")),
  }),
);

/** The stored data that `GET` does not show, by table. */
const STORED: Partial<Record<LineTable, v.ObjectEntries>> = {
  products: Object.fromEntries(
    ONIX_TABLES.map((table) => [table, v.optional(list(OnixRow))]),
  ),
  publishing_programs: { products: v.optional(list(Uuid)) },
};

/** A kind of line. */
export interface LineKind {
  table: LineTable;
  schema: v.GenericSchema<unknown, RestoredLine>;
}

/** The kinds of lines. Each one follows the kinds that it refers to. */
export const LINE_KINDS: ReadonlyMap<string, LineKind> = new Map(
  [
    ...OWN_TABLES.filter((table) => table !== "publishing_programs"),
    "products" as const,
    "publishing_programs" as const,
  ].map((table) => [
    table === "products" ? "product" : nounOf(table).replace(" ", "_"),
    { table, schema: lineBody(table, STORED[table] ?? {}) },
  ]),
);

export const Header = object({
  organization: objectOf(ORGANIZATION, "new"),
  records: v.optional(
    v.pipe(
      v.number("invalid_type: Expected a whole number"),
      v.integer("invalid_type: Expected a whole number"),
    ),
    0,
  ),
});

/** The line of any record. */
export const Identified = object({ id: Uuid });

/** Validates a line. Returns its values in the form in which they are stored, or its error. */
export function validLine<T>(
  schema: v.GenericSchema<unknown, T>,
  given: unknown,
): T | ApiError {
  const read = catchDefect(() => v.safeParse(schema, given), defectError);
  if (read instanceof ApiError) return read;
  return read.success ? read.output : refusedBody(schema, given, read.issues);
}
