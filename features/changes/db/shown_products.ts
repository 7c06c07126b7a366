import { isOpen, type View } from "../../../schema/view.ts";
import { joinByKey, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import { viewConditions, type ViewCriteria } from "../../../db/products/lists/view.ts";
import { DELETION_DAYS } from "../../../db/times.ts";

/*
 * Writes the rows of `recipient_products`, which has the products that the feed of a recipient has
 * shown. A product that enters or leaves the view gets its row. Whether the feed has shown it before
 * follows from the old row. If the recipient had no criteria until now, there are no rows: it follows
 * from the history of the product.
 */

/** A view, and the criteria by which its feed has shown products until now. */
export interface ShownState {
  view: View;
  /** Null before the first fetch. */
  criteria: ViewCriteria | null;
  /** The version since which the recipient had no criteria. Null if it had some. */
  open_since: string | null;
}

/** Whether the recipient saw every product at its last fetch. */
export function sawEverything({ criteria }: ShownState): boolean {
  return criteria !== null && isOpen(criteria);
}

/** What the feed has shown of product `c` before, with expressions of the joined tables. */
interface Before {
  joins: Statement[];
  wasShown: Statement;
  /** The position at which the feed first showed it. 0: before any copy began. */
  firstVersion: Statement;
  /** The position at which the feed has reported that it is gone. Null: it has not. */
  leftVersion: Statement;
  isbn13: Statement;
  /** The condition on which the numbers of a product that leaves are looked up: most products stay. */
  leaves: Statement;
}

/** What the feed has shown a recipient with criteria, by the rows. */
const BY_ROWS: Before = {
  joins: [],
  wasShown: raw("coalesce(shown.is_there, false)"),
  firstVersion: raw("0"),
  leftVersion: raw("null::bigint"),
  isbn13: raw("shown.isbn13"),
  leaves: raw("and p.id is null and shown.is_there"),
};

/**
 * Joins the history of product `c` until `open_until`: whether it `existed`, and the version of its
 * deletion. If the history does not reach back so far, a product existed whose first version is a
 * change.
 */
const historyUntilClosed = joinByKey(
  "history",
  sql`
        select
          coalesce((
            select d.changed_at <= last_fetch.open_until or d.event in ('changed', 'deleted')
            from product_documents d
            where d.organization_id = ${organization} and d.product_id = c.id
            order by d.change_version
            limit 1
          ), true) as existed,
          (
            select case when d.event = 'deleted' then d.change_version end
            from product_documents d
            where d.organization_id = ${organization} and d.product_id = c.id
              and d.changed_at <= last_fetch.open_until
            order by d.change_version desc
            limit 1
          ) as left_version`,
);

const isInHistory =
  sql`(history.existed and coalesce(history.left_version >= last_fetch.open_since, true))`;

/** What the feed has shown a recipient that saw every product until `open_until`, by the history. */
const BY_HISTORY: Before = {
  joins: [historyUntilClosed],
  wasShown:
    sql`(coalesce(p.created_at, stored.created_at) <= last_fetch.open_until and ${isInHistory}) is true`,
  // Only a new product may be ahead of a copy.
  firstVersion: sql`coalesce(
          case when coalesce(p.created_at, stored.created_at) > last_fetch.fetched_at - interval '1 minute' then (
            select min(d.change_version)
            from product_documents d
            where d.organization_id = ${organization} and d.product_id = c.id
          ) end,
          0
        )`,
  leftVersion: raw("history.left_version"),
  isbn13: raw("coalesce(shown.isbn13, stored.isbn13, deleted.isbn13)"),
  leaves: raw("and p.id is null"),
};

/**
 * Writes the rows of the products `c` that have entered or left the view, and of those that show a
 * new ISBN. The row of a departure has the numbers by which the recipient knows the product. The
 * version of the first rows is 0: these products appear by their own changes. `own` is the version of
 * the transaction.
 */
export function writeRows(state: ShownState & { own: string }, changed: Statement): Statement {
  const { view } = state;
  const own = sql`${state.own}::bigint`;
  const isFirst = state.criteria === null;
  const before = sawEverything(state) ? BY_HISTORY : BY_ROWS;
  return sql`
    insert into recipient_products as m (
      organization_id, recipient_id, product_id, is_there, shown_version, change_version, isbn13, product_code,
      record_reference
    )
    select
      c.organization_id, ${view.id}::uuid, c.id, c.is_in,
      case when c.was_shown then c.first_version else ${isFirst ? raw("c.own_version") : own} end,
      case
        when c.is_in = c.was_shown then c.version
        when c.is_in then ${isFirst ? raw("0") : own}
        else coalesce(c.left_version, ${own})
      end,
      case when c.is_in then c.isbn13 else c.shown_isbn13 end,
      c.product_code,
      c.record_reference
    from (
      select
        c.organization_id, c.id, p.id is not null as is_in, ${before.wasShown} as was_shown,
        coalesce(shown.is_there, false) as is_there, coalesce(shown.change_version, 0) as version,
        p.change_version as own_version, ${before.firstVersion} as first_version,
        ${before.leftVersion} as left_version,
        p.isbn13, ${before.isbn13} as shown_isbn13, shown.isbn13 as row_isbn13,
        coalesce(p.product_code, stored.product_code, deleted.product_code, shown.product_code) as product_code,
        coalesce(record.record_reference, deleted.record_reference, shown.record_reference) as record_reference
      from (${changed}) c
      ${joinsOfProduct(view, before)}
      left join recipient_fetches last_fetch on last_fetch.organization_id = ${organization} and last_fetch.recipient_id = ${view.id}
      ${before.joins}
      offset 0
    ) c
    where c.is_in <> c.was_shown
      or c.is_in and (not c.is_there or c.isbn13 is distinct from c.row_isbn13)
    on conflict (organization_id, recipient_id, product_id) do update set
      is_there = excluded.is_there,
      change_version = excluded.change_version,
      changed_at = case when m.is_there = excluded.is_there then m.changed_at else excluded.changed_at end,
      isbn13 = excluded.isbn13,
      product_code = excluded.product_code,
      record_reference = excluded.record_reference
  `;
}

/**
 * Joins product `c` in the view as `p`, and the row that its feed has `shown`. For a product that
 * leaves, also the numbers that other tables have of it.
 */
function joinsOfProduct(view: View, { leaves }: Before): Statement[] {
  return [
    joinByKey(
      "p",
      sql`
        select p.id, p.isbn13, p.product_code, p.change_version, p.created_at
        from products p
        where p.organization_id = ${organization} and p.id = c.id ${viewConditions(view)}`,
    ),
    joinByKey(
      "shown",
      sql`
        select m.is_there, m.change_version, m.isbn13, m.product_code, m.record_reference
        from recipient_products m
        where m.organization_id = ${organization} and m.recipient_id = ${view.id} and m.product_id = c.id`,
    ),
    joinByKey(
      "stored",
      sql`
        select y.isbn13, y.product_code, y.created_at
        from products y
        where y.organization_id = ${organization} and y.id = c.id ${leaves}`,
    ),
    joinByKey(
      "deleted",
      sql`
        select x.isbn13, x.product_code, x.record_reference
        from product_deletions x
        where x.organization_id = ${organization} and x.product_id = c.id ${leaves}`,
    ),
    joinByKey(
      "record",
      sql`
        select n.record_reference
        from onix_records n
        where n.organization_id = ${organization} and n.product_id = c.id ${leaves}`,
    ),
  ];
}

/** Copies the deletions that the feed has shown a recipient while it had no criteria. */
export function copyDeletions({ view, open_since }: ShownState): Statement {
  return sql`
    insert into recipient_products as m (
      organization_id, recipient_id, product_id, is_there, shown_version, change_version, changed_at, isbn13,
      product_code, record_reference
    )
    select
      c.organization_id, ${view.id}, c.id, false, 0, coalesce(history.left_version, c.change_version), c.deleted_at, c.isbn13,
      c.product_code, c.record_reference
    from (
      select
        x.organization_id, x.product_id as id, x.change_version, x.deleted_at, x.isbn13, x.product_code,
        x.record_reference
      from product_deletions x
      ${
    joinByKey(
      "p",
      sql`
        select p.id from products p
        where p.organization_id = ${organization} and p.id = x.product_id`,
    )
  }
      where x.organization_id = ${organization} and x.change_version >= ${open_since ?? "0"}::bigint
        and p.id is null
    ) c
    left join recipient_fetches last_fetch on last_fetch.organization_id = ${organization} and last_fetch.recipient_id = ${view.id}
    ${historyUntilClosed}
    where ${isInHistory}
    on conflict (organization_id, recipient_id, product_id) do update set
      is_there = false,
      change_version = excluded.change_version,
      changed_at = excluded.changed_at
    where m.is_there or m.change_version < excluded.change_version
  `;
}

/**
 * Deletes departures that are older than any valid cursor, and, for a view without criteria, rows
 * of products that have not entered.
 */
export function deleteOldRows(view: View): Statement {
  const isOld = sql`m.changed_at < now() - make_interval(days => ${DELETION_DAYS}::int)`;
  const isNeedless = isOpen(view)
    ? sql`(${isOld} or m.is_there and m.change_version = 0)`
    : sql`not m.is_there and ${isOld}`;
  return sql`
    delete from recipient_products m
    where m.organization_id = ${organization} and m.recipient_id = ${view.id} and ${isNeedless}
  `;
}
