import { unavailable } from "../../../schema/errors.ts";
import { isOpen, type View } from "../../../schema/view.ts";
import { json, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { viewConditions } from "../../../db/products/lists/view.ts";
import { NIL_UUID } from "../../../db/uuid.ts";
import { horizon } from "./feed.ts";
import {
  copyDeletions,
  deleteOldRows,
  sawEverything,
  type ShownState,
  writeRows,
} from "./shown_products.ts";

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
 *     checkView       repeats the following until the state of the recipient is current
 *     checkFirstStep  checks the changed products, or the first of all products
 *     checkOthers     checks the other products, step by step
 *     checkStep       a step: writes the rows of its products, and after the last one the state
 */

/** A view while its feed is read. */
export interface FollowedView {
  view: View;
  /** The version from which every product is shown again, because `leave_out` has changed. */
  refreshed: string;
  /** For a view without criteria: the version since which it has none. Null for one with criteria. */
  openSince: string | null;
}

/** The maximum number of products that are checked in one transaction. */
const STEP = 20_000;

/** What is known of a recipient when it reads its feed. */
interface State extends ShownState {
  refreshed: string;
  /** The version up to which products have been checked. */
  version: string;
  /** Whether the criteria, and the day if they depend on it, are those of the last check. */
  is_same: boolean;
  /** Whether nothing has changed since the products were last checked. */
  is_checked: boolean;
  /** Whether the fetch has been recorded in this minute. */
  is_recorded: boolean;
}

/** The criteria of recipient `r`. */
const CRITERIA = "r.view - 'leave_out' - 'currencies' - 'price_types'";

/** Whether the criteria depend on the day. */
const IS_DATED =
  "(r.view -> 'selection' ? 'announced' or coalesce(r.view -> 'except' ? 'announced', false))";

const TODAY = "(now() at time zone 'UTC')::date";

/** The version of the last change in this table, as an expression. */
function newestVersion(table: string): Statement {
  return sql`coalesce((
    select max(x.change_version) from ${raw(table)} x where x.organization_id = ${organization}
  ), 0)`;
}

/** The state of a recipient. `max` reads the end of an index: `exists` would be planned without statistics. */
function stateOf(recipient: string): Statement<State> {
  return sql`
    select
      r.view || jsonb_build_object('id', r.id) as view,
      r.refreshed_version::text as refreshed,
      f.criteria,
      coalesce(f.version, 0)::text as version,
      f.open_since::text as open_since,
      coalesce(
        f.criteria = (${raw(CRITERIA)}) and (not ${raw(IS_DATED)} or f.judged_on = ${raw(TODAY)}),
        false
      ) as is_same,
      coalesce(greatest(
        ${newestVersion("product_changes")}, ${newestVersion("product_deletions")}, ${
    newestVersion("program_changes")
  }
      ) < f.version, false) as is_checked,
      coalesce(f.fetched_at > now() - interval '1 minute', false) as is_recorded
    from recipients r
    left join recipient_fetches f on f.organization_id = ${organization} and f.recipient_id = r.id
    where r.organization_id = ${organization} and r.id = ${recipient}
  `;
}

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
    const isDone = state.is_same && state.is_checked;
    if (isDone && (state.is_recorded || !isFetch)) return followedView(state, state.open_since);
    const step = await database.transaction((tx) => checkFirstStep(tx, id, isFetch, stepSize));
    if (step.isDone) return followedView(step.state, step.openSince);
    if (step.after) await checkOthers(database, step.state, step.after, stepSize);
  }
}

function followedView({ view, refreshed }: State, openSince: string | null): FollowedView {
  return { view, refreshed, openSince };
}

/** The state while it is locked, and where the transaction stands among others. */
interface LockedState extends State {
  /** The version of the transaction. */
  own: string;
  /** The horizon: every transaction below this version has ended. */
  safe: string;
}

/**
 * Selects the version of the transaction, and the horizon. It reads no table of an organization: that
 * may be on a node of Citus, which counts transactions of its own.
 */
const transactionVersion = sql<Pick<LockedState, "own" | "safe">>`
  select
    change_version()::text as own,
    ${horizon} as safe
  from change_origins o
`;

/** The result of a transaction that checks some products. */
interface Step {
  state: LockedState;
  /** Whether no other products have to be checked. */
  isDone: boolean;
  openSince: string | null;
  /** The last product of the step, if there are more. */
  after?: string | undefined;
}

/** Checks the changed products, or the first of all products. Other requests of the recipient wait for its lock. */
async function checkFirstStep(
  tx: Transaction,
  id: string,
  isFetch: boolean,
  stepSize: number,
): Promise<Step> {
  const state = await lockState(tx, id);
  const { view, criteria, safe } = state;
  if (isOpen(view) && (criteria === null || sawEverything(state))) {
    // Every product is in the view: the feed of all products is its feed.
    const openSince = criteria === null ? "0" : state.open_since!;
    await tx.commit(deleteOldRows(view), storeState(view, safe, openSince, isFetch));
    return { state, isDone: true, openSince };
  }
  const checkAll = () => checkStep(tx, state, { after: NIL_UUID, safe, isFetch, stepSize });
  if (!state.is_same) return await checkAll();
  const stored = storeState(view, safe, null, isFetch);
  if (state.is_checked) await tx.commit(stored);
  else {
    const changed = changedProducts(state);
    const [[found]] = await tx.send(sql<{ count: number }>`
      select count(*)::int as count from (select from (${changed}) c limit ${stepSize + 1}) c
    `);
    if (found!.count > stepSize) return await checkAll();
    await tx.commit(writeRows(state, changed), deleteOldRows(view), stored);
  }
  return { state, isDone: true, openSince: null };
}

/** The products that changed since the last check, with those of changed programs. */
function changedProducts({ version }: State): Statement {
  return sql`
      select c.organization_id, c.product_id as id from product_changes c
      where c.organization_id = ${organization} and c.change_version >= ${version}::bigint
      union
      select x.organization_id, x.product_id from product_deletions x
      where x.organization_id = ${organization} and x.change_version >= ${version}::bigint
      union
      select x.organization_id, x.product_id from program_changes x
      where x.organization_id = ${organization} and x.change_version >= ${version}::bigint`;
}

/** Checks the products after those of the first step, step by step, while the criteria stay the same. */
async function checkOthers(
  database: Queries,
  { view, version, safe }: LockedState,
  first: string,
  stepSize: number,
): Promise<void> {
  for (let last: string | undefined = first; last;) {
    const after: string = last;
    const step = await database.transaction(async (tx) => {
      const state = await lockState(tx, view.id);
      const isChanged = JSON.stringify([state.view, state.version]) !==
        JSON.stringify([view, version]);
      // Another request has checked them, or the view was edited: begin again.
      if (isChanged) {
        await tx.commit();
        return;
      }
      return await checkStep(tx, state, { after, safe, isFetch: false, stepSize });
    });
    last = step?.after;
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
): Promise<Step> {
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
  if (!isLast) return { state, isDone: false, openSince: null, after: last!.id };
  // The view has lost its criteria: the next round reads the stored `open_since`.
  return { state, isDone: openSince === null, openSince: null };
}

/** A condition that a column of product ids is in a range. */
type Range = (id: string) => Statement;

/** The products in a range, and those that the feed has shown. */
function everyProduct({ id }: View, range: Range): Statement {
  return sql`
    select p.organization_id, p.id from products p
    where p.organization_id = ${organization} and ${range("p.id")}
    union
    select m.organization_id, m.product_id from recipient_products m
    where m.organization_id = ${organization} and m.recipient_id = ${id} and ${
    range("m.product_id")
  }
  `;
}

/**
 * The products in a range that have entered or left the view since they have rows, or that show
 * another ISBN. A full join compares all of them at once, whatever the planner expects: it is never
 * a loop. Looking each product up takes ten times as long.
 */
function enteredOrLeft(view: View, range: Range): Statement {
  return sql`
    select
      coalesce(p.organization_id, b.organization_id) as organization_id, coalesce(p.id, b.product_id) as id
    from (
      select p.organization_id, p.id, p.isbn13 from products p
      where p.organization_id = ${organization} and ${range("p.id")} ${viewConditions(view)}
    ) p
    full join (
      select m.organization_id, m.product_id, m.is_there, m.isbn13 from recipient_products m
      where m.organization_id = ${organization} and m.recipient_id = ${view.id} and ${
    range("m.product_id")
  }
    ) b on b.product_id = p.id
    where (p.id is not null) <> coalesce(b.is_there, false)
      or p.id is not null and p.isbn13 is distinct from b.isbn13
  `;
}

async function lockState(tx: Transaction, id: string): Promise<LockedState> {
  const [, , [transaction], [state]] = await tx.send(
    sql`
      insert into recipient_fetches (organization_id, recipient_id)
      select r.organization_id, r.id from recipients r
      where r.organization_id = ${organization} and r.id = ${id}
      on conflict (organization_id, recipient_id) do nothing
    `,
    sql`
      select from recipients r
      where r.organization_id = ${organization} and r.id = ${id}
      for no key update
    `,
    transactionVersion,
    stateOf(id),
  );
  if (!state) throw unavailable("The recipient was deleted");
  return { ...state, ...transaction! };
}

function storeState(
  { id, selection, except }: View,
  version: string,
  openSince: string | null,
  isFetch: boolean,
): Statement {
  return sql`
    update recipient_fetches f
    set
      criteria = ${json({ selection, except })},
      judged_on = ${raw(TODAY)},
      version = ${version}::bigint,
      open_since = ${openSince}::bigint,
      open_until = null,
      fetched_at = ${isFetch ? raw("now()") : raw("f.fetched_at")}
    where f.organization_id = ${organization} and f.recipient_id = ${id}
  `;
}

/** Records that a recipient has fetched products other than through its feed. */
export function recordFetch({ id }: View): Statement {
  return sql`
    insert into recipient_fetches as f (organization_id, recipient_id, fetched_at)
    select r.organization_id, r.id, now() from recipients r
    where r.organization_id = ${organization} and r.id = ${id}
    on conflict (organization_id, recipient_id) do update set fetched_at = excluded.fetched_at
    where f.fetched_at is null
      or f.fetched_at < (excluded.fetched_at at time zone 'UTC' - interval '1 minute') at time zone 'UTC'
  `;
}
