import { ROWS } from "../../schema/product.ts";
import {
  composed,
  isOneOf,
  type Json,
  json,
  names,
  organization,
  parameters,
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

/*
 * Stores documents (`document.ts`). What a transaction does to a product makes one version of
 * it, and that is its document. Those of older versions stay: they are the history of the
 * product (`db/history/`). A deletion is a version without JSON.
 *
 * A write stores its versions, with their author (`storeWritten`, `storeSized`,
 * `deleteVersioned`). SQL beside the service stores none. So reads store what they had to
 * build (`storeProducts`), and a write that finds that the version before it is missing fails
 * (`assertStored`), and is repeated after `storeUnauthored`.
 *
 * A distributed database stores no documents: it has no triggers that would invalidate them.
 */

/**
 * Inserts documents `b` as versions, with these columns of their own and the values of those.
 * A document without `names_version` is never valid (-1).
 */
function insertVersions(
  built: Statement,
  columns: readonly string[],
  values: Statement,
): Statement {
  return sql`
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details,
      ${names(...columns)}
    )
    select
      b.organization_id, b.product_id, b.change_version, coalesce(b.names_version, -1), b.summary, b.details,
      ${values}
    from (${built} offset 0) b
    -- The version before it.
    left join lateral (
      select l.changed_at, l.event
      from product_documents l
      where l.organization_id = ${organization} and l.product_id = b.product_id
        and l.change_version < b.change_version
      order by l.change_version desc
      limit 1
    ) l on true
  `;
}

/** The time of a version that was made then: as responses show it, and after that of version `l`. */
function changedAfter(madeAt: string): Statement {
  return raw(`greatest(
    date_trunc('milliseconds', ${madeAt}), l.changed_at + interval '1 millisecond'
  )`);
}

/** The end of `insertVersions`, for a version that is there. */
const orElse = raw(
  "on conflict (organization_id, product_id, change_version) do",
);

/** The columns of a version that say who made it, and how. */
const MADE_COLUMNS = [
  "changed_at",
  "event",
  "changed_by",
  "operation",
  "request_id",
  "source",
  "restored_from",
];

/** Who makes versions, and what happens to their products. */
interface Authored {
  /** By the id of the product. */
  events: Json;
  author: AuthorValues;
}

/** Who, the operation, and the request. */
type AuthorValues = readonly [string | null, string | null, string | null];

function authorOf({ author }: Transaction): AuthorValues {
  return author ? [author.by, author.operation, author.requestId] : [null, null, null];
}

const EVENTS = { create: "created", update: "changed", delete: "deleted" };

function eventsOf(changes: readonly Change[]): Json {
  return json(Object.fromEntries(changes.map((change) => {
    const { id, method, source } = change;
    const restored_from = method === "delete" ? undefined : change.restoredFrom;
    const event = restored_from === undefined ? EVENTS[method] : "restored";
    return [id.toLowerCase(), { event, source, restored_from }];
  })));
}

/** The values of `MADE_COLUMNS`. */
function madeValues({ author }: Authored): Statement {
  return sql`
    ${changedAfter("now()")},
    m.event ->> 'event',
    ${parameters(author)},
    m.event -> 'source',
    (m.event ->> 'restored_from')::bigint
  `;
}

/** Joins what happens to product `b`. */
function eventOfVersion({ events }: Authored): Statement {
  return sql`
    cross join lateral (select ${events}::jsonb -> b.product_id::text as event) m
  `;
}

/* What the service writes. */

/** A full product as JSON text, or null if that is long. */
export interface ShortProductJson {
  id: string;
  product: string | null;
}

/**
 * Builds, stores and returns the product, or null if it is long: the last statement of a
 * write. Fails the transaction for a product over 4 MiB (`product_documents_size`), and if
 * it has not written the product: an UPDATE that waited while SQL deleted and re-inserted a
 * row finds nothing, and this statement sees the new row.
 */
export function storeWritten(
  tx: Transaction,
  change: Write,
): Statement<ShortProductJson> {
  const store = arePlain([change]) ? storeNew : storeAny;
  return store[tx.isDistributed ? "distributed" : "local"](
    change.id,
    eventsOf([change]),
    ...authorOf(tx),
  );
}

const shortBytes = raw(String(SHORT_BYTES));

const storeNew = storeOne(buildNewDocuments);
const storeAny = storeOne(buildDocuments);

function storeOne(build: typeof buildDocuments) {
  const store = (isDistributed: boolean) =>
    composed((
      id: string,
      events: Json,
      by: string | null,
      operation: string | null,
      requestId: string | null,
    ) => {
      const written = build(sql`= ${id}`);
      const made = { events, author: [by, operation, requestId] } as const;
      const product = sql`
        case when ${sizeOfDocument} <= ${shortBytes} then ${fullProduct} end as product
      `;
      return isDistributed
        ? selectShowable<ShortProductJson>(written, product)
        : storeBuilt<ShortProductJson>(
          sql`${written} and (p.change_version = change_version())::rows_found`,
          made,
          product,
        );
    });
  return { local: store(false), distributed: store(true) };
}

/** Builds and stores the products, and returns their sizes, except those over 4 MiB. */
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
  const made = { events: eventsOf(changes), author: authorOf(tx) };
  return storeBuilt(small, made, bytes);
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

function buildWritten(changes: readonly Write[]): Statement {
  const build = arePlain(changes) ? buildNewDocuments : buildDocuments;
  return build(isIdOf(changes));
}

/** The arrays that a request writes at a path of their own, and an import with all others. */
const PATH_ARRAYS = ROWS.flatMap(([name, { path }]) => path ? [name] : []);

function arePlain(changes: readonly Write[]): boolean {
  return changes.every(({ method, body }) =>
    method === "create" && PATH_ARRAYS.every((name) => !body[name])
  );
}

/** Selects `shown` of the documents of products that can be shown, in a distributed database. */
function selectShowable<Row extends object>(
  written: Statement,
  shown: Statement,
): Statement<Row> {
  return sql`select d.product_id as id, ${shown} from (${showable(written)}) d`;
}

function showable(written: Statement): Statement {
  return sql`
    select * from (${written} offset 0) d
    where (${fullProduct})::product_json is not null
  `;
}

/** Stores built documents as versions of the transaction's author, and returns `shown` of each. */
function storeBuilt<Row extends object>(
  built: Statement,
  made: Authored,
  shown: Statement,
): Statement<Row> {
  return sql`
    ${insertVersions(built, MADE_COLUMNS, madeValues(made))}
    ${eventOfVersion(made)}
    ${orElse} update set
      names_version = excluded.names_version,
      summary = excluded.summary,
      details = excluded.details,
      event = case when d.event in ('created', 'restored') then d.event else excluded.event end,
      source = coalesce(excluded.source, d.source),
      restored_from = coalesce(excluded.restored_from, d.restored_from)
    returning d.product_id as id, ${shown}
  `;
}

/**
 * Deletes products whose last versions are stored, which leaves a last version without JSON,
 * with what ONIX stored beside the product.
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
  const made = { events: eventsOf(deletions), author: authorOf(tx) };
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
  return sql`
    with gone as (${deleted}${assertStored(tx)} returning p.organization_id, p.id)
    ${
    insertVersions(
      last,
      [...MADE_COLUMNS, "onix"],
      sql`${madeValues(made)}, ${onix}`,
    )
  }
    ${eventOfVersion(made)}
    ${orElse} update set
      names_version = excluded.names_version,
      summary = excluded.summary,
      details = excluded.details,
      event = excluded.event,
      source = excluded.source,
      onix = excluded.onix
  `;
}

/* What SQL beside the service writes. */

/**
 * Builds the documents of these products, and stores the smallest, at most 4 MiB in all:
 * writes of the products wait for the transaction. A version that was stored before, with
 * names that have changed since, keeps its author.
 *
 * The lock keeps a product from being changed meanwhile, or deleted. NOWAIT prevents
 * deadlocks.
 */
export function storeProducts(ids: readonly string[]): Statement[] {
  const isId = isOneOf(ids);
  const smallest = sql`
    select d.*
    from (
      select d.*, sum(d.size) over (order by d.size, d.product_id) as total_size
      from (
        select d.*, ${sizeOfDocument} as size
        from (${buildDocuments(isId)} and o.names_version is not null offset 0) d
      ) d
    ) d
    where d.total_size <= ${maxBytes}
    order by d.product_id
  `;
  return [
    sql`
      select from products p
      where p.organization_id = ${organization} and p.id ${isId}
      order by p.id
      for share nowait
    `,
    sql`
      ${insertUnauthored(smallest)}
      ${orElse} update set
        names_version = excluded.names_version,
        summary = excluded.summary,
        details = excluded.details,
        -- SQL has deleted the product and inserted it again.
        event = case when d.event = 'deleted' then 'changed' else d.event end
    `,
  ];
}

/**
 * Stores the versions that SQL beside the service has made of these products, before they
 * are written. A product over 4 MiB leaves a version without JSON.
 */
export function storeUnauthored(ids: readonly string[]): Statement {
  const small = sql`${sizeOfDocument} <= ${maxBytes}`;
  const missing = sql`
    select
      d.organization_id, d.product_id, d.change_version, d.updated_at,
      case when ${small} then d.names_version end as names_version,
      case when ${small} then d.summary else '' end as summary,
      case when ${small} then d.details else '' end as details
    from (${buildDocuments(isOneOf(ids))} and not ${isVersionStored} offset 0) d
  `;
  return sql`${insertUnauthored(missing)} ${orElse} nothing`;
}

/**
 * Inserts documents that nobody is known to have written: SQL did, when the product says. A
 * version follows another one, unless that is a deletion.
 */
function insertUnauthored(built: Statement): Statement {
  const changedAt = changedAfter(
    "case when isfinite(b.updated_at) then least(b.updated_at, now()) else now() end",
  );
  const event = raw(
    "case when l.event <> 'deleted' then 'changed' else 'created' end",
  );
  return insertVersions(
    built,
    ["changed_at", "event"],
    sql`${changedAt}, ${event}`,
  );
}

/** The stored version of product `p`. Without one, SQL has changed it since. */
const storedVersion = sql`
  from product_documents s
  where s.organization_id = ${organization} and s.product_id = p.id
    and s.change_version = p.change_version
`;

/** The condition that the version of product `p` is stored. */
export const isVersionStored = sql`exists (select ${storedVersion})`;

/** The constraint that a write violates if the version before it is not stored. */
export const VERSION_STORED = "version_stored";

/**
 * Violates `version_stored` if SQL beside the service has changed product `p` since its last
 * version was stored. A count is no subselect that the planner could hash.
 */
export function assertStored({ isDistributed }: Transaction): Statement {
  if (isDistributed) return raw("");
  return sql` and ((select count(*) ${storedVersion}) = 1)::version_stored`;
}
