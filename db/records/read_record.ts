import {
  isShared,
  nounOf,
  type OwnTable,
  type RecordTable,
} from "../../schema/records.ts";
import { ApiError } from "../../schema/errors.ts";
import { sql, type Statement } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { recordJson, recordWithId } from "./shown_record.ts";
import { productsOf } from "./record_uses.ts";

/** A record as JSON text. */
export interface Shown {
  record: string;
}

/** The record with this id. No row where the organization has none. */
export function recordById(table: RecordTable, id: string): Statement<Shown> {
  return sql<Shown>`select ${recordJson(table)} as record ${
    recordWithId(table, id)
  }`;
}

/** A record, and for those of an organization how many products refer to it. Throws `NOT_FOUND`. */
export async function getRecord(
  database: Operations,
  table: RecordTable,
  id: string,
): Promise<Shown & { products?: number }> {
  const [found] = isShared(table)
    ? await database.lookUp(recordById(table, id))
    : await database.scan(usedRecord(table as OwnTable, id));
  if (!found) throw notFound(table, id);
  return found;
}

function usedRecord(table: OwnTable, id: string) {
  return sql<Shown & { products: number }>`
    select ${recordJson(table)} as record, ${productsOf(table, id)} as products
    ${recordWithId(table, id)}
  `;
}

/** The failure of a request for a record that the organization does not have. */
export function notFound(table: RecordTable, id: string): ApiError {
  return new ApiError("NOT_FOUND", `No ${nounOf(table)} with id "${id}"`);
}
