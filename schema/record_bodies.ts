import * as v from "valibot";
import { changing, creating, fields } from "./objects.ts";
import {
  isShared,
  type OwnTable,
  RECORDS,
  type RecordTable,
} from "./records.ts";
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
const RULES: v.ObjectEntries = {
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
  return fields(creating(rulesOf(table)), Object.keys(ANSWERED));
}

/** The body that changes a record: any part of it. */
export function updateBody(table: OwnTable) {
  return fields(changing(rulesOf(table)), Object.keys(ANSWERED));
}

function rulesOf(table: OwnTable): v.ObjectEntries {
  const columns = Object.keys(RECORDS[table].columns);
  return Object.fromEntries(columns.map((column) => [column, RULES[column]!]));
}

/** A record in answers. Those of a code list have no times. */
export function recordAnswer(table: RecordTable) {
  const { id, ...others } = ANSWERED;
  const { columns } = RECORDS[table];
  return v.object<v.ObjectEntries>({
    id,
    ...columns,
    ...!isShared(table) && others,
  });
}
