import type { Cursor } from "../../schema/changes_query.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  type Page,
  positionsOf,
  type Range,
  readChanges,
} from "../products/changes.ts";
import { rfc3339 } from "../times.ts";

/* The feed of changes, as webhooks follow it. */

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * The cursor before every product (`start`), after every entry there is (`now`), or the
 * given one. Throws `CURSOR_EXPIRED`.
 */
export async function cursorAt(
  database: Queries,
  place: "start" | "now" | Cursor,
): Promise<Cursor> {
  const after = typeof place === "string" ? undefined : place;
  const { cursor } = await readChanges(
    database,
    after,
    ({ from }) =>
      Promise.resolve({
        // Whatever commits from now on has a higher version than the newest entry of the feed.
        version: place === "now" ? from.start : null,
        id: place === "now" ? LAST_ID : null,
        more: after !== undefined,
      }),
  );
  return cursor;
}

/** An entry of the feed. */
export interface Entry {
  version: string;
  id: string;
  isDeleted: boolean;
  /** The `data` of its message. */
  data: object;
  /** RFC 3339. */
  updatedAt: string;
}

interface Row {
  place: number;
  version: string;
  id: string;
  is_deleted: boolean;
  /** Null for the deletion of a product that exists again. */
  data: object | null;
  updated_at: string;
  places: number;
}

/** The next entries after the cursor. Throws as `readChanges` does. */
export async function readEntries(
  database: Queries,
  after: Cursor,
  limit: number,
): Promise<{ entries: Entry[]; cursor: Cursor; more: boolean }> {
  return await readChanges(database, after, async (range) => {
    const rows = await database.lookUp(pageOf(range, limit));
    const entries = rows.flatMap((
      { version, id, is_deleted: isDeleted, data, updated_at: updatedAt },
    ) => data === null ? [] : [{ version, id, isDeleted, data, updatedAt }]);
    return { ...endOf(rows), entries };
  });
}

function endOf(rows: readonly Row[]): Page {
  const last = rows.at(-1);
  return {
    version: last?.version ?? null,
    id: last?.id ?? null,
    more: last !== undefined && last.place < last.places,
  };
}

function pageOf(range: Range, limit: number): Statement<Row> {
  const time = rfc3339("coalesce(c.deleted_at, p.updated_at)");
  return sql`
    with positions as materialized (${positionsOf(range, limit)})
    select
      c.place::int,
      c.version::text,
      c.id,
      c.deleted_at is not null as is_deleted,
      ${time} as updated_at,
      case
        when c.deleted_at is null then json_build_object(
          'id', p.id, 'product_code', p.product_code, 'isbn13', p.isbn13, 'title', p.title,
          'created_at', ${rfc3339("p.created_at")}, 'updated_at', ${time}
        )
        when p.id is null then json_build_object('id', c.id, 'updated_at', ${time})
      end as data,
      (select count(*) from positions)::int as places
    -- No page is larger: a constant limit keeps the generic plan.
    from (select * from positions limit 1001) c
    -- The limit forces a look-up by primary key.
    left join lateral (
      select p.*
      from products p
      where p.organization_id = ${organization} and p.id = c.id
      limit 1
    ) p on true
    where c.place <= ${limit}
    order by c.place
  `;
}

const MAX_COUNTED = 1_000;

/** How many entries come after the cursor, 1000 at most, and the cursor after the newest. Throws as `readChanges` does. */
export async function readAdvance(
  database: Queries,
  after: Cursor,
): Promise<{ changes: number; cursor: Cursor }> {
  return await readChanges(database, after, async (range) => {
    const [row] = await database.lookUp(sql<
      { changes: number; version: string | null; id: string | null }
    >`
      with positions as materialized (${positionsOf(range, MAX_COUNTED)}),
      newest as (
        (
          select c.change_version as version, c.product_id as id
          from product_changes c
          where c.organization_id = ${organization} and c.change_version < ${range.safe}::bigint
          order by c.change_version desc, c.product_id desc
          limit 1
        )
        union all
        (
          select x.change_version, x.product_id
          from product_deletions x
          where x.organization_id = ${organization} and x.change_version < ${range.safe}::bigint
          order by x.change_version desc, x.product_id desc
          limit 1
        )
      )
      select
        (select least(count(*), ${MAX_COUNTED}) from positions)::int as changes,
        n.version::text,
        n.id
      from (select) one
      left join (select * from newest order by version desc, id desc limit 1) n on true
    `);
    const { changes, version, id } = row!;
    return changes === 0
      ? { changes, version: null, id: null, more: false }
      : { changes, version, id, more: false };
  });
}
