import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { ApiError } from "../../schema/errors.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { rightDocument, storeProducts } from "./documents.ts";
import { embeds } from "./list.ts";
import { core } from "./scalars_json.ts";

/*
 * What has changed since a cursor, in the order of versions. A version is the id
 * of the transaction that wrote it, so changes become visible in another order:
 * only those are given out that lie below every transaction still running.
 */

/** For how many days deletions are kept. */
export const RETENTION_DAYS = 30;

/** Some changes as a JSON array, and how to go on from there. */
export interface Changes {
  changes: string;
  cursor: Cursor;
  more: boolean;
}

/** The next changes of the organization. Throws `CURSOR_EXPIRED` where a follower must begin again. */
export async function listChanges(
  database: Operations,
  { after, limit, include }: ChangesQuery,
): Promise<Changes> {
  const [horizon] = await database.lookUp(HORIZON);
  const from = after ?? beginning(horizon!);
  checkCursor(from, horizon!);
  const range = { from, limit, include, safe: horizon!.safe };
  let [page] = await database.scan(pageOf(range, sql`d.summary`));
  if (page!.lacking) {
    database.afterwards(storeProducts(page!.lacking.split(",")));
    [page] = await database.scan(
      pageOf(range, sql`coalesce(d.summary, ${core})`),
    );
  }
  const { changes, last, more } = page!;
  return { changes, cursor: { ...from, ...last, issuedAt: Date.now() }, more };
}

/** Where versions come from, and below which one every transaction is over. */
interface Horizon {
  origin: string;
  safe: string;
  is_replica: boolean;
}

const HORIZON = sql<Horizon>`
  select
    o.id as origin,
    (o.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text as safe,
    pg_is_in_recovery() as is_replica
  from change_origins o
`;

function beginning({ origin, safe }: Horizon): Cursor {
  return {
    origin,
    version: "0",
    id: "00000000-0000-0000-0000-000000000000",
    start: safe,
    issuedAt: Date.now(),
  };
}

function checkCursor(cursor: Cursor, { origin, safe, is_replica }: Horizon) {
  const age = Date.now() - cursor.issuedAt;
  // A replica may not have come as far as the cursor yet.
  const isAhead = BigInt(cursor.version) >= BigInt(safe) && !is_replica;
  if (
    cursor.origin === origin && age <= RETENTION_DAYS * 86_400_000 && !isAhead
  ) return;
  throw new ApiError(
    "CURSOR_EXPIRED",
    `The cursor is older than ${RETENTION_DAYS} days, or of another database: begin again without the parameter after`,
  );
}

interface Range extends Pick<ChangesQuery, "limit" | "include"> {
  from: Cursor;
  safe: string;
}

interface Page {
  changes: string;
  /** The last change of the page, if there is one. */
  last: { version: string; id: string } | null;
  /** Whether there are changes behind it by now. */
  more: boolean;
  /** The products whose answers are not stored, with commas between them. */
  lacking: string | null;
}

/** Products and deletions are each an index range, of which the page takes the first. */
function pageOf(
  { from, safe, limit, include }: Range,
  summary: Statement,
): Statement<Page> {
  const next = String(limit + 1);
  return sql<Page>`
    with page as materialized (
      select version, id, at, row_number() over (order by version, id) as place
      from (
        (
          select p.change_version as version, p.id, null::timestamptz as at
          from products p
          where p.organization_id = ${organization}
            and (p.change_version, p.id) > (${from.version}::bigint, ${from.id}::uuid)
            and p.change_version < ${safe}::bigint
          order by p.change_version, p.id
          limit ${next}
        )
        union all
        (
          select x.change_version, x.product_id, x.deleted_at
          from product_deletions x
          where x.organization_id = ${organization}
            and (x.change_version, x.product_id) > (${from.version}::bigint, ${from.id}::uuid)
            and x.change_version >= ${from.start}::bigint
            and x.change_version < ${safe}::bigint
          order by x.change_version, x.product_id
          limit ${next}
        )
      ) changed
      order by version, id
      limit ${next}
    )
    select
      '[' || coalesce(string_agg(
        '{"id":"' || page.id || '","deleted":' || (page.at is not null) || ',"updated_at":'
          || to_json(to_char(
            coalesce(page.at, p.updated_at) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ))
          || case when page.at is null
            then ',"product":{' || ${summary}${embeds({ include })} || '}'
            else ''
          end
          || '}',
        ',' order by page.place
      ), '') || ']' as changes,
      (
        select json_build_object('version', last.version::text, 'id', last.id)
        from page last
        where last.place <= ${limit}
        order by last.place desc
        limit 1
      ) as last,
      (select count(*) > ${limit} from page) as more,
      string_agg(p.id::text, ',') filter (where d.summary is null) as lacking
    from page
    join organizations o on o.id = ${organization}
    left join products p on p.organization_id = ${organization} and p.id = page.id and page.at is null
    ${rightDocument}
    where page.place <= ${limit}
  `;
}

/** Remembers that the product is about to be deleted, and forgets a few deletions that are too old. */
export function rememberDeletion(id: string): Statement[] {
  return [
    sql`
      insert into product_deletions (organization_id, product_id)
      select p.organization_id, p.id
      from products p
      where p.organization_id = ${organization} and p.id = ${id}
      on conflict (organization_id, product_id) do update set
        change_version = excluded.change_version,
        deleted_at = excluded.deleted_at
    `,
    sql`
      delete from product_deletions x
      where x.organization_id = ${organization} and x.product_id in (
        select old.product_id
        from product_deletions old
        where old.organization_id = ${organization}
          and old.deleted_at < now() - interval '31 days'
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
  ];
}
