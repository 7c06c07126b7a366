import type { ProductBody } from "../../schema/product.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { type KeyedRequest, once, type Outcome } from "../idempotency.ts";
import { uuidv7 } from "../uuid.ts";
import {
  type Answer,
  answerProducts,
  currentProducts,
  fullAnswer,
} from "./documents.ts";
import { checkFound, type Expected } from "./nested_rows.ts";
import { notFound } from "./read.ts";
import { lockProducts } from "./row.ts";
import { type Precondition, writing } from "./statements.ts";
import { explain, lookingUp } from "./violations.ts";

/**
 * Creates the product with its nested records. Requests with the same
 * `Idempotency-Key` create it once. Throws `VALIDATION_ERROR` with every error.
 */
export async function createProduct(
  database: Operations,
  body: ProductBody,
  request: KeyedRequest,
): Promise<Outcome> {
  const change = { id: uuidv7(), body, isNew: true };
  try {
    return await once(database, request, async (tx, remember) => {
      const { expected, writes } = writing({ changes: [change], deleted: [] });
      const found = expected.map(({ statement }) => statement);
      if (found.length > 0) checkFound(expected, await tx.send(...found));
      const remembering = remember(sql`
        select d.organization_id, d.product_id as record_id, ${fullAnswer} as answer
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = ${change.id}
      `);
      const results = await tx.commit(
        ...writes,
        answerProducts([change.id]),
        ...remembering,
      );
      const [created] = results.at(-1 - remembering.length) as Answer[];
      return { id: change.id, answer: created!.product };
    });
  } catch (error) {
    throw await explain(lookingUp(database), error, change);
  }
}

/**
 * Updates the fields in the body, and returns the full product. Throws `NOT_FOUND`,
 * or `VALIDATION_ERROR` with every error.
 */
export async function updateProduct(
  database: Operations,
  id: string,
  body: ProductBody,
  precondition?: Precondition,
): Promise<string> {
  const change = { id, body, isNew: false };
  const { expected, writes } = writing({ changes: [change], deleted: [] });
  const isEmpty = Object.keys(body).length === 0;
  const check = precondition && ((product: string | undefined) => {
    if (product === undefined) throw notFound(id);
    precondition(product);
  });
  try {
    const results = await database.transaction(async (tx) => {
      const isChecked = check !== undefined || expected.length > 0;
      if (isChecked) await lockAndCheck(tx, id, expected, check);
      return await tx.commit(
        ...isChecked ? [] : [lockProducts(id)],
        ...writes,
        isEmpty ? currentProducts(id) : answerProducts([id]),
      );
    });
    const [updated] = results.at(-1) as Answer[];
    if (!updated) throw notFound(id);
    return updated.product;
  } catch (error) {
    throw await explain(lookingUp(database), error, change);
  }
}

/**
 * Deletes the product with its nested records. Returns whether it existed. Throws
 * `CONFLICT` for a product in a publishing programme.
 */
export async function deleteProduct(
  database: Operations,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const { writes } = writing({ changes: [], deleted: [id] });
  try {
    const [locked] = await database.transaction(async (tx) => {
      if (precondition) await lockAndCheck(tx, id, [], precondition);
      return await tx.commit(...writes);
    });
    return locked!.length > 0;
  } catch (error) {
    const change = { id, body: {}, isNew: false };
    throw await explain(lookingUp(database), error, change);
  }
}

/** Locks and checks the product in one round trip, before the writes. */
async function lockAndCheck(
  tx: Transaction,
  id: string,
  expected: readonly Expected[],
  precondition?: Precondition,
): Promise<void> {
  const [, ...results] = await tx.send(
    lockProducts(id),
    ...precondition ? [currentProducts(id)] : [],
    ...expected.map(({ statement }) => statement),
  );
  if (precondition) {
    const [current] = results.shift() as Answer[];
    precondition(current?.product);
  }
  checkFound(expected, results);
}
