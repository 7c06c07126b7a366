import { COUNTED_FILTERS } from "../../schema/list_query.ts";
import type { ProductBody } from "../../schema/product.ts";
import { sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  type KeyedRequest,
  type Outcome,
  withIdempotencyKey,
} from "../idempotency.ts";
import { uuidv7 } from "../uuid.ts";
import { answerProducts, isUpdated, writtenDocuments } from "./answers.ts";
import { type Check, runChecks } from "./check.ts";
import { countProducts } from "./counts.ts";
import { deleteProducts } from "./deletions.ts";
import {
  type Answer,
  builtProduct,
  currentProducts,
  fullAnswer,
  storedProduct,
} from "./documents.ts";
import { nestedWrites } from "./nested.ts";
import { notFound } from "./read.ts";
import {
  type Change,
  insertRow,
  knownForms,
  lockProducts,
  missesRows,
  setProductForms,
  setSeries,
  updateRows,
} from "./row.ts";
import { explainFailure } from "./violations.ts";

/** Throws `PRECONDITION_FAILED` if the product before the write is not the one that `If-Match` names. */
export type Precondition = (product: string | undefined) => void;

/**
 * The statements that change one or many products and delete others. Each product occurs
 * once. They lock rows in a fixed order, which prevents most deadlocks: products, counts,
 * nested records, and last the formats, whose trigger locks the organization. The pool
 * retries a transaction that deadlocks.
 */
export function writing(
  changes: readonly Change[],
  deleted: readonly string[] = [],
): Statement[] {
  const created = changes.filter(({ isNew }) => isNew);
  const updated = changes.filter(({ body, isNew }) =>
    !isNew && Object.keys(body).length > 0
  );
  const nested = nestedWrites(changes);
  const forms = setProductForms(changes);
  return [
    ...deleted.length > 0 ? [lockProducts(deleted, "update")] : [],
    ...created.map(insertRow),
    ...countProducts(changes, deleted),
    ...updated.length > 0 ? [updateRows(updated)] : [],
    ...knownForms(changes),
    ...nested.writes,
    ...setSeries(changes),
    ...nested.prunes,
    ...deleted.length > 0 ? deleteProducts(deleted) : [],
    ...forms,
    // If SQL replaces a format while the first statement waits, the second finds it.
    ...forms,
  ];
}

/**
 * Creates the product with its nested records. Requests with the same
 * `Idempotency-Key` create it once. Throws `VALIDATION_ERROR` with every error.
 */
export async function createProduct(
  database: Queries,
  body: ProductBody,
  request: KeyedRequest,
): Promise<Outcome> {
  const change = { id: uuidv7(), body, isNew: true };
  try {
    return await withIdempotencyKey(database, request, async (tx, remember) => {
      // A retry has another product code.
      const writes = writing([change]);
      const remembering = remember(sql`
        select d.organization_id, d.product_id as record_id, ${fullAnswer} as answer
        from (${writtenDocuments(tx, [change])}) d
      `);
      const results = await tx.commit(
        ...writes,
        answerProducts(tx, [change]),
        ...remembering,
      );
      const [created] = results[writes.length] as Answer[];
      return { id: change.id, answer: created!.product };
    });
  } catch (error) {
    throw await explainFailure(database, error, change);
  }
}

/**
 * Updates the fields in the body, and returns the full product. Throws `NOT_FOUND`,
 * or `VALIDATION_ERROR` with every error.
 */
export async function updateProduct(
  database: Queries,
  id: string,
  body: ProductBody,
  precondition?: Precondition,
): Promise<string> {
  const change = { id, body, isNew: false };
  const checks = preconditionChecks(id, precondition);
  const writes = writing([change]);
  // Counting reads the old values before the update locks the product. Checks lock it too.
  const isCounted = COUNTED_FILTERS.some((column) => column in body);
  const locks = isCounted && checks.length === 0
    ? [lockProducts([id], "no key update")]
    : [];
  return await changeProduct(database, change, {
    checks,
    writes: [...locks, ...writes],
  });
}

/**
 * Checks a locked product, writes it, and returns it. Without checks, the first write
 * must lock the product. Throws `NOT_FOUND`, the error of a check, or
 * `VALIDATION_ERROR` with every error.
 */
export async function changeProduct(
  database: Queries,
  change: Change,
  { checks, writes }: { checks: Check[]; writes: Statement[] },
): Promise<string> {
  const { id } = change;
  try {
    const results = await database.transaction(async (tx) => {
      await runChecks(tx, id, checks);
      const answer = writes.length > 0
        ? answerProducts(tx, [change], { condition: isUpdated })
        : currentProducts(id);
      return await tx.commit(...writes, answer);
    });
    const [changed] = results.at(-1) as Answer[];
    if (!changed) throw notFound(id);
    return changed.product;
  } catch (error) {
    throw await explainFailure(database, error, change);
  }
}

/**
 * Deletes the product with its nested records. Returns whether it existed. Throws
 * `CONFLICT` for a product in a publishing program.
 */
export async function deleteProduct(
  database: Queries,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const writes = writing([], [id]);
  const checks = preconditionChecks(id, precondition);
  try {
    const results = await database.transaction(async (tx) => {
      await runChecks(tx, id, checks);
      return await tx.commit(...writes);
    });
    return results.at(-1)!.count > 0;
  } catch (error) {
    if (missesRows(error)) {
      const [replaced] = await database.lookUp(storedProduct(id));
      if (replaced) return await deleteProduct(database, id, precondition);
      precondition?.(undefined);
      return false;
    }
    const change = { id, body: {}, isNew: false };
    throw await explainFailure(database, error, change);
  }
}

/** The check of the current product, which may not exist. The product must be locked. */
export function preconditionChecks(
  id: string,
  precondition?: Precondition,
): Check[] {
  if (!precondition) return [];
  return [{
    statement: storedProduct(id),
    async verify(result, tx) {
      const [stored] = result as { product: string | null }[];
      if (stored?.product !== null) return precondition(stored?.product);
      const [[built]] = await tx.send(builtProduct(id));
      precondition(built?.product);
    },
  }];
}
