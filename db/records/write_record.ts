import type { RecordBody } from "../../schema/record_bodies.ts";
import { type OwnTable, RECORDS } from "../../schema/records.ts";
import { json, names, organization, raw, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import {
  type KeyedRequest,
  type Outcome,
  withIdempotencyKey,
} from "../idempotency.ts";
import type { Precondition } from "../products/write.ts";
import { nextUpdate } from "../times.ts";
import { uuidv7 } from "../uuid.ts";
import { throwDeleteError, throwWriteError } from "./record_uses.ts";
import {
  notFound,
  recordById,
  recordJson,
  recordWithId,
} from "./shown_record.ts";

/**
 * Creates a record, once per `Idempotency-Key`. Throws `VALIDATION_ERROR` for an
 * unknown reference, and the errors of `once`.
 */
export async function createRecord(
  database: Queries,
  table: OwnTable,
  body: RecordBody,
  request: KeyedRequest,
): Promise<Outcome> {
  const id = uuidv7();
  const columns = Object.keys(RECORDS[table].columns);
  const values = columns.map((column) => sql`, ${body[column] ?? null}`);
  const insert = sql`
    insert into ${raw(table)} (organization_id, id, ${names(...columns)})
    values (${organization}, ${id}${values})
  `;
  return await withIdempotencyKey(database, request, async (tx, remember) => {
    const [, [created]] = await tx.commit(
      insert,
      recordById(table, id),
      ...remember(sql`
        select r.organization_id, r.id as record_id,
          ${recordJson(table)} as answer
        ${recordWithId(table, id)}
      `),
    );
    return { id, answer: created!.record };
  }).catch(throwWriteError);
}

/**
 * Updates the fields that the body contains, and returns the record as JSON text.
 * Throws `NOT_FOUND`, `VALIDATION_ERROR` or the error of the precondition.
 */
export async function updateRecord(
  database: Queries,
  table: OwnTable,
  id: string,
  body: RecordBody,
  precondition?: Precondition,
): Promise<string> {
  const columns = names(...Object.keys(RECORDS[table].columns));
  const update = sql`
    update ${raw(table)} r
    set
      updated_at = ${nextUpdate("r.updated_at")},
      (${columns}) = (
        select ${columns} from jsonb_populate_record(r, ${json(body)})
      )
    where r.organization_id = ${organization} and r.id = ${id}
  `;
  const isEmpty = Object.keys(body).length === 0;
  const results = await database.transaction(async (tx) => {
    if (precondition) {
      const record = await lock(tx, table, id);
      if (record === undefined) throw notFound(table, id);
      precondition(record);
    }
    return await tx.commit(...isEmpty ? [] : [update], recordById(table, id));
  }).catch(throwWriteError);
  // If SQL replaces the row meanwhile, the update misses the new row.
  if (results.some(({ count }) => count === 0)) throw notFound(table, id);
  const [updated] = results.at(-1) as { record: string }[];
  return updated!.record;
}

/**
 * Deletes a record, and returns whether it existed. Throws `CONFLICT` while products
 * reference it, or the error of the precondition.
 */
export async function deleteRecord(
  database: Queries,
  table: OwnTable,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const [deleted] = await database.transaction(async (tx) => {
    if (precondition) precondition(await lock(tx, table, id));
    return await tx.commit(sql`
      delete from ${raw(table)} r
      where r.organization_id = ${organization} and r.id = ${id}
      returning r.id
    `);
  }).catch((error) => throwDeleteError(database, table, id, error));
  if (deleted.length > 0) return true;
  // SQL may have replaced the row while the deletion waited for it.
  const [replaced] = await database.lookUp(recordById(table, id));
  return replaced !== undefined &&
    await deleteRecord(database, table, id, precondition);
}

/**
 * Locks a record until the end of the transaction, and returns it as JSON text. The
 * lock permits new references by products.
 */
async function lock(
  tx: Transaction,
  table: OwnTable,
  id: string,
): Promise<string | undefined> {
  const [, [current]] = await tx.send(
    sql`select ${recordWithId(table, id)} for no key update`,
    recordById(table, id),
  );
  return current?.record;
}
