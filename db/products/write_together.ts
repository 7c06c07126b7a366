import { type ApiError, invalid } from "../../schema/errors.ts";
import { ChangedMeanwhile, isDataError } from "../connections/errors.ts";
import {
  organization,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { isKeyUsed } from "../idempotency.ts";
import { assertCount, type Change } from "./change.ts";
import { productNotFound, storeSized } from "./documents.ts";
import {
  findErrors,
  idsInPrograms,
  inProgram,
  isViolation,
  refusal,
  TOO_LARGE,
} from "./errors.ts";
import { hasKey, type LockKey, lockKeys, type ProductKey } from "./keys.ts";
import { writeProducts } from "./write.ts";

/*
 * Writes many products in one transaction. Batches of JSON and groups of ONIX records plan
 * what becomes of each product: they lock and find products with `lockAndFind`, decide, and
 * write with `writeTogether`. What cannot be planned before other products are written is
 * planned in a next pass of the same transaction.
 */

/** A product to create, change or delete. */
export interface Write extends Change {
  isDeleted?: boolean;
  /** For a product that an upsert creates: the key that no other product may have. */
  key?: ProductKey;
}

/** The outcome of writes that were made together. */
export interface Written<W extends Write> {
  done: W[];
  faults: Map<W, ApiError>;
  /** The size of the JSON of each changed product in bytes, by id. */
  sizes: Map<string, number>;
}

/**
 * Takes the locks of the keys and of the products that meet the condition, in a fixed order,
 * and returns the rows that `select` makes of products `p` after that. It is not prepared: a
 * plan cached while the table was small would scan it when it is large.
 */
export async function lockAndFind<Row extends object>(
  tx: Transaction,
  keys: readonly LockKey[],
  condition: Statement,
  select: Statement<Row>,
): Promise<Row[]> {
  const isFound = sql`
    where p.organization_id = ${organization} and ${condition}
    order by p.id
    for no key update of p
  `;
  const [, , found] = await tx.send(
    lockKeys(keys),
    unprepared(sql`select from products p ${isFound}`),
    // A row that was inserted again while the transaction waited for it is seen and locked now.
    unprepared(sql<Row>`${select} ${isFound}`),
  );
  return found;
}

const SAVEPOINT = sql`savepoint writes`;
const ROLLBACK_WRITES = sql`rollback to savepoint writes`;

/**
 * Writes all together, each product once. `beside` stores what belongs to them. Writes at
 * fault get their errors, and the others are written together. A fault that the bodies and the
 * stored rows do not explain is found by halving the writes. Throws `ChangedMeanwhile`, after
 * which the pool retries the transaction, and the failures of the database.
 */
export async function writeTogether<W extends Write>(
  tx: Transaction,
  writes: readonly W[],
  beside: (done: readonly W[], sizes: Written<W>["sizes"]) => Promise<void> =
    () => Promise.resolve(),
): Promise<Written<W>> {
  const result: Written<W> = { done: [], faults: new Map(), sizes: new Map() };
  const parts: (readonly W[])[] = [writes];
  for (let part; (part = parts.shift());) {
    if (part.length === 0) continue;
    const changes = part.filter(({ isDeleted }) => !isDeleted);
    const deletions = part.filter(({ isDeleted }) => isDeleted);
    try {
      const replies = await tx.send(
        SAVEPOINT,
        ...assertNew(part),
        ...writeProducts(tx, changes, deletions.map(({ id }) => id)),
        storeSized(tx, changes),
      );
      const stored = replies.at(-1) as { id: string; bytes: number }[];
      const sizes = new Map(stored.map(({ id, bytes }) => [id, bytes]));
      const large = changes.filter(({ id }) => !sizes.has(id));
      if (large.length === 0) {
        await beside(part, sizes);
        result.done.push(...part);
        for (const [id, bytes] of sizes) result.sizes.set(id, bytes);
        continue;
      }
      await tx.send(ROLLBACK_WRITES);
      for (const write of large) {
        result.faults.set(write, invalid("The body", [TOO_LARGE]));
      }
    } catch (error) {
      if (!isDataError(error) || isKeyUsed(error)) throw error;
      await tx.send(ROLLBACK_WRITES);
      const faults = await findFaults(tx, changes, deletions);
      for (const [write, fault] of faults) result.faults.set(write, fault);
      if (faults.size === 0) {
        if (isViolation(error)) throw new ChangedMeanwhile(error);
        if (part.length === 1) {
          const refused = invalid("The body", [refusal(error)]);
          result.faults.set(part[0]!, refused);
        } else {
          const half = part.length >> 1;
          parts.unshift(part.slice(0, half), part.slice(half));
          continue;
        }
      }
    }
    parts.unshift(part.filter((write) => !result.faults.has(write)));
  }
  return result;
}

/** Violates `rows_found` if SQL has inserted a product with the key of one that an upsert creates. */
function assertNew(writes: readonly Write[]): Statement[] {
  const keys = writes.flatMap(({ key }) => key ?? []);
  if (keys.length === 0) return [];
  const others = sql`
    from products p
    where p.organization_id = ${organization} and ${hasKey(keys)}
  `;
  return [unprepared(sql`select where ${assertCount(others, 0)}`)];
}

/** The errors that bodies and stored rows show. */
async function findFaults<W extends Write>(
  tx: Transaction,
  changes: readonly W[],
  deletions: readonly W[],
): Promise<Map<W, ApiError>> {
  const faults = new Map<W, ApiError>();
  const details = await findErrors(tx.send, changes);
  changes.forEach((write, i) => {
    if (!details[i]) faults.set(write, productNotFound(write.id));
    else if (details[i].length > 0) {
      faults.set(write, invalid("The body", details[i]));
    }
  });
  if (deletions.length === 0) return faults;
  const [used] = await tx.send(idsInPrograms(deletions.map(({ id }) => id)));
  const ids = new Set(used.map(({ product_id }) => product_id));
  for (const write of deletions) {
    if (ids.has(write.id)) faults.set(write, inProgram());
  }
  return faults;
}
