import { idOfCode } from "../../schema/code_ids.ts";
import {
  ApiError,
  invalid,
  invalidAt,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import type { Entry } from "../../schema/bodies.ts";
import { type Column, columnsIn } from "../../schema/fields.ts";
import { Named } from "../../schema/named.ts";
import { codesIn, expectedCode } from "../../schema/onix_codes.ts";
import type { RecordQuery, RecordSort } from "../../schema/record_query.ts";
import {
  codeListOf,
  isShared,
  nounOf,
  type OwnTable,
  RECORDS,
  type RecordTable,
} from "../../schema/records.ts";
import { REFERENCES, referencesIn } from "../../schema/references.ts";
import { brokenConstraint } from "../connections/errors.ts";
import {
  joined,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { assertPrecondition, etagOf, type Precondition } from "../entity_tag.ts";
import { type KeyedOutcome, type KeyedRequest, withIdempotencyKey } from "../idempotency.ts";
import { recordWithId, selectRecord } from "../row_json.ts";
import { type EntryPage, limitOf, selectEntries } from "../entry_page.ts";
import { namesContaining } from "../products/lists/search.ts";
import { mayBeNamed } from "../record_names.ts";
import { nextUpdate } from "../times.ts";
import { followUpdates, updatedFields } from "../renamed_records.ts";
import { uuidv7 } from "../uuid.ts";

/*
 * The records that products refer to. All statements follow from `schema/records.ts`.
 */

/** The sort key of names, which ignores case and accents. It matches the index. */
const sortKey = sql`left(r.name_key, 200)`;

/** The `order by` of records `r`. Ids order records with equal values. */
export const RECORD_SORTING: Record<RecordSort, Statement> = {
  "name": sql`${sortKey}, r.id`,
  "-name": sql`${sortKey} desc, r.id desc`,
  "created_at": sql`r.created_at, r.id`,
  "-created_at": sql`r.created_at desc, r.id desc`,
  "updated_at": sql`r.updated_at, r.id`,
  "-updated_at": sql`r.updated_at desc, r.id desc`,
};

/** Lists a page of records. */
export async function listRecords(
  database: Queries,
  table: OwnTable,
  query: RecordQuery,
): Promise<EntryPage> {
  const { sort, search, name } = query;
  const hasName = name === undefined ? [] : sql`and ${isNamed(table, name)}`;
  const found = sql`
    from ${raw(table)} r
    where r.organization_id = ${organization} and r.name_key >= ''
      ${hasName} ${namesContaining(search)}
  `;
  const entries = sql`
    select ${selectRecord(table)}
    from (
      select r.* ${found}
      order by ${RECORD_SORTING[sort]}
      ${limitOf(query)}
    ) r
  `;
  const statement = selectEntries(entries, found);
  const isPlain = sort === "name" && !search && name === undefined;
  const [page] = await database.scan(
    isPlain ? statement : unprepared(statement),
  );
  return page!;
}

/** The condition that record `r` has this name. */
function isNamed(table: RecordTable, name: string): Statement {
  return sql`${mayBeNamed(table, [name])} and compared_name(r.name) = compared_name(${name})`;
}

/** Returns the ids of up to ten records with this name. */
export async function findNamesakes(
  database: Queries,
  table: OwnTable,
  name: string,
): Promise<string[]> {
  const found = await database.lookUp(unprepared(sql<{ id: string }>`
    select r.id
    from ${raw(table)} r
    where r.organization_id = ${organization} and ${isNamed(table, name)}
    order by r.created_at, r.id
    limit 10
  `));
  return found.map(({ id }) => id);
}

/**
 * Gets a record as JSON text. A record of an organization comes with the number of
 * products that refer to it. Throws `NOT_FOUND`.
 */
export async function getRecord(
  database: Queries,
  table: RecordTable,
  id: string,
): Promise<{ record: string; products?: number }> {
  const [found] = isShared(table)
    ? await database.lookUp(recordById(table, id))
    : await database.scan(sql<{ record: string; products: number }>`
      select
        ${recordJson(table)} as record,
        ${countReferring(table, id)} as products
      ${recordWithId(table, sql`${id}`)}
    `);
  if (!found) throw recordNotFound(table, id);
  return found;
}

/** The error for a record that the organization does not have. */
export function recordNotFound(table: RecordTable, id: string): ApiError {
  return new ApiError("NOT_FOUND", `No ${nounOf(table)} with id "${id}"`);
}

/** Record `r` as JSON text. */
export function recordJson(table: RecordTable): Statement {
  return sql`(
    select row_to_json(x) from (select ${selectRecord(table)}) x
  )::text`;
}

/** Selects the record as JSON text. No row if the organization has no such record. */
function recordById(
  table: RecordTable,
  id: string,
): Statement<{ record: string }> {
  const record = recordWithId(table, sql`${id}`);
  return sql`select ${recordJson(table)} as record ${record}`;
}

/** The body with the ids that its codes stand for, which are the same in every database. */
function withCodeIds(table: OwnTable, given: Entry): Entry {
  const body = { ...given };
  for (const [name, value] of Object.entries(given)) {
    if (!(value instanceof Named)) continue;
    const { refers } = RECORDS[table].fields[name] as Column;
    const list = codeListOf(refers!.table as RecordTable)!;
    if (!codesIn(list).includes(value.value)) {
      const message = `invalid_code: ${expectedCode(list, value.value)}`;
      throw invalidAt(`/${value.field}`, message);
    }
    body[name] = idOfCode(`${list}`, value.value);
  }
  return body;
}

/** The columns that a body writes. */
export function recordColumns(table: OwnTable): string[] {
  return columnsIn(RECORDS[table].fields).flatMap(([name, field]) =>
    field.kind !== "column" || field.body ? [name] : []
  );
}

/**
 * Creates a record, once per `Idempotency-Key`. Throws `VALIDATION_ERROR` for an
 * unknown reference, and the errors of `withIdempotencyKey`.
 */
export async function createRecord(
  database: Queries,
  table: OwnTable,
  given: Entry,
  request: KeyedRequest,
): Promise<KeyedOutcome> {
  const body = withCodeIds(table, given);
  const id = uuidv7();
  const columns = recordColumns(table);
  const values = columns.map((column) => {
    const value = body[column] ?? null;
    return Array.isArray(value) ? sql`, ${json(value)}` : sql`, ${value}`;
  });
  const insert = sql`
    insert into ${raw(table)} (organization_id, id, ${names(...columns)})
    values (${organization}, ${id}${values})
  `;
  const work = async (
    tx: Transaction,
    storeResponse: (source: Statement) => Statement[],
  ) => {
    const [, [created]] = await tx.commit(
      insert,
      recordById(table, id),
      ...storeResponse(sql`
        select
          r.organization_id,
          r.id as record_id,
          ${recordJson(table)} as answer
        ${recordWithId(table, sql`${id}`)}
      `),
    );
    return { id, response: created!.record };
  };
  return await withIdempotencyKey(database, request, work)
    .catch((error) => throwUnknownReference(table, error));
}

/**
 * Updates the fields that the body contains, and returns the record as JSON text.
 * Throws `NOT_FOUND`, `VALIDATION_ERROR` or the error of the precondition.
 */
export async function updateRecord(
  database: Queries,
  table: OwnTable,
  id: string,
  given: Entry,
  precondition?: Precondition,
): Promise<string> {
  const body = withCodeIds(table, given);
  const columns = names(...recordColumns(table));
  const update = sql`
    update ${raw(table)} r
    set
      updated_at = ${nextUpdate("r.updated_at")},
      (${columns}) = (
        select ${columns} from jsonb_populate_record(r, ${json(body)})
      )
    where r.organization_id = ${organization} and r.id = ${id}
  `;
  const updates = Object.keys(body).length > 0 ? [update] : [];
  const results = await database.transaction(async (tx) => {
    if (precondition) {
      const record = await lockRecord(tx, table, id);
      if (record === undefined) throw recordNotFound(table, id);
      assertPrecondition(precondition, etagOf(record));
    }
    const following = followUpdates(tx, table, updatedFields([{ id, fields: body }]));
    return await tx.commit(
      ...updates.length > 0 ? following : [],
      ...updates,
      recordById(table, id),
    );
  }).catch((error) => throwUnknownReference(table, error));
  const [updated] = results.at(-1) as { record: string }[];
  if (!updated) throw recordNotFound(table, id);
  // SQL has deleted the row and inserted it again while the update waited for it.
  if (results.at(-2)?.count === 0) throw beingChanged(table);
  return updated.record;
}

/**
 * Deletes a record, and returns whether it existed. Throws `CONFLICT` while products
 * refer to it, or the error of the precondition.
 */
export async function deleteRecord(
  database: Queries,
  table: OwnTable,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const [deleted] = await database.transaction(async (tx) => {
    if (precondition) {
      const record = await lockRecord(tx, table, id);
      assertPrecondition(
        precondition,
        record === undefined ? undefined : etagOf(record),
      );
    }
    return await tx.commit(sql`
      delete from ${raw(table)} r
      where r.organization_id = ${organization} and r.id = ${id}
    `);
  }).catch((error) => throwInUse(database, table, id, error));
  if (deleted.count > 0) return true;
  // SQL may have deleted the row and inserted it again while the deletion waited for it.
  const [replaced] = await database.lookUp(recordById(table, id));
  if (replaced) throw beingChanged(table);
  return false;
}

/**
 * Locks a record until the end of the transaction, and returns it as JSON text. The
 * lock permits new references by products.
 */
async function lockRecord(
  tx: Transaction,
  table: OwnTable,
  id: string,
): Promise<string | undefined> {
  const [, [current]] = await tx.send(
    sql`select ${recordWithId(table, sql`${id}`)} for no key update`,
    recordById(table, id),
  );
  return current?.record;
}

function beingChanged(table: OwnTable, cause?: unknown): ApiError {
  return unavailable(
    `The ${nounOf(table)} is being changed by another request`,
    { cause },
  );
}

/** Throws `VALIDATION_ERROR` if a record refers to an unknown one, and otherwise the error. */
function throwUnknownReference(table: OwnTable, error: unknown): never {
  const constraint = brokenConstraint(error);
  const unknown = referencesIn(table, RECORDS[table].fields)
    .find((reference) => reference.constraint === constraint);
  if (!unknown) throw error;
  throw invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

/** Throws `CONFLICT` with the number of products if the record is in use, and otherwise the error. */
async function throwInUse(
  database: Queries,
  table: OwnTable,
  id: string,
  error: unknown,
): Promise<never> {
  const broken = brokenConstraint(error);
  if (!referringTo(table).some(({ constraint }) => constraint === broken)) {
    throw error;
  }
  const [row] = await database.scan(
    sql<{ count: number }>`select ${countReferring(table, id)} as count`,
  );
  const { count } = row!;
  // The last reference was removed after the deletion failed.
  if (count === 0) throw beingChanged(table, error);
  const message = count === 1 ? "1 product refers to it" : `${count} products refer to it`;
  throw new ApiError("CONFLICT", `The ${nounOf(table)} is in use: ${message}`, {
    cause: error,
    details: [{ code: "in_use", count, message }],
  });
}

/**
 * Where products refer to records of the table: the rows, their column with the record's
 * id and the one with the product's, and the foreign key. A series is omitted, since it is
 * also one of the product's collections.
 */
function referringTo(table: OwnTable) {
  if (table === "publishing_programs") {
    return [{
      rows: "publishing_program_products",
      product: "product_id",
      column: "program_id",
      constraint: "publishing_program_products_program",
    }];
  }
  return REFERENCES
    .filter((reference) => reference.table === table && !reference.isSeries)
    .map(({ field, array, constraint }) => ({
      rows: array?.table ?? "products",
      product: array ? "product_id" : "id",
      column: field,
      constraint,
    }));
}

/** An SQL expression that counts the products that refer to the record. */
function countReferring(table: OwnTable, id: string): Statement {
  // A product may list a contributor in several roles.
  const select = raw(table === "contributors" ? "select distinct" : "select");
  const products = referringTo(table).map(({ rows, product, column }) =>
    sql`
      ${select} x.${raw(product)}
      from ${raw(rows)} x
      where x.organization_id = ${organization} and x.${raw(column)} = ${id}
    `
  );
  if (products.length === 0) return raw("0");
  return sql`(select count(*) from (${joined(products, "union")}) referring)::int`;
}
