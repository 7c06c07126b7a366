import { ROWS } from "../../schema/product.ts";
import {
  composed,
  type Json,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { SHORT_BYTES } from "../long_text.ts";
import { type Change, type Deletion, isIdOf, type Write } from "./change.ts";
import {
  buildDocuments,
  buildNewDocuments,
  fullProduct,
  maxBytes,
  sizeOfDocument,
} from "./document.ts";
import { changedAfter, insertVersions } from "./insert_versions.ts";
import { assertVersion } from "./store_unauthored.ts";

/*
 * Stores documents (`document.ts`). What a transaction does to a product makes one version of
 * it, and that is its document. Those of older versions stay: they are the history of the
 * product (`db/history/`). A deletion is a version without JSON.
 *
 * A write stores its versions, with their author (`storeWritten`, `storeSized`,
 * `deleteVersioned`). SQL beside the service stores none (`store_unauthored.ts`).
 *
 * A distributed database stores no documents: it has no triggers that would invalidate them.
 */

/** A full product as JSON text, or null if that is long. */
export interface ShortProductJson {
  id: string;
  product: string | null;
}

/**
 * Builds, stores and returns the product, or null if it is long: the last statement of a
 * write. Fails the transaction for a product over 4 MiB (`product_documents_size`), and for
 * one that the transaction has not written: an UPDATE that waited while SQL deleted a row and
 * inserted it again has found nothing, but this statement sees the new row.
 */
export function storeWritten(
  tx: Transaction,
  change: Write,
): Statement<ShortProductJson> {
  if (tx.isDistributed) return selectShowable(buildWritten([change]), shortProduct);
  const store = areNewWithoutPaths([change]) ? storeNew : storeAny;
  return store(change.id, eventsOf([change]), ...authorOf(tx));
}

/** The full product, unless it is long. */
const shortProduct = sql`
  case when ${sizeOfDocument} <= ${raw(String(SHORT_BYTES))} then ${fullProduct} end as product
`;

const storeNew = storeOne(buildNewDocuments);
const storeAny = storeOne(buildDocuments);

function storeOne(build: typeof buildDocuments) {
  return composed((
    id: string,
    events: Json,
    by: string | null,
    operation: string | null,
    requestId: string | null,
  ) =>
    storeBuilt<ShortProductJson>(
      sql`${build(sql`= ${id}`)} and (p.change_version = change_version())::rows_found`,
      { events, author: [by, operation, requestId] },
      shortProduct,
    )
  );
}

/**
 * Builds and stores the products, and returns their sizes, except those over 4 MiB. A distributed
 * database fails instead.
 */
export function storeSized(
  tx: Transaction,
  changes: readonly Write[],
): Statement<{ id: string; bytes: number }> {
  const written = buildWritten(changes);
  const bytes = sql`${sizeOfDocument} + ${raw(String("{,}".length))} as bytes`;
  if (tx.isDistributed) return selectShowable(written, bytes);
  const small = sql`
    select * from (${written} offset 0) d where ${sizeOfDocument} <= ${maxBytes}
  `;
  return storeBuilt(small, { events: eventsOf(changes), author: authorOf(tx) }, bytes);
}

/** The documents of products that the transaction has written and stored. */
export function selectWritten(
  { isDistributed }: Transaction,
  changes: readonly Write[],
): Statement {
  if (isDistributed) return showable(buildWritten(changes));
  return sql`
    select *
    from product_documents d
    where d.organization_id = ${organization} and d.product_id ${
    isIdOf(changes)
  } and d.change_version = change_version()
  `;
}

/**
 * Deletes products, and stores their deletions: last versions without JSON, but with what ONIX
 * stored beside the product. Violates `version_stored` as `assertVersion` does.
 */
export function deleteVersioned(
  tx: Transaction,
  deletions: readonly Deletion[],
): Statement {
  const deleted = sql`
    delete from products p
    where p.organization_id = ${organization} and p.id ${isIdOf(deletions)}
  `;
  if (tx.isDistributed) return deleted;
  const last = sql`
    select
      g.organization_id, g.id as product_id, change_version() as change_version,
      null::bigint as names_version, '' as summary, '' as details
    from gone g
  `;
  const onix = sql`
    case
      when exists (
        select from onix_records n where n.organization_id = ${organization} and n.product_id = b.product_id
      ) then onix_beside(${organization}, b.product_id)
      else '{}'
    end
  `;
  const inserted = insertVersions({
    documents: last,
    beside: joinEvents(eventsOf(deletions)),
    values: { ...versionValues(authorOf(tx)), onix },
    updates: {
      event: raw("excluded.event"),
      source: raw("excluded.source"),
      onix: raw("excluded.onix"),
    },
  });
  return sql`
    with gone as (${deleted}${assertVersion(tx)} returning p.organization_id, p.id)
    ${inserted}
  `;
}

/** The documents of written products, built from the tables. */
function buildWritten(changes: readonly Write[]): Statement {
  const build = areNewWithoutPaths(changes) ? buildNewDocuments : buildDocuments;
  return build(isIdOf(changes));
}

/** The arrays that a request writes at a path of their own, and an import with all others. */
const PATH_ARRAYS = ROWS.flatMap(([name, { path }]) => path ? [name] : []);

/** Whether all create products without arrays of `PATH_ARRAYS`: their documents are built faster. */
function areNewWithoutPaths(changes: readonly Write[]): boolean {
  return changes.every(({ method, body }) =>
    method === "create" && PATH_ARRAYS.every((name) => !body[name])
  );
}

/** Stores built documents as versions of the transaction's author, and returns `shown` of each. */
function storeBuilt<Row extends object>(
  built: Statement,
  { events, author }: { events: Json; author: AuthorValues },
  shown: Statement,
): Statement<Row> {
  const inserted = insertVersions({
    documents: built,
    beside: joinEvents(events),
    values: versionValues(author),
    updates: {
      event: raw(
        "case when d.event in ('created', 'restored') then d.event else excluded.event end",
      ),
      source: raw("coalesce(excluded.source, d.source)"),
      restored_from: raw("coalesce(excluded.restored_from, d.restored_from)"),
    },
  });
  return sql`${inserted} returning d.product_id as id, ${shown}`;
}

/** Who makes versions, by which operation, in which request. */
type AuthorValues = readonly [string | null, string | null, string | null];

function authorOf({ author }: Transaction): AuthorValues {
  return author ? [author.by, author.operation, author.requestId] : [null, null, null];
}

const VERSION_EVENTS = { create: "created", update: "changed", delete: "deleted" };

/** What happens to each product, by its id. */
function eventsOf(changes: readonly Change[]): Json {
  return json(Object.fromEntries(changes.map((change) => {
    const { id, method, source } = change;
    const restored_from = method === "delete" ? undefined : change.restoredFrom;
    const event = restored_from === undefined ? VERSION_EVENTS[method] : "restored";
    return [id.toLowerCase(), { event, source, restored_from }];
  })));
}

/** What a version has beside its document, by column. `m` is what happens to its product. */
function versionValues([by, operation, requestId]: AuthorValues): Record<string, Statement> {
  return {
    changed_at: changedAfter("now()"),
    event: raw("m.event ->> 'event'"),
    changed_by: sql`${by}`,
    operation: sql`${operation}`,
    request_id: sql`${requestId}`,
    source: raw("m.event -> 'source'"),
    restored_from: raw("(m.event ->> 'restored_from')::bigint"),
  };
}

/** Joins what happens to the product of document `b`. */
function joinEvents(events: Json): Statement {
  return sql`
    cross join lateral (select ${events}::jsonb -> b.product_id::text as event) m
  `;
}

/**
 * Selects `shown` of each document, which a distributed database does not store. Fails for a
 * product over 4 MiB.
 */
function selectShowable<Row extends object>(
  written: Statement,
  shown: Statement,
): Statement<Row> {
  return sql`select d.product_id as id, ${shown} from (${showable(written)}) d`;
}

/** The documents, each of which the domain `product_json` checks to be at most 4 MiB. */
function showable(written: Statement): Statement {
  return sql`
    select * from (${written} offset 0) d
    where (${fullProduct})::product_json is not null
  `;
}
