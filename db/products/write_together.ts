import { type ApiError, invalid } from "../../schema/errors.ts";
import { brokenConstraint, ChangedMeanwhile, isDataError } from "../connections/errors.ts";
import { isOneOf, organization, sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { isKeyUsed } from "../idempotency.ts";
import { assertCount, type Change } from "./change/change.ts";
import { type SizedVersion, storeSized } from "./documents/store.ts";
import { storeExternalChanges, VERSION_STORED } from "./documents/external_changes.ts";
import { inProgram, isViolation, productNotFound, refusal, TOO_LARGE } from "./errors/errors.ts";
import { findErrors } from "./errors/find_errors.ts";
import { hasKey, type LockKey, lockKeys } from "./change/keys.ts";
import { recordSharedForms } from "./statements/product_forms.ts";
import { writeProducts } from "./statements/write_statements.ts";

/*
 * Writes many products in one transaction. Batches, sheets, files and groups of ONIX records lock
 * and find products with `lockAndFind`, plan a change of each, and write them with `writeTogether`.
 * Changes that depend on other products of the group are planned in a further pass of the same
 * transaction.
 *
 * If some of 100 changes violate a constraint, these get their errors, and the others are written.
 */

/** The source of a change: an operation, a line, a row or a record. */
export interface Cause {
  change: Change;
}

/** The outcome of products that were written together, by the source of each change. */
export interface WriteOutcome<C extends Cause> {
  done: C[];
  faults: Map<C, ApiError>;
  /** The new version of each changed product, by id. */
  versions: Map<string, SizedVersion>;
}

/**
 * Takes the locks of the keys and of the products that meet the condition, in a fixed order. Then
 * returns the rows that `select` selects from products `p`. It is not prepared: a plan cached while
 * the table was small would scan it when it is large.
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
 * Writes all changes together, each product once. `storeRelated` writes further rows about them.
 * Changes at fault get their errors, and the others are written. Throws `ChangedMeanwhile`, after
 * which the pool retries the transaction, and the failures of the database.
 */
export async function writeTogether<C extends Cause>(
  tx: Transaction,
  causes: readonly C[],
  storeRelated: (done: readonly C[]) => Promise<void> = () => Promise.resolve(),
): Promise<WriteOutcome<C>> {
  const result: WriteOutcome<C> = { done: [], faults: new Map(), versions: new Map() };
  const parts: (readonly C[])[] = [causes];
  for (let part; (part = parts.shift());) {
    if (part.length === 0) continue;
    const tried = await tryToWrite(tx, part, storeRelated);
    if ("again" in tried) {
      parts.unshift(...tried.again);
    } else if ("faults" in tried) {
      for (const [cause, fault] of tried.faults) result.faults.set(cause, fault);
      parts.unshift(part.filter((cause) => !tried.faults.has(cause)));
    } else {
      result.done.push(...part);
      for (const [id, version] of tried.versions) result.versions.set(id, version);
    }
  }
  return result;
}

/** The result of a part: all written, some at fault, or smaller parts to try. */
type Tried<C> =
  | { versions: ReadonlyMap<string, SizedVersion> }
  | { faults: ReadonlyMap<C, ApiError> }
  | { again: (readonly C[])[] };

/** Writes a part, or leaves nothing of it. */
async function tryToWrite<C extends Cause>(
  tx: Transaction,
  part: readonly C[],
  storeRelated: (done: readonly C[]) => Promise<void>,
): Promise<Tried<C>> {
  const changes = part.map(({ change }) => change);
  const writes = changes.filter((change) => change.method !== "delete");
  await recordSharedForms(tx, changes);
  try {
    const replies = await tx.send(
      SAVEPOINT,
      ...assertNew(changes),
      ...writeProducts(tx, changes),
      ...storeSized(tx, writes),
    );
    const stored = replies.at(-1) as SizedVersion[];
    const versions = new Map(stored.map((version) => [version.id, version]));
    const large = part.filter(({ change: { method, id } }) =>
      method !== "delete" && !versions.has(id)
    );
    if (large.length === 0) {
      await storeRelated(part);
      return { versions };
    }
    await tx.send(ROLLBACK_WRITES);
    return { faults: new Map(large.map((cause) => [cause, invalid("The body", [TOO_LARGE])])) };
  } catch (error) {
    if (!isDataError(error) || isKeyUsed(error)) throw error;
    await tx.send(ROLLBACK_WRITES);
    return await explainPart(tx, part, error);
  }
}

/**
 * Decides how to go on after the error of a part. If bodies and stored rows do not explain it, the
 * part is halved.
 */
async function explainPart<C extends Cause>(
  tx: Transaction,
  part: readonly C[],
  error: unknown,
): Promise<Tried<C>> {
  if (brokenConstraint(error) === VERSION_STORED) {
    // The products are locked, so SQL makes no other version meanwhile.
    await tx.send(...storeExternalChanges(tx, part.map(({ change }) => change.id)));
    return { again: [part] };
  }
  const faults = await findFaults(tx, part);
  if (faults.size > 0) return { faults };
  if (isViolation(error)) throw new ChangedMeanwhile(error);
  const [only, ...others] = part;
  if (others.length === 0) {
    return { faults: new Map([[only!, invalid("The body", [refusal(error)])]]) };
  }
  const half = part.length >> 1;
  return { again: [part.slice(0, half), part.slice(half)] };
}

/** Violates `rows_found` if SQL has inserted a product with the key of one that an upsert creates. */
function assertNew(changes: readonly Change[]): Statement[] {
  const keys = changes.flatMap((change) => change.method === "create" ? change.key ?? [] : []);
  if (keys.length === 0) return [];
  const others = sql`
    from products p
    where p.organization_id = ${organization} and ${hasKey(keys)}
  `;
  return [unprepared(sql`select where ${assertCount(others, 0)}`)];
}

/** The errors that bodies and stored rows show. */
async function findFaults<C extends Cause>(
  tx: Transaction,
  causes: readonly C[],
): Promise<Map<C, ApiError>> {
  const faults = new Map<C, ApiError>();
  const writing = causes.flatMap((cause) =>
    cause.change.method === "delete" ? [] : [{ cause, write: cause.change }]
  );
  const details = await findErrors(tx.send, writing.map(({ write }) => write));
  writing.forEach(({ cause, write }, i) => {
    if (!details[i]) faults.set(cause, productNotFound(write.id));
    else if (details[i].length > 0) {
      faults.set(cause, invalid("The body", details[i]));
    }
  });
  const deleting = causes.filter(({ change }) => change.method === "delete");
  if (deleting.length === 0) return faults;
  const [used] = await tx.send(
    idsInPrograms(deleting.map(({ change }) => change.id)),
  );
  const ids = new Set(used.map(({ product_id }) => product_id));
  for (const cause of deleting) {
    if (ids.has(cause.change.id)) faults.set(cause, inProgram());
  }
  return faults;
}

/** The ids of the products that are in a publishing program. */
function idsInPrograms(
  ids: readonly string[],
): Statement<{ product_id: string }> {
  return sql`
    select distinct x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization} and x.product_id ${isOneOf(ids)}
  `;
}
