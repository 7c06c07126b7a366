import { ROWS } from "../../../schema/product.ts";
import {
  composed,
  type Json,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../../connections/sql.ts";
import type { Author, Transaction } from "../../connections/transaction.ts";
import { type Change, type Deletion, isIdOf, type Write } from "../change/change.ts";
import {
  buildDocuments,
  buildNewDocuments,
  fullProduct,
  maxBytes,
  sizeOfDocument,
} from "./document.ts";
import { insertBuilt, insertVersions, versionTime } from "./insert_versions.ts";
import { assertVersion } from "./external_changes.ts";
import { SHORT_BYTES } from "../../sizes.ts";

/*
 * Stores documents (`document.ts`). A transaction that changes a product makes one version of it,
 * which is its document. Documents of older versions stay: they are the history
 * (`features/history/db/`). A deletion is a version without JSON.
 *
 * A write stores its versions with their author (`storeWritten`, `storeSized`, `deleteVersioned`).
 * Changes made by SQL outside the service have none (`external_changes.ts`).
 */

/** A version of a product. Its JSON text is null if that is long. */
export interface ShortProductJson {
  id: string;
  version: string;
  product: string | null;
}

/**
 * Builds, stores and returns the product, or null if it is long. It must be the last statement of a
 * write. Fails the transaction for a product over 4 MiB (`product_documents_size`), and for one
 * that the transaction has not written. That happens if SQL deletes a row and inserts it again
 * while an UPDATE waits: the UPDATE finds nothing, but this statement sees the new row.
 */
export function storeWritten(
  tx: Transaction,
  change: Write,
): Statement<ShortProductJson>[] {
  const isNew = areNewWithoutPaths([change]);
  if (tx.isDistributed) {
    return storeOne(tx, isNew)(change.id, eventsOf([change]), ...authorOf(tx.author));
  }
  const store = isNew ? storeNew : storeAny;
  return [store(change.id, eventsOf([change]), ...authorOf(tx.author))];
}

/** The version, and the full product unless it is long. */
const shortProduct = sql`
  d.change_version::text as version,
  case when ${sizeOfDocument} <= ${raw(String(SHORT_BYTES))} then ${fullProduct} end as product
`;

function storeOne(tx: Pick<Transaction, "isDistributed">, isNew: boolean) {
  const build = isNew ? buildNewDocuments : buildDocuments;
  return (
    id: string,
    events: Json,
    by: string | null,
    operation: string | null,
    requestId: string | null,
  ) =>
    storeBuilt<ShortProductJson>(tx, {
      isId: sql`= ${id}`,
      condition: sql` and (p.change_version = change_version())::rows_found`,
      build,
      events,
      author: [by, operation, requestId],
    }, shortProduct);
}

/** Composes the statement for a database that is not distributed. */
function composedStore(isNew: boolean): StoreOne {
  const store = storeOne({ isDistributed: false }, isNew);
  return composed((...values: Parameters<typeof store>) => store(...values)[0]!, store.length);
}

type StoreOne = (
  ...values: Parameters<ReturnType<typeof storeOne>>
) => Statement<ShortProductJson>;

const storeNew = composedStore(true);
const storeAny = composedStore(false);

/** A version of a product, and the size of its JSON in bytes. */
export interface SizedVersion {
  id: string;
  version: string;
  bytes: number;
}

/** Builds and stores the products, and returns their sizes, except those over 4 MiB. */
export function storeSized(
  tx: Transaction,
  changes: readonly Write[],
): Statement<SizedVersion>[] {
  const build = areNewWithoutPaths(changes) ? buildNewDocuments : buildDocuments;
  return storeBuilt(
    tx,
    {
      isId: isIdOf(changes),
      build: (condition) =>
        sql`
      select * from (${build(condition)} offset 0) d where ${sizeOfDocument} <= ${maxBytes}
    `,
      events: eventsOf(changes),
      author: authorOf(tx.author),
    },
    sql`
    d.change_version::text as version, ${sizeOfDocument} + ${raw(String("{,}".length))} as bytes
  `,
  );
}

/** The documents of products that the transaction has written and stored. */
export function selectWritten(changes: readonly Write[]): Statement {
  return sql`
    select *
    from product_documents d
    where d.organization_id = ${organization} and d.product_id ${
    isIdOf(changes)
  } and d.change_version = change_version()
  `;
}

/**
 * Stores deletions as versions without JSON, with the ONIX records of each product, and deletes
 * the products. Violates `version_stored` as `assertVersion` does.
 */
export function deleteVersioned(
  { author }: Transaction,
  deletions: readonly Deletion[],
): Statement[] {
  const isDeleted = sql`p.organization_id = ${organization} and p.id ${isIdOf(deletions)}`;
  const deleted = sql`
    select
      p.organization_id, p.id as product_id, change_version() as change_version,
      null::bigint as names_version, '' as summary, '' as details
    from products p
    where ${isDeleted}${assertVersion}
  `;
  const inserted = insertVersions({
    documents: deleted,
    joins: joinEvents(eventsOf(deletions)),
    values: { ...versionValues(authorOf(author)), onix: onixMetadata },
    updates: {
      event: raw("excluded.event"),
      source: raw("excluded.source"),
      onix: raw("excluded.onix"),
    },
  });
  return [inserted, sql`delete from products p where ${isDeleted}`];
}

/** What ONIX stores alongside product `b`, as `onix_beside` of functions.sql returns it: a worker of Citus cannot call that. */
const onixMetadata = sql`case
  when exists (
    select from onix_records n where n.organization_id = ${organization} and n.product_id = b.product_id
  ) then jsonb_build_object(
    'onix_records', array(
      select to_jsonb(n) - 'reading' from onix_records n
      where n.organization_id = ${organization} and n.product_id = b.product_id
    ),
    'onix_aliases', array(
      select to_jsonb(a) from onix_aliases a
      where a.organization_id = ${organization} and a.product_id = b.product_id
    ),
    'onix_senders', array(
      select to_jsonb(s) - 'reading' from onix_senders s
      where s.organization_id = ${organization} and s.product_id = b.product_id
    )
  )
  else '{}'
end`;

/** The arrays that a request writes at a path of their own, and an import with all others. */
const PATH_ARRAYS = ROWS.flatMap(([name, { path }]) => path ? [name] : []);

/** Whether all create products without arrays of `PATH_ARRAYS`: their documents are built faster. */
function areNewWithoutPaths(changes: readonly Write[]): boolean {
  return changes.every(({ method, body }) =>
    method === "create" && PATH_ARRAYS.every((name) => !body[name])
  );
}

/** Documents that are built and stored, what happens to their products, and by whom. */
interface BuiltDocuments {
  isId: Statement;
  condition?: Statement;
  build: (condition: Statement) => Statement;
  events: Json;
  author: AuthorValues;
}

/** Stores built documents as versions of the transaction's author, and returns `shown` of each. */
function storeBuilt<Row extends object>(
  tx: Pick<Transaction, "isDistributed">,
  { events, author, ...documents }: BuiltDocuments,
  shown: Statement,
): Statement<Row>[] {
  const versions = {
    ...documents,
    joins: joinEvents(events),
    values: versionValues(author),
    updates: {
      event: raw(
        "case when d.event in ('created', 'restored') then d.event else excluded.event end",
      ),
      source: raw("coalesce(excluded.source, d.source)"),
      restored_from: raw("coalesce(excluded.restored_from, d.restored_from)"),
    },
  };
  return insertBuilt(tx, versions, sql` returning d.product_id as id, ${shown}`);
}

/** The author of versions: who, by which operation, in which request. */
type AuthorValues = readonly [string | null, string | null, string | null];

function authorOf(author: Author | undefined): AuthorValues {
  return author ? [author.by, author.operation, author.requestId] : [null, null, null];
}

const VERSION_EVENTS = { create: "created", update: "changed", delete: "deleted" };

/** The event of each product, by its id: created, changed or deleted. */
function eventsOf(changes: readonly Change[]): Json {
  return json(Object.fromEntries(changes.map((change) => {
    const { id, method } = change;
    const restored_from = method === "delete" ? undefined : change.restoredFrom;
    const shared_form = method === "delete" ? undefined : change.sharedForm;
    const source = shared_form ? { ...change.source, shared_form } : change.source;
    const event = restored_from === undefined ? VERSION_EVENTS[method] : "restored";
    return [id.toLowerCase(), { event, source, restored_from }];
  })));
}

/** The other columns of a version. `m` is the event of its product. */
function versionValues([by, operation, requestId]: AuthorValues): Record<string, Statement> {
  return {
    changed_at: versionTime("now()"),
    event: raw("m.event ->> 'event'"),
    changed_by: sql`${by}`,
    operation: sql`${operation}`,
    request_id: sql`${requestId}`,
    source: raw("m.event -> 'source'"),
    restored_from: raw("(m.event ->> 'restored_from')::bigint"),
  };
}

/** Joins the event of the product of document `b`. */
function joinEvents(events: Json): Statement {
  return sql`
    cross join lateral (select ${events}::jsonb -> b.product_id::text as event) m
  `;
}
