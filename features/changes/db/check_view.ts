import { unavailable } from "../../../schema/errors.ts";
import { isOpen, type View } from "../../../schema/view.ts";
import { organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { NIL_UUID } from "../../../db/uuid.ts";
import { changedProducts, enteredOrLeft, everyProduct } from "./candidates.ts";
import { copyDeletions, deleteOldRows, sawEverything, writeRows } from "./shown_products.ts";
import {
  type FollowedView,
  followedView,
  type LockedState,
  lockState,
  stateOf,
  storeState,
} from "./view_state.ts";

/*
 * Finds the products that have entered or left the view of a recipient since its last read, so that
 * its feed can report them. A recipient with criteria has a row in `recipient_products` for each
 * product that its feed has shown (`shown_products.ts`). Writes of products do not touch these rows.
 * When the recipient reads its feed, the products that changed since its last read are checked. Those
 * that entered or left the view get their row and a version, which is their position in the feed. All
 * products are checked if the criteria have changed, or the day on which they depend.
 *
 * For example, a view has active books. A book goes out of print: at the next read, the feed has
 * its deletion.
 *
 * A recipient without criteria sees everything. Its feed is that of all products, without rows.
 *
 *     checkView    repeats the following until the state of the recipient is current
 *     checkFirst   checks the changed products, or the first of all products
 *     checkRest    checks the other products, step by step
 *     checkStep    a step: writes the rows of its products, and after the last one the state
 */

/** The maximum number of products that are checked in one transaction. */
const STEP = 20_000;

/**
 * Checks what has changed for a recipient, and returns its view. With `isFetch`, the fetch is
 * recorded. A page of the feed is made with this view, if the recipient still has it
 * (`isSameView`).
 */
export async function checkView(
  database: Queries,
  { id }: View,
  isFetch: boolean,
  stepSize = STEP,
): Promise<FollowedView> {
  for (;;) {
    const [state] = await database.lookUp(stateOf(id));
    if (!state) throw unavailable("The recipient was deleted");
    const isCurrent = state.is_same && state.is_checked;
    if (isCurrent && (state.is_recorded || !isFetch)) return followedView(state);
    const { followed, rest } = await database.transaction((tx) =>
      checkFirst(tx, id, isFetch, stepSize)
    );
    if (followed) return followed;
    if (rest) await checkRest(database, rest, stepSize);
  }
}

/** The result of a transaction that checks some products: the view if all are checked, or the rest. */
interface Checked {
  followed?: FollowedView;
  rest?: Rest;
}

/** The products that a check has not reached. They are checked while the state stays the same. */
interface Rest {
  state: LockedState;
  /** The last product that was checked. */
  after: string;
}

/** Checks the changed products, or the first of all products. */
async function checkFirst(
  tx: Transaction,
  id: string,
  isFetch: boolean,
  stepSize: number,
): Promise<Checked> {
  const state = await lockState(tx, id);
  const { view, criteria, safe } = state;
  if (isOpen(view) && (criteria === null || sawEverything(state))) {
    // Every product is in the view: the feed of all products is its feed.
    const openSince = criteria === null ? "0" : state.open_since;
    await tx.commit(deleteOldRows(view), storeState(view, safe, openSince, isFetch));
    return { followed: followedView(state, openSince) };
  }
  const writes = state.is_same ? await writesOfChanged(tx, state, stepSize) : undefined;
  if (!writes) return await checkStep(tx, state, { after: NIL_UUID, safe, isFetch, stepSize });
  await tx.commit(...writes, storeState(view, safe, null, isFetch));
  return { followed: followedView(state, null) };
}

/**
 * Returns the statements that write the rows of the products that changed since the last check.
 * Undefined if they are more than a step has: then all products are checked.
 */
async function writesOfChanged(
  tx: Transaction,
  state: LockedState,
  stepSize: number,
): Promise<Statement[] | undefined> {
  if (state.is_checked) return [];
  const changed = changedProducts(state);
  const [[found]] = await tx.send(sql<{ count: number }>`
      select count(*)::int as count from (select from (${changed}) c limit ${stepSize + 1}) c
    `);
  if (found!.count > stepSize) return;
  return [writeRows(state, changed), deleteOldRows(state.view)];
}

/** Checks the rest of the products, step by step, while the criteria stay the same. */
async function checkRest(
  database: Queries,
  { state: { view, version, safe }, ...rest }: Rest,
  stepSize: number,
): Promise<void> {
  for (let last: string | undefined = rest.after; last;) {
    const after: string = last;
    const checked = await database.transaction(async (tx): Promise<Checked> => {
      const state = await lockState(tx, view.id);
      const isChanged = JSON.stringify([state.view, state.version]) !==
        JSON.stringify([view, version]);
      // Another request has checked them, or the view was edited: begin again.
      if (isChanged) {
        await tx.commit();
        return {};
      }
      return await checkStep(tx, state, { after, safe, isFetch: false, stepSize });
    });
    last = checked.rest?.after;
  }
}

/**
 * Checks the products after one. After the last of them, stores `safe`, the horizon of the first step,
 * as the version up to which all were checked.
 */
async function checkStep(
  tx: Transaction,
  state: LockedState,
  { after, safe, isFetch, stepSize }: {
    after: string;
    safe: string;
    isFetch: boolean;
    stepSize: number;
  },
): Promise<Checked> {
  const { view } = state;
  const [[last]] = await tx.send(sql<{ id: string; count: number }>`
    select x.id, (count(*) over ())::int as count
    from (
      select p.id from products p
      where p.organization_id = ${organization} and p.id > ${after}::uuid
      order by p.id
      limit ${stepSize}
    ) x
    order by x.id desc
    limit 1
  `);
  const isLast = (last?.count ?? 0) < stepSize;
  const wasOpen = sawEverything(state);
  const range = (id: string) =>
    sql`${raw(id)} > ${after}::uuid ${isLast ? [] : sql`and ${raw(id)} <= ${last!.id}::uuid`}`;
  const candidates = wasOpen ? everyProduct(view, range) : enteredOrLeft(view, range);
  const openSince = isOpen(view) ? state.own : null;
  await tx.commit(
    writeRows(state, candidates),
    ...isLast && wasOpen ? [copyDeletions(state)] : [],
    ...isLast ? [deleteOldRows(view), storeState(view, safe, openSince, isFetch)] : [],
  );
  if (!isLast) return { rest: { state, after: last!.id } };
  // The view has lost its criteria: the next round reads the stored `open_since`.
  if (openSince !== null) return {};
  return { followed: followedView(state, null) };
}
