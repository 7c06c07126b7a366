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
 * The bodies of requests that write records, and records as answers show them.
 */

/** The fields that only answers have: a body may repeat them, and they are ignored. */
const ANSWERED = {
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  products: described(
    "How many products refer to it. Only get has this, and the ETag does not cover it.",
    v.optional(v.pipe(v.number(), v.integer())),
  ),
};

/** The columns that a body writes. Absent ones stay as they are. */
export type RecordBody = Record<string, unknown>;

/** The body that creates a record: only the name is required. */
export function createBody(table: OwnTable) {
  return fields(
    creating(bodies(RECORDS[table].columns)),
    Object.keys(ANSWERED),
  );
}

/** The body that changes a record: any part of it. */
export function updateBody(table: OwnTable) {
  return fields(
    changing(bodies(RECORDS[table].columns)),
    Object.keys(ANSWERED),
  );
}

/** A record in answers. Those of a code list have no times. */
export function recordAnswer(table: RecordTable) {
  const { id, ...others } = ANSWERED;
  return v.object<v.ObjectEntries>({
    id,
    ...answers(RECORDS[table].columns),
    ...!isShared(table) && others,
  });
}
