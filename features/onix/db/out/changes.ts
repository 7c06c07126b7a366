import type { MessageForm } from "../../schema/rules/releases.ts";
import type { Cursor } from "../../../changes/schema.ts";
import {
  joinByKey,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../../db/connections/sql.ts";
import { currentProduct, validDocument } from "../../../../db/products/documents/document.ts";
import {
  type FeedPage,
  type FeedQueries,
  type FeedRange,
  readChanges,
} from "../../../changes/db/feed.ts";
import {
  deletionOfPosition,
  detailsSize,
  fittingPositions,
  positionsOf,
  positionsOfView,
  productOfPosition,
} from "../../../changes/db/positions.ts";
import { storeDocuments } from "../../../../db/products/documents/external_changes.ts";
import { viewConditions } from "../../../../db/products/lists/view.ts";
import type { FollowedView } from "../../../changes/db/view_state.ts";
import { isSameView, StaleView } from "../../../changes/db/view_page.ts";
import {
  joinedParties,
  type ProductMetadata,
  productMetadata,
  type RecordSource,
} from "./record_source.ts";
import { receivedRecord } from "./received.ts";
import { storedText } from "./stored_texts.ts";

/*
 * The feed of records: the changes of `/products/changes`, each with the source of its record. It
 * also lists retired references as deleted.
 */

/** A change of a product: the source of its record, the stored text of its record, or its deletion. */
export type OnixChange =
  & { id: string; reference: string | null }
  & (
    | { source: RecordSource; key: string | null }
    | { source: null; stored: string }
    | ({ source: null; stored: null } & DeletedNumbers)
  );

/** The numbers that identify a deleted product. */
interface DeletedNumbers {
  isbn13: string | null;
  product_code: string | null;
}

/** The parameters of a page. */
export interface ChangesOptions {
  after?: Cursor | undefined;
  limit: number;
  /** The form of the stored texts, which all callers without a view share. */
  form: MessageForm;
}

/** What a page of records depends on besides its positions. */
interface PageOptions {
  limit: number;
  /** Without a form, the page has no stored texts. */
  form?: MessageForm | undefined;
  followed?: FollowedView | undefined;
}

/**
 * The next changes of the feed, which `GET /products/changes` shares. Throws
 * `CURSOR_EXPIRED` if the client must start over.
 */
export async function listOnixChanges(
  database: FeedQueries,
  { after, limit, form }: ChangesOptions,
  followed?: FollowedView,
): Promise<{ changes: OnixChange[]; cursor: Cursor; more: boolean }> {
  return await readChanges(database, after, (range) => {
    const retired = retiredAfter(range, followed);
    const positions = followed
      ? positionsOfView(range, limit, followed, retired)
      : positionsOf(range, limit, retired);
    // A recipient with a view gets records of its own.
    const page = followed ? { limit, followed } : { limit, form };
    return readRecordsPage(database, positions, page);
  }, followed?.view.id);
}

/** Reads the sources of these products' records, until a page is full. */
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
  const { changes, more } = await readRecordsPage(database, positions, { limit });
  const sources = changes.flatMap(({ id, source }) => source ? [{ ...source, id }] : []);
  return { sources, more };
}

async function readRecordsPage(
  database: FeedQueries,
  positions: Statement,
  page: PageOptions,
): Promise<FeedPage & { changes: OnixChange[] }> {
  const rows = await database.scan(recordsPage(positions, page));
  if (rows.some(({ is_same_view }) => !is_same_view)) throw new StaleView();
  const toDocument = rows.flatMap(({ to_document }) => to_document ?? []);
  if (toDocument.length > 0) database.inBackground((tx) => storeDocuments(tx, toDocument));
  return {
    ...endOfPage(rows),
    changes: rows.filter(({ is_shown }) => is_shown).map(changeOf),
  };
}

interface ChangeRow extends ProductMetadata, DeletedNumbers {
  place: number;
  version: string;
  id: string;
  /** Null for a deletion, and for a record with a stored text. */
  product: string | null;
  stored: string | null;
  key: string | null;
  is_shown: boolean;
  /** The id of a product without a valid document, if that can be stored. */
  to_document: string | null;
  /** The number of places, one more than the limit if others follow. */
  places: number;
  is_same_view: boolean;
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
  { id, reference, product, stored, key, isbn13, product_code, ...metadata }: ChangeRow,
): OnixChange {
  if (stored !== null) return { id, reference, source: null, stored };
  return product === null
    ? { id, reference, source: null, stored, isbn13, product_code }
    : { id, reference, source: { ...metadata, reference, product }, key };
}

/** Joins the reference `y` of the deleted product at position `c`, or null, from those that are retired. */
const retiredReference = joinByKey(
  "y",
  sql`select y.record_reference
    from onix_retired y
    where y.organization_id = ${organization} and y.id = c.id and c.deleted_at is not null`,
);

/**
 * A page of changes at these positions. It ends before the record that would exceed the size
 * of a page, unless that is the first. It omits the deletion of a product that exists again,
 * and of one whose reference another product now bears. A position `c` has its product `p`, the
 * document `d`, the record `n`, the parties and the stored text `t` of that, or its deletion `x`, or
 * its retired reference `y`.
 */
function recordsPage(
  positions: Statement,
  { limit, form, followed }: PageOptions,
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
      case when c.deleted_at is null and t.stored is null then ${currentProduct} end as product,
      case when t.stored is null then n.record end as record,
      ${productMetadata},
      t.stored,
      t.key,
      coalesce(n.record_reference, x.record_reference, y.record_reference) as reference,
      x.isbn13,
      x.product_code,
      case when c.deleted_at is null then ${followed ? raw("p.id is not null") : raw("true")}
        else p.id is null and not exists (
          select
          from onix_records b
          where b.organization_id = ${organization} and b.record_reference = x.record_reference
            ${followed ? isOfAnotherSeen(followed) : []}
        )
      end as is_shown,
      case when c.deleted_at is null and d.summary is null
        then c.id
      end as to_document,
      (select count(*) from positions)::int as places,
      ${isSameView(followed)} as is_same_view
    -- No page is larger: a constant limit keeps the generic plan.
    from (${fittingPositions(size)} limit 1001) c
    join organizations o on o.id = ${organization}
    ${productOfPosition(followed)}
    ${deletionOfPosition(followed)}
    ${retiredReference}
    ${validDocument}
    ${receivedRecord}
    ${joinedParties}
    ${storedText(form)}
    where c.place <= ${limit}
    order by c.place
  `;
}

/** The condition that record `b` is that of another product than position `c`, which the view has. */
function isOfAnotherSeen({ view }: FollowedView): Statement {
  return sql`and b.product_id <> c.id and exists (
    select from products p
    where p.organization_id = ${organization} and p.id = b.product_id ${viewConditions(view)}
  )`;
}

/**
 * The positions of retired references. A recipient who starts later gets them as well, since it may
 * have the product from another file.
 */
function retiredAfter({ from, safe }: FeedRange, followed: FollowedView | undefined): Statement {
  // With a view, only those of products that its feed has shown.
  const joinShown = followed && followed.openSince === null
    ? sql`cross join lateral (
      select from recipient_products m
      where m.organization_id = ${organization} and m.recipient_id = ${followed.view.id}
        and m.product_id = right(y.record_reference, 36)::uuid
      limit 1
    ) m`
    : [];
  return sql`
    select y.change_version, y.id, y.deleted_at
    from onix_retired y
    ${joinShown}
    where y.organization_id = ${organization}
      and (y.change_version, y.id) > (${from.version}::bigint, ${from.id}::uuid)
      and y.change_version < ${safe}::bigint
    order by y.change_version, y.id
  `;
}
