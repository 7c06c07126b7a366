import { ApiError } from "../../schema/errors.ts";
import { ROWS } from "../../schema/product.ts";
import {
  composed,
  isOneOf,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { SHORT_BYTES } from "../long_text.ts";
import { isIdOf, type Write } from "./change.ts";
import { detailsJson, newDetailsJson, summaryJson } from "./json.ts";

/*
 * The table `product_documents` stores each product's JSON: `summary` holds the fields in
 * lists, `details` the arrays, `etag` the entity tag. A document is valid while its
 * `updated_at` equals the product's and its `names_version` the organization's. Every
 * read compares both, so writes need not delete stale documents.
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
      and d.updated_at = p.updated_at and d.names_version = o.names_version
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
  sql`organization_id, product_id, updated_at, names_version, summary, details`;

/** The document of product `p` of organization `o`, built from the tables. */
const builtDocument = builtWith(detailsJson);

/** The same for a product that the transaction has created without arrays with a path of their own. */
const builtNewDocument = builtWith(newDetailsJson);

function builtWith(details: Statement): Statement {
  return sql`
    p.organization_id,
    p.id,
    p.updated_at,
    o.names_version,
    ${summaryJson} as summary,
    ${details} as details
  `;
}

const onConflict = sql`
  on conflict (organization_id, product_id) do update set
    updated_at = excluded.updated_at,
    names_version = excluded.names_version,
    summary = excluded.summary,
    details = excluded.details
`;

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

/** The size of the document of product `p` in bytes, valid or not, or null without one. */
export const sizeOfStored = sql`(
  select ${sizeOfDocument}
  from product_documents d
  where d.organization_id = ${organization} and d.product_id = p.id
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
 * writes of the products wait for the transaction.
 *
 * The lock keeps a product from being changed meanwhile, or deleted and inserted again:
 * an import restores `updated_at`, so the document of the old row could be valid for the
 * new one. NOWAIT prevents deadlocks.
 */
export function storeProducts(ids: readonly string[]): Statement[] {
  const selected = sql`
    p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
  return [
    sql`select from products p where ${selected} order by p.id for share nowait`,
    sql`
      insert into product_documents (${documentColumns})
      with built as materialized (
        select ${builtDocument}
        from products p
        join organizations o on o.id = ${organization}
        where ${selected} and o.names_version is not null
      )
      select d.organization_id, d.id, d.updated_at, d.names_version, d.summary, d.details
      from (
        select d.*, sum(d.size) over (order by d.size, d.id) as total_size
        from (select d.*, ${sizeOfDocument} as size from built d) d
      ) d
      where d.total_size <= ${maxBytes}
      order by d.id
      ${onConflict}
    `,
  ];
}

/**
 * Builds, stores and returns the product, or null if it is long: the last statement of a
 * write. Fails the transaction for a product over 4 MiB (`product_documents_size`), and if
 * it has not written the product: an UPDATE that waited while SQL deleted and re-inserted a
 * row finds nothing, and this statement sees the new row.
 */
export function storeWritten(
  { isDistributed }: Transaction,
  change: Write,
): Statement<ShortProductJson> {
  const store = arePlain([change]) ? storeNew : storeAny;
  return store[isDistributed ? "distributed" : "local"](change.id);
}

const storeNew = storeOne(builtNewDocument);
const storeAny = storeOne(builtDocument);

function storeOne(document: Statement) {
  const store = (isDistributed: boolean) =>
    composed((id: string) => {
      const written = selectBuiltWith(document, sql`= ${id}`);
      const built =
        sql`${written} and (p.change_version = change_version())::rows_found`;
      return storeBuilt<ShortProductJson>(
        isDistributed,
        written,
        built,
        sql`${shortProduct} as product`,
      );
    });
  return { local: store(false), distributed: store(true) };
}

/** Builds and stores the products, and returns their sizes, except those over 4 MiB. */
export function storeSized(
  { isDistributed }: Transaction,
  changes: readonly Write[],
): Statement<{ id: string; bytes: number }> {
  const written = buildWritten(changes);
  const built = sql`
    select * from (${written} offset 0) d where ${sizeOfDocument} <= ${maxBytes}
  `;
  return storeBuilt(
    isDistributed,
    written,
    built,
    sql`${productBytes} as bytes`,
  );
}

/**
 * Stores documents that are built, and returns `returning` of each. Where `names_version` is
 * null, the document is never valid (-1). A distributed database stores no documents: it
 * has no triggers that would invalidate them.
 */
function storeBuilt<Row extends object>(
  isDistributed: boolean,
  written: Statement,
  built: Statement,
  returning: Statement,
): Statement<Row> {
  const returned = sql`d.product_id as id, ${returning}`;
  if (isDistributed) {
    return sql<Row>`select ${returned} from (${showable(written)}) d`;
  }
  return sql<Row>`
    insert into product_documents as d (${documentColumns})
    select
      b.organization_id, b.id, b.updated_at, coalesce(b.names_version, -1), b.summary, b.details
    from (${built} offset 0) b
    ${onConflict}
    returning ${returned}
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
  }
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
