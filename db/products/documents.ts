import { ApiError } from "../../schema/errors.ts";
import { ROWS } from "../../schema/product.ts";
import {
  composed,
  isOneOf,
  type Json,
  json,
  organization,
  parameters,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { SHORT_BYTES } from "../long_text.ts";
import { type Change, type Deletion, isIdOf, type Write } from "./change.ts";
import { detailsJson, newDetailsJson, summaryJson } from "./json.ts";

/*
 * The table `product_documents` stores each version of a product: `summary` holds the fields
 * in lists, `details` the arrays, `etag` the entity tag. The document with the product's
 * `change_version` is valid while its `names_version` is the organization's. Every read
 * compares both, so writes need not invalidate documents. Those of older versions stay: they
 * are the history of the product (`db/history/`).
 */

/** A full product as JSON text. */
export interface ProductJson {
  id: string;
  product: string;
}

/** The same, or null if the text is long. */
export interface ShortProductJson {
  id: string;
  product: string | null;
}

/**
 * Joins the valid document `d`, or nulls, to product `p` of organization `o`. The
 * limit forces a look-up by primary key. While statistics show few documents, the
 * planner would otherwise scan all documents of the organization.
 */
export const validDocument = sql`
  left join lateral (
    select d.product_id, d.summary, d.details, d.etag
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = p.id
      and d.change_version = p.change_version and d.names_version = o.names_version
    limit 1
  ) d on true
`;

/** The full product, from document `d`, which is stored or built. */
export const fullProduct = raw("'{' || d.summary || ',' || d.details || '}'");

/** The size of document `d` in bytes, which PostgreSQL knows of a stored one without reading it. */
export const sizeOfDocument = raw(
  "(octet_length(d.summary) + octet_length(d.details))",
);

export const shortBytes = raw(String(SHORT_BYTES));

/** The full product, from document `d`, or null if it is long. */
const shortProduct = sql`
  case when ${sizeOfDocument} <= ${shortBytes} then ${fullProduct} end
`;

/** The size of the full product in bytes, from document `d`. */
const productBytes = sql`${sizeOfDocument} + ${raw(String("{,}".length))}`;

/** Product `p` of organization `o` with this id, or one of these, and its valid document `d`. */
const productWithDocument = sql`
  from products p
  join organizations o on o.id = ${organization}
  ${validDocument}
  where p.organization_id = ${organization} and p.id
`;

/** The columns of a document, in the order of `builtDocument`. */
const documentColumns =
  sql`organization_id, product_id, change_version, updated_at, names_version, summary, details`;

/** The columns of a version that say who made it. */
const authorColumns =
  sql`changed_at, event, changed_by, operation, request_id, source, restored_from`;

/** Joins the version `l` before the one that is inserted of product `b`, or nulls. */
const lastVersion = sql`
  left join lateral (
    select l.changed_at, l.event
    from product_documents l
    where l.organization_id = ${organization} and l.product_id = b.id
      and l.change_version < b.change_version
    order by l.change_version desc
    limit 1
  ) l on true
`;

/** The document of product `p` of organization `o`, built from the tables. */
const builtDocument = builtWith(detailsJson);

/** The same for a product that the transaction has created without arrays with a path of their own. */
const builtNewDocument = builtWith(newDetailsJson);

function builtWith(details: Statement): Statement {
  return sql`
    p.organization_id,
    p.id,
    p.change_version,
    p.updated_at,
    o.names_version,
    ${summaryJson} as summary,
    ${details} as details
  `;
}

/** The full product, from document `d` or the tables. */
export const currentProduct = sql`coalesce(
  ${fullProduct},
  (select ${fullProduct} from (select ${builtDocument}) d)
)`;

/** The entity tag of `x.product`: the same expression as that of the column `etag`. */
export const tagOfProduct = raw(String.raw`'"' || left(
  translate(encode(sha256(replace(x.product, '\', '\\')::bytea), 'base64'), '+/', '-_'),
  27
) || '"'`);

/** The maximum size of the JSON of a product, which `product_documents` requires. */
export const MAX_PRODUCT_BYTES = 4 * 2 ** 20;

export const maxBytes = raw(String(MAX_PRODUCT_BYTES));

/** The error for a product that is too large to be shown. */
export function tooLarge(id: string, bytes: number): ApiError {
  const mib = (bytes / 2 ** 20).toFixed(1);
  return new ApiError(
    "CONFLICT",
    `The product "${id}" has ${mib} MiB of JSON, and at most 4 MiB can be shown: SQL has stored it. Remove rows by PUT`,
  );
}

/** The error for a product that the organization does not have. */
export function productNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with id "${id}"`);
}

/**
 * The entity tags of these products by id, after the statements of `before`. Products
 * without a valid document are built one at a time: they may be large.
 */
export async function readTags(
  tx: Transaction,
  ids: readonly string[],
  ...before: Statement[]
): Promise<Map<string, string>> {
  const replies = await tx.send(
    ...before,
    sql`
      select p.id, d.etag ${productWithDocument} ${isOneOf(ids)}
    `,
  );
  const tags = new Map<string, string>();
  for (const row of replies.at(-1)!) {
    const { id, etag } = row as { id: string; etag: string | null };
    if (etag) tags.set(id, etag);
    else {
      const [[built]] = await tx.send(sql<{ etag: string }>`
        select ${tagOfProduct} as etag from (${selectBuilt(id)} offset 0) x
      `);
      if (built) tags.set(id, built.etag);
    }
  }
  return tags;
}

/** The products, from their documents or the tables. No row for one that does not exist. */
export function selectProducts(
  ids: readonly string[],
): Statement<ProductJson> {
  return sql`
    select p.id, ${currentProduct} as product
    ${productWithDocument} ${isOneOf(ids)}
  `;
}

/** The most that the products read at once may take, in bytes. */
const READ_BYTES = 8 * 2 ** 20;

/** The products, as `selectProducts` selects them, read in groups that bound the memory. */
export async function* readInGroups(
  tx: Transaction,
  products: readonly SizedProduct[],
): AsyncGenerator<ProductJson[]> {
  for (const ids of groupsOf(products)) {
    const [found] = await tx.send(selectProducts(ids));
    yield found;
  }
}

/** A product with the size of its JSON in bytes, which is unknown without a document. */
interface SizedProduct {
  id: string;
  bytes: number | null;
}

/** Divides products into groups of at most `READ_BYTES`, which are read together. */
function groupsOf(products: readonly SizedProduct[]): string[][] {
  const groups: string[][] = [];
  let left = 0;
  for (const { id, bytes } of products) {
    const size = bytes ?? READ_BYTES / 16;
    if (size > left) {
      groups.push([]);
      left = READ_BYTES;
    }
    groups.at(-1)!.push(id);
    left -= size;
  }
  return groups;
}

/** The size of the newest document of product `p` in bytes, valid or not, or null without one that has JSON. */
export const sizeOfStored = sql`(
  select nullif(${sizeOfDocument}, 0)
  from product_documents d
  where d.organization_id = ${organization} and d.product_id = p.id
  order by d.change_version desc
  limit 1
)`;

/** The product, built from the tables. No row if it does not exist. */
export function selectBuilt(id: string) {
  return sql<ProductJson & { is_storable: boolean }>`
    select d.id, ${fullProduct} as product, d.names_version is not null as is_storable
    from (
      select ${builtDocument}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id = ${id}
    ) d
  `;
}

/**
 * Builds the documents of these products, and stores the smallest, at most 4 MiB in all:
 * writes of the products wait for the transaction. A version that was stored before, with
 * names that have changed since, keeps its author.
 *
 * The lock keeps a product from being changed meanwhile, or deleted. NOWAIT prevents
 * deadlocks.
 */
export function storeProducts(ids: readonly string[]): Statement[] {
  const selected = sql`
    p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
  const built = sql`
    select d.*
    from (
      select d.*, sum(d.size) over (order by d.size, d.id) as total_size
      from (
        select d.*, ${sizeOfDocument} as size
        from (
          select ${builtDocument}
          from products p
          join organizations o on o.id = ${organization}
          where ${selected} and o.names_version is not null
          offset 0
        ) d
      ) d
    ) d
    where d.total_size <= ${maxBytes}
    order by d.id
  `;
  return [
    sql`select from products p where ${selected} order by p.id for share nowait`,
    sql`
      ${insertUnauthored(built)}
      on conflict (organization_id, product_id, change_version) do update set
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
  const built = sql`
    select
      d.organization_id, d.id, d.change_version, d.updated_at, d.names_version,
      case when ${small} then d.summary else '' end as summary,
      case when ${small} then d.details else '' end as details
    from (
      select ${builtDocument}
      from products p
      join organizations o on o.id = ${organization}
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
        and not ${isStored}
      offset 0
    ) d
  `;
  return sql`
    ${insertUnauthored(built)}
    on conflict (organization_id, product_id, change_version) do nothing
  `;
}

/**
 * Inserts documents that nobody is known to have written: SQL did, when the product says. A
 * version follows another one, unless that is a deletion.
 */
function insertUnauthored(built: Statement): Statement {
  return sql`
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details, changed_at, event
    )
    select
      b.organization_id, b.id, b.change_version, coalesce(b.names_version, -1), b.summary, b.details,
      ${
    changedAfter(
      raw(
        "case when isfinite(b.updated_at) then least(b.updated_at, now()) else now() end",
      ),
    )
  },
      case when l.event <> 'deleted' then 'changed' else 'created' end
    from (${built}) b
    ${lastVersion}
  `;
}

/** The time of a version that was made then: as responses show it, and after that of version `l`. */
function changedAfter(madeAt: Statement): Statement {
  return sql`greatest(
    date_trunc('milliseconds', ${madeAt}), l.changed_at + interval '1 millisecond'
  )`;
}

/** The condition that the version of product `p` is stored. Otherwise SQL has changed it since. */
const isStored = sql`exists (
  select from product_documents s
  where s.organization_id = ${organization} and s.product_id = p.id
    and s.change_version = p.change_version
)`;

/** The constraint that a write violates if the version before it is not stored. */
export const VERSION_STORED = "version_stored";

/**
 * Violates `version_stored` if SQL beside the service has changed product `p` since its last
 * version was stored. A count is no subselect that the planner could hash.
 */
export function assertStored({ isDistributed }: Transaction): Statement {
  if (isDistributed) return raw("");
  return sql` and ((
    select count(*)
    from product_documents s
    where s.organization_id = ${organization} and s.product_id = p.id
      and s.change_version = p.change_version
  ) = 1)::version_stored`;
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

const storeNew = storeOne(builtNewDocument);
const storeAny = storeOne(builtDocument);

function storeOne(document: Statement) {
  const store = (isDistributed: boolean) =>
    composed((
      id: string,
      events: Json,
      by: string | null,
      operation: string | null,
      requestId: string | null,
    ) => {
      const written = selectBuiltWith(document, sql`= ${id}`);
      const built =
        sql`${written} and (p.change_version = change_version())::rows_found`;
      return storeBuilt<ShortProductJson>(
        isDistributed,
        written,
        built,
        { events, author: [by, operation, requestId] },
        sql`${shortProduct} as product`,
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
  const built = sql`
    select * from (${written} offset 0) d where ${sizeOfDocument} <= ${maxBytes}
  `;
  return storeBuilt(
    tx.isDistributed,
    written,
    built,
    { events: eventsOf(changes), author: authorOf(tx) },
    sql`${productBytes} as bytes`,
  );
}

/**
 * Stores documents that are built as versions of the transaction's author, and returns
 * `returning` of each. What one transaction does to a product is one version. Where
 * `names_version` is null, the document is never valid (-1). A distributed database stores
 * no documents: it has no triggers that would invalidate them.
 */
function storeBuilt<Row extends object>(
  isDistributed: boolean,
  written: Statement,
  built: Statement,
  made: Made,
  returning: Statement,
): Statement<Row> {
  const returned = sql`d.product_id as id, ${returning}`;
  if (isDistributed) {
    return sql<Row>`select ${returned} from (${showable(written)}) d`;
  }
  return sql<Row>`
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details,
      ${authorColumns}
    )
    select
      b.organization_id, b.id, b.change_version, coalesce(b.names_version, -1), b.summary, b.details,
      ${authorValues(made)}
    from (${built} offset 0) b
    ${lastVersion}
    ${eventOfVersion(made)}
    on conflict (organization_id, product_id, change_version) do update set
      names_version = excluded.names_version,
      summary = excluded.summary,
      details = excluded.details,
      event = case when d.event in ('created', 'restored') then d.event else excluded.event end,
      source = coalesce(excluded.source, d.source),
      restored_from = coalesce(excluded.restored_from, d.restored_from)
    returning ${returned}
  `;
}

/** Who makes versions, and what happens to their products. */
interface Made {
  /** By the id of the product. */
  events: Json;
  author: Author;
}

/** Who, the operation, and the request. */
type Author = readonly [string | null, string | null, string | null];

function authorOf({ author }: Transaction): Author {
  return author
    ? [author.by, author.operation, author.requestId]
    : [null, null, null];
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

/** The values of `authorColumns`. */
function authorValues({ author }: Made): Statement {
  return sql`
    ${changedAfter(raw("now()"))},
    m.event ->> 'event',
    ${parameters(author)},
    m.event -> 'source',
    (m.event ->> 'restored_from')::bigint
  `;
}

/** Joins what happens to product `b`. */
function eventOfVersion({ events }: Made): Statement {
  return sql`
    cross join lateral (select ${events}::jsonb -> b.id::text as event) m
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
  return sql`
    with gone as (${deleted}${assertStored(tx)} returning p.id)
    insert into product_documents as d (
      organization_id, product_id, change_version, names_version, summary, details,
      ${authorColumns}, onix
    )
    select
      ${organization}, b.id, b.change_version, -1, '', '', ${
    authorValues(made)
  },
      case
        when exists (
          select from onix_records n where n.organization_id = ${organization} and n.product_id = b.id
        ) then onix_beside(${organization}, b.id)
        else '{}'
      end
    from (select g.id, change_version() as change_version from gone g) b
    ${lastVersion}
    ${eventOfVersion(made)}
    on conflict (organization_id, product_id, change_version) do update set
      names_version = excluded.names_version,
      event = excluded.event,
      summary = excluded.summary,
      details = excluded.details,
      source = excluded.source,
      onix = excluded.onix
  `;
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

/** The documents that `written` builds, of products that can be shown. */
function showable(written: Statement): Statement {
  return sql`
    select * from (${written} offset 0) d (${documentColumns})
    where (${fullProduct})::product_json is not null
  `;
}

/** The arrays that a request writes at a path of their own, and an import with all others. */
const PATH_ARRAYS = ROWS.flatMap(([name, { path }]) => path ? [name] : []);

function arePlain(changes: readonly Write[]): boolean {
  return changes.every(({ method, body }) =>
    method === "create" && PATH_ARRAYS.every((name) => !body[name])
  );
}

function buildWritten(changes: readonly Write[]): Statement {
  const document = arePlain(changes) ? builtNewDocument : builtDocument;
  return selectBuiltWith(document, isIdOf(changes));
}

function selectBuiltWith(document: Statement, isId: Statement): Statement {
  return sql`
    select ${document}
    from products p
    join organizations o on o.id = ${organization}
    where p.organization_id = ${organization} and p.id ${isId}
  `;
}
