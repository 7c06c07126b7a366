import type { ProductBody } from "../../schema/product.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { uuidv7 } from "../uuid.ts";
import { rememberDeletion } from "./deletions.ts";
import { countProduct, moveCounts } from "./counts.ts";
import { type Answer, currentProduct, storeProduct } from "./documents.ts";
import { claim, type KeyedRequest, rememberAnswer } from "./idempotency.ts";
import { nestedWrites } from "./nested.ts";
import { checkFound, type Expected } from "./nested_rows.ts";
import { notFound } from "./read.ts";
import {
  deleteRow,
  insertRow,
  knownForm,
  lockForDelete,
  lockProduct,
  setProductForm,
  setSeries,
  updateRow,
} from "./row.ts";
import { explain } from "./violations.ts";

/*
 * Every write locks in one order, so that no two of them wait for each other: the
 * product, its counts, what belongs to it, and last the format it shares with
 * other products.
 */

/** A product that was created, now or by an earlier request with the same key. */
export interface Created extends Answer {
  id: string;
  /** Whether an earlier request has created it. */
  isReplayed: boolean;
}

/** Throws unless the product, as it is before the write, is the one that the client means. */
export type Precondition = (product: string | undefined) => void;

/**
 * Creates the product with everything in its body. Requests with the same
 * `Idempotency-Key` create it once. Throws `VALIDATION_ERROR` with every fault.
 */
export async function createProduct(
  database: Operations,
  body: ProductBody,
  request?: KeyedRequest,
): Promise<Created> {
  const id = uuidv7();
  const nested = nestedWrites(id, body);
  try {
    return await database.transaction(async (tx) => {
      const earlier = request && await claim(tx, request);
      if (earlier) {
        await tx.commit();
        return { ...earlier, isReplayed: true };
      }
      const expected = knownForm(body);
      const found = expected.map(({ statement }) => statement);
      if (found.length > 0) checkFound(expected, await tx.send(...found));
      const remembering = request ? rememberAnswer(request, id) : [];
      const results = await tx.commit(
        insertRow(id, body),
        countProduct(id, 1),
        ...nested.writes,
        ...body.series_id ? [setSeries(id, body.series_id)] : [],
        ...setProductForm(id, body),
        storeProduct(id),
        ...remembering,
      );
      const [created] = results.at(-1 - remembering.length) as Answer[];
      return { id, product: created!.product, isReplayed: false };
    });
  } catch (error) {
    throw await explain(database, error, { body });
  }
}

/**
 * Writes what the body has and nothing else, and gives the full product. Throws
 * `NOT_FOUND`, or `VALIDATION_ERROR` with every fault.
 */
export async function updateProduct(
  database: Operations,
  id: string,
  body: ProductBody,
  precondition?: Precondition,
): Promise<string> {
  const nested = nestedWrites(id, body);
  const expected = [...nested.changes, ...knownForm(body)];
  const isEmpty = Object.keys(body).length === 0;
  const check = precondition && ((product: string | undefined) => {
    if (product === undefined) throw notFound(id);
    precondition(product);
  });
  try {
    const results = await database.transaction(async (tx) => {
      if (check || expected.length > 0) {
        await lockAndCheck(tx, id, expected, check);
      }
      return await tx.commit(
        lockProduct(id),
        ...moveCounts(id, body),
        ...isEmpty ? [] : [updateRow(id, body)],
        ...nested.writes,
        // The link of a series comes before it, and goes after it.
        ...body.series_id !== undefined ? [setSeries(id, body.series_id)] : [],
        ...nested.prunes,
        ...setProductForm(id, body),
        isEmpty ? currentProduct(id) : storeProduct(id),
      );
    });
    const [updated] = results.at(-1) as Answer[];
    if (!updated) throw notFound(id);
    return updated.product;
  } catch (error) {
    throw await explain(database, error, { id, body });
  }
}

/**
 * Deletes the product with everything that belongs to it, and says whether there
 * was one. A product in a publishing programme breaks
 * `publishing_program_products_product`.
 */
export async function deleteProduct(
  database: Operations,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const results = await database.transaction(async (tx) => {
    if (precondition) await lockAndCheck(tx, id, [], precondition);
    return await tx.commit(
      lockForDelete(id),
      countProduct(id, -1),
      ...rememberDeletion(id),
      deleteRow(id),
    );
  });
  const deleted = results.at(-1)!;
  return deleted.length > 0;
}

/** Locks the product and checks it in one flight, before the rest is written. */
async function lockAndCheck(
  tx: Transaction,
  id: string,
  expected: readonly Expected[],
  precondition?: Precondition,
): Promise<void> {
  const [, ...results] = await tx.send(
    lockProduct(id),
    ...precondition ? [currentProduct(id)] : [],
    ...expected.map(({ statement }) => statement),
  );
  if (precondition) {
    const [current] = results.shift() as Answer[];
    precondition(current?.product);
  }
  checkFound(expected, results);
}
