import type { Cursor } from "../../schema/changes_query.ts";
import { guarded } from "../../schema/defects.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import { deletionRecord } from "../../schema/onix/mapping/outgoing.ts";
import { ownReference } from "../../schema/onix/mapping/own_reference.ts";
import type { Release } from "../../schema/onix/rules/releases.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import { currentProduct, validDocument } from "../products/document.ts";
import { type FeedPage, type FeedQueries, type FeedRange, readChanges } from "../products/feed.ts";
import {
  deletionOfPosition,
  detailsSize,
  fittingPositions,
  positionsOf,
  productOfPosition,
} from "../products/positions.ts";
import { storeDocuments } from "../products/store_unauthored.ts";
import { recordOf } from "./books.ts";
import { type BesideProduct, besideProduct, type RecordSource } from "./record_source.ts";
import { receivedRecord } from "./received.ts";

/*
 * The feed of records: the changes of `/products/changes`, each with what a record is written
 * from. It also lists as deleted the references under which products no longer go out.
 */

/** A change of a product: what its record is written from, or its deletion. */
export type OnixChange =
  & { id: string; reference: string | null }
  & ({ source: RecordSource } | ({ source: null } & DeletedNumbers));

/** What others know a deleted product by. */
interface DeletedNumbers {
  isbn13: string | null;
  product_code: string | null;
}

/** The parameters of a page. */
export interface ChangesOptions {
  after?: Cursor | undefined;
  limit: number;
}

/**
 * The next changes of the feed, which `GET /products/changes` shares. Throws
 * `CURSOR_EXPIRED` if the client must start over.
 */
export async function listOnixChanges(
  database: FeedQueries,
  { after, limit }: ChangesOptions,
): Promise<{ changes: OnixChange[]; cursor: Cursor; more: boolean }> {
  return await readChanges(database, after, (range) => {
    const positions = positionsOf(range, limit, retiredAfter(range));
    return readRecordsPage(database, positions, limit);
  });
}

/** What the records of these products are written from, until a page is full. */
export async function readSources(
  database: FeedQueries,
  ids: Statement,
  limit: number,
): Promise<{ sources: (RecordSource & { id: string })[]; more: boolean }> {
  const positions = sql`
    select
      0::bigint as version, f.id, null::timestamptz as deleted_at,
      row_number() over (order by f.id) as place
    from (${ids} limit ${String(limit + 1)}) f
  `;
  const { changes, more } = await readRecordsPage(database, positions, limit);
  const sources = changes.flatMap(({ id, source }) => source ? [{ ...source, id }] : []);
  return { sources, more };
}

async function readRecordsPage(
  database: FeedQueries,
  positions: Statement,
  limit: number,
): Promise<FeedPage & { changes: OnixChange[] }> {
  const rows = await database.scan(recordsPage(positions, limit));
  const toDocument = rows.flatMap(({ to_document }) => to_document ?? []);
  if (toDocument.length > 0) database.inBackground(...storeDocuments(toDocument));
  return {
    ...endOfPage(rows),
    changes: rows.filter(({ is_shown }) => is_shown).map(changeOf),
  };
}

/**
 * The record of a change as it goes out, or undefined where the service fails to write it:
 * the others go out, and the log names the product.
 */
export function changedRecord(
  change: OnixChange,
  release: Release,
): Element | undefined {
  const { id, reference } = change;
  const written = () =>
    change.source
      ? recordOf(change.source, release).record
      : deletionRecord({ ...change, reference: reference ?? ownReference(id) });
  return guarded(written, () => undefined, id);
}

interface ChangeRow extends BesideProduct, DeletedNumbers {
  place: number;
  version: string;
  id: string;
  /** Null for a deletion. */
  product: string | null;
  is_shown: boolean;
  /** The id of a product without a valid document, if that can be stored. */
  to_document: string | null;
  /** The number of places, one more than the limit if others follow. */
  places: number;
}

function endOfPage(rows: readonly ChangeRow[]): FeedPage {
  const last = rows.at(-1);
  return {
    version: last?.version ?? null,
    id: last?.id ?? null,
    more: last !== undefined && last.place < last.places,
  };
}

function changeOf(
  { id, reference, product, isbn13, product_code, ...beside }: ChangeRow,
): OnixChange {
  return product === null
    ? { id, reference, source: null, isbn13, product_code }
    : { id, reference, source: { ...beside, reference, product } };
}

/**
 * A page of changes at these positions. It ends before the record that would exceed the size
 * of a page, unless that is the first. It omits the deletion of a product that exists again,
 * and of one whose reference another product now bears. A position `c` has its product `p`, the
 * document `d` and the record `n` of that, or its deletion `x`, or its retired reference `y`.
 */
function recordsPage(
  positions: Statement,
  limit: number,
): Statement<ChangeRow> {
  const size = sql`${detailsSize} + coalesce(
    (
      select octet_length(n.record)
      from onix_records n
      where n.organization_id = ${organization} and n.product_id = c.id
    ),
    0
  )`;
  return sql`
    with positions as materialized (${positions})
    select
      c.place::int,
      c.version::text,
      c.id,
      case when c.deleted_at is null then ${currentProduct} end as product,
      n.record,
      ${besideProduct},
      coalesce(n.record_reference, x.record_reference, y.record_reference) as reference,
      x.isbn13,
      x.product_code,
      c.deleted_at is null or p.id is null and not exists (
        select
        from onix_records b
        where b.organization_id = ${organization} and b.record_reference = x.record_reference
      ) as is_shown,
      case when c.deleted_at is null and d.summary is null and o.names_version is not null
        then c.id
      end as to_document,
      (select count(*) from positions)::int as places
    -- No page is larger: a constant limit keeps the generic plan.
    from (${fittingPositions(size)} limit 1001) c
    join organizations o on o.id = ${organization}
    ${productOfPosition}
    ${deletionOfPosition}
    -- The limit forces a look-up by primary key.
    left join lateral (
      select y.record_reference
      from onix_retired y
      where y.organization_id = ${organization} and y.id = c.id and c.deleted_at is not null
      limit 1
    ) y on true
    ${validDocument}
    ${receivedRecord}
    where c.place <= ${limit}
    order by c.place
  `;
}

/**
 * The positions of references under which products no longer go out. A recipient who starts
 * later gets them, too: it may have the product from another file.
 */
function retiredAfter({ from, safe }: FeedRange): Statement {
  return sql`
    select y.change_version, y.id, y.deleted_at
    from onix_retired y
    where y.organization_id = ${organization}
      and (y.change_version, y.id) > (${from.version}::bigint, ${from.id}::uuid)
      and y.change_version < ${safe}::bigint
    order by y.change_version, y.id
  `;
}
