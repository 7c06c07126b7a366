import { unavailable } from "../../../schema/errors.ts";
import type { View } from "../../../schema/view.ts";
import { json, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { horizon } from "./feed.ts";
import type { ShownState } from "./shown_products.ts";

/*
 * The state of a recipient's feed, in the table `recipient_fetches`: the criteria and the version up
 * to which products were checked (`check_view.ts`), and the last fetch.
 */

/** A view while its feed is read. */
export interface FollowedView {
  view: View;
  /** The version from which every product is shown again, because `leave_out` has changed. */
  refreshed: string;
  /** For a view without criteria: the version since which it has none. Null for one with criteria. */
  openSince: string | null;
}

/** What is known of a recipient when it reads its feed. */
export interface State extends ShownState {
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

/** The view of a state. `openSince` is given if it is not yet stored. */
export function followedView(
  { view, refreshed, open_since }: State,
  openSince = open_since,
): FollowedView {
  return { view, refreshed, openSince };
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
export function stateOf(recipient: string): Statement<State> {
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

/** The state while it is locked, and where the transaction stands among others. */
export interface LockedState extends State {
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

/** Locks the state of a recipient, which is made if it has none. Its other requests wait. */
export async function lockState(tx: Transaction, id: string): Promise<LockedState> {
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

/** Stores that all products below the version were checked, with the criteria of the view. */
export function storeState(
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
