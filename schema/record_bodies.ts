import * as v from "valibot";
import { fields } from "./objects.ts";
import { type OwnTable, RECORDS, type RecordTable } from "./records.ts";
import { heading, text, Timestamp, Uuid } from "./values.ts";

/*
 * The bodies of requests that write records, and records as answers show them.
 */

const Colour = v.pipe(
  v.string("invalid_type: Expected a string"),
  v.regex(
    /^#[0-9a-fA-F]{6}$/,
    "invalid_colour: Expected a colour as # and six hexadecimal digits",
  ),
);

/** What a body may have in the columns, by their names. */
const RULES = {
  name: heading(500),
  badge_colour: v.nullable(Colour),
  collection_type: v.nullable(text()),
  product_form_id: v.nullable(Uuid),
};

/** The fields that only answers have: a body may repeat them, and they are ignored. */
const ANSWERED = {
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  products: v.optional(v.pipe(
    v.number(),
    v.integer(),
    v.description(
      "How many products refer to it. Only get has this, and the ETag does not cover it.",
    ),
  )),
};

/** The columns that a body writes. Absent ones stay as they are. */
export type RecordBody = Record<string, unknown>;

/** The body that creates a record: only the name is required. */
export function createBody(table: OwnTable) {
  const { name, ...optional } = rulesOf(table);
  return fields(
    { name, ...v.partial(v.object(optional)).entries },
    Object.keys(ANSWERED),
  );
}

/** The body that changes a record: any part of it. */
export function updateBody(table: OwnTable) {
  return fields(
    v.partial(v.object(rulesOf(table))).entries,
    Object.keys(ANSWERED),
  );
}

/** A record in answers. */
export function recordAnswer(table: OwnTable) {
  const { id, ...others } = ANSWERED;
  return v.object({ id, ...RECORDS[table].columns, ...others });
}

/** A row of a code list in answers. */
export function codeAnswer(table: RecordTable) {
  return v.object({ id: Uuid, ...RECORDS[table].columns });
}

/** A product of a publishing programme. */
export const ProgramProduct = v.object({ id: Uuid, title: v.string() });

/** An ONIX list, and how many codes it has. */
export const CodeList = v.object({
  number: v.pipe(v.number(), v.integer()),
  codes: v.pipe(v.number(), v.integer()),
});

/** A code of an ONIX list. */
export const OnixCode = v.object({ code: v.string(), label: v.string() });

function rulesOf(table: OwnTable) {
  const columns = Object.keys(RECORDS[table].columns) as (keyof typeof RULES)[];
  return {
    ...Object.fromEntries(columns.map((column) => [column, RULES[column]])),
    name: RULES.name,
  };
}
