import * as v from "valibot";
import { answers, bodies } from "./entry.ts";
import { changing, creating, fields } from "./objects.ts";
import {
  isShared,
  type OwnTable,
  RECORDS,
  type RecordTable,
} from "./records.ts";
import { described, Timestamp, Uuid } from "./values.ts";

/*
 * The schemas of records in request bodies and in responses.
 */

/** The response-only fields. A body may contain them, and they are ignored. */
const ANSWERED = {
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  products: described(
    "The number of products that refer to the record. Only in responses to `GET` of one record. `If-None-Match` notices a change of it, `If-Match` does not.",
    v.optional(v.pipe(v.number(), v.integer())),
  ),
};

/** The columns that a body writes. Absent columns keep their values. */
export type RecordBody = Record<string, unknown>;

/** The body that creates a record. Only the name is required. */
export function createBody(table: OwnTable) {
  return fields(
    creating(bodies(RECORDS[table].columns)),
    Object.keys(ANSWERED),
  );
}

/** The body that updates a record. Every field is optional. */
export function updateBody(table: OwnTable) {
  return fields(
    changing(bodies(RECORDS[table].columns)),
    Object.keys(ANSWERED),
  );
}

/** A record in responses. Records of a code list have no times. */
export function recordResponse(table: RecordTable) {
  const { id, ...others } = ANSWERED;
  return v.object<v.ObjectEntries>({
    id,
    ...answers(RECORDS[table].columns),
    ...!isShared(table) && others,
  });
}
