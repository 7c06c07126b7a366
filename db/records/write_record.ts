import { ApiError, invalid, unavailable } from "../../schema/errors.ts";
import { unknownReference } from "../../schema/errors.ts";
import type { RecordBody } from "../../schema/record_bodies.ts";
import { nounOf, type OwnTable } from "../../schema/records.ts";
import { REFERENCES } from "../../schema/references.ts";
import { sql } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import {
  claim,
  type KeyedRequest,
  rememberingFrom,
} from "../products/idempotency.ts";
import type { Precondition } from "../products/write.ts";
import { uuidv7 } from "../uuid.ts";
import { notFound, recordById } from "./read_record.ts";
import { deleteRow, insertRow, lockRow, updateRow } from "./record_row.ts";
import { recordJson, recordWithId } from "./shown_record.ts";
import { isUse, productsOf } from "./record_uses.ts";

/** A record that was created, now or by an earlier request with the same key. */
export interface CreatedRecord {
  id: string;
  record: string;
  isReplayed: boolean;
}

/** Creates the record, once for all requests with the same `Idempotency-Key`. Throws `VALIDATION_ERROR`. */
export async function createRecord(
  database: Operations,
  table: OwnTable,
  body: RecordBody,
  request?: KeyedRequest,
): Promise<CreatedRecord> {
  const id = uuidv7();
  try {
    return await database.transaction(async (tx) => {
      const earlier = request && await claim(tx, request);
      if (earlier) {
        await tx.commit();
        return { id: earlier.id, record: earlier.product, isReplayed: true };
      }
      const [, [created]] = await tx.commit(
        insertRow(table, id, body),
        recordById(table, id),
        ...request ? [remember(request, table, id)] : [],
      );
      return { id, record: created!.record, isReplayed: false };
    });
  } catch (error) {
    throw explained(error);
  }
}

/** Writes what the body has and nothing else, and gives the record. Throws `NOT_FOUND` or `VALIDATION_ERROR`. */
export async function updateRecord(
  database: Operations,
  table: OwnTable,
  id: string,
  body: RecordBody,
  precondition?: Precondition,
): Promise<string> {
  const isEmpty = Object.keys(body).length === 0;
  try {
    const results = await database.transaction(async (tx) => {
      if (precondition) {
        const record = await locked(tx, table, id);
        if (record === undefined) throw notFound(table, id);
        precondition(record);
      }
      return await tx.commit(
        ...isEmpty ? [] : [updateRow(table, id, body)],
        recordById(table, id),
      );
    });
    const [updated] = results.at(-1) as { record: string }[];
    if (!updated) throw notFound(table, id);
    return updated.record;
  } catch (error) {
    throw explained(error);
  }
}

/** Deletes the record, and says whether there was one. Throws `CONFLICT` while products refer to it. */
export async function deleteRecord(
  database: Operations,
  table: OwnTable,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  try {
    const [deleted] = await database.transaction(async (tx) => {
      if (precondition) precondition(await locked(tx, table, id));
      return await tx.commit(deleteRow(table, id));
    });
    return deleted.length > 0;
  } catch (error) {
    if (!isUse(table, brokenConstraint(error))) throw error;
    throw await inUse(database, table, id, error);
  }
}

/** The record, locked until the transaction ends; nothing where there is none. */
async function locked(
  tx: Transaction,
  table: OwnTable,
  id: string,
): Promise<string | undefined> {
  const [, [current]] = await tx.send(
    lockRow(table, id),
    recordById(table, id),
  );
  return current?.record;
}

function remember(request: KeyedRequest, table: OwnTable, id: string) {
  const columns = { record_id: sql`r.id`, answer: recordJson(table) };
  return sql`
    with ${rememberingFrom(request, columns, recordWithId(table, id))}
    select
  `;
}

/** A reference of the body that the database does not know; any other error as it is. */
function explained(error: unknown): unknown {
  const constraint = brokenConstraint(error);
  const unknown = REFERENCES.find((reference) =>
    reference.heldBy && reference.constraint === constraint
  );
  if (!unknown) return error;
  return invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

async function inUse(
  database: Operations,
  table: OwnTable,
  id: string,
  cause: unknown,
): Promise<ApiError> {
  const [row] = await database.scan(
    sql<{ count: number }>`select ${productsOf(table, id)} as count`,
  );
  const { count } = row!;
  const noun = nounOf(table);
  if (count === 0) {
    return unavailable(`The ${noun} is being used by another request`, cause);
  }
  const message = count === 1
    ? "1 product refers to it"
    : `${count} products refer to it`;
  return new ApiError("CONFLICT", `The ${noun} is in use: ${message}`, {
    cause,
    details: [{ code: "in_use", count, message }],
  });
}
