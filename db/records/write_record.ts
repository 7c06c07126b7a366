import type { RecordBody } from "../../schema/record_bodies.ts";
import type { OwnTable } from "../../schema/records.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { claim, type KeyedRequest, remember } from "../idempotency.ts";
import type { Precondition } from "../products/statements.ts";
import { uuidv7 } from "../uuid.ts";
import { notFound, recordById } from "./read_record.ts";
import { deleteRow, insertRow, lockRow, updateRow } from "./record_row.ts";
import { recordJson, recordWithId } from "./shown_record.ts";
import { explainDelete, explainWrite } from "./record_violations.ts";

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
        const { record_id, answer } = earlier;
        return { id: record_id!, record: answer, isReplayed: true };
      }
      const [, [created]] = await tx.commit(
        insertRow(table, id, body),
        recordById(table, id),
        ...request ? rememberRecord(request, table, id) : [],
      );
      return { id, record: created!.record, isReplayed: false };
    });
  } catch (error) {
    throw explainWrite(error);
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
    throw explainWrite(error);
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
    throw await explainDelete(database, error, { table, id });
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

function rememberRecord(request: KeyedRequest, table: OwnTable, id: string) {
  return remember(
    request,
    sql`
      select r.organization_id, r.id as record_id, ${
      recordJson(table)
    } as answer
      ${recordWithId(table, id)}
    `,
  );
}
