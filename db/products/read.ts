import { ApiError, unavailable } from "../../schema/errors.ts";
import type { ArrayName } from "../../schema/product.ts";
import { composed, isOneOf, organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type LongText, MAX_BYTES, readLong, SHORT_BYTES, upTo } from "../long_text.ts";
import {
  buildDocuments,
  currentProduct,
  fullProduct,
  MAX_PRODUCT_BYTES,
  maxBytes,
  type ProductJson,
  sizeOfDocument,
  tagOfProduct,
  validDocument,
} from "./document.ts";
import { productNotFound, tooLargeToShow } from "./errors.ts";
import { storeDocuments } from "./store_unauthored.ts";
import { storeLatest } from "./versions.ts";

/*
 * A product is read from its valid document, and without one from the tables.
 *
 * A statement that can do both takes long to start: PostgreSQL starts every subselect of a
 * plan. So frequent reads look for documents first, then build what has none and store it in
 * the background: GET here, lists and the feed in `pages.ts`. Rare reads, and those of a whole
 * group of products, do both in one statement (`selectProducts`).
 */

/** Returns the full product, with its entity tag. Throws `NOT_FOUND`. */
export async function getProduct(
  database: Queries,
  id: string,
): Promise<{ product: string; etag: string }> {
  let [stored] = await database.lookUp(selectShort(id));
  if (stored?.too_long) {
    const statement = (allowed: number) => selectStored(id, textUpTo(allowed));
    stored = await readLong(database, "lookUp", statement, stored.too_long);
  }
  if (!stored) throw productNotFound(id);
  const { product, etag } = stored;
  if (etag !== null) return { product: product!, etag };
  const built = await readBuilt(database, id);
  return { product: built.text, etag: built.etag };
}

/** The product from its document, with its entity tag, or nulls without a valid document. */
export function selectStored(
  id: string,
  text = anyText,
): Statement<{ product: string | null; etag: string | null } & LongText> {
  return sql`
    select ${text}, d.etag
    ${productsWithDocument(sql`= ${id}`)}
  `;
}

/** FROM and WHERE for the products with this id, or these, with the valid document `d` of each. */
function productsWithDocument(isId: Statement): Statement {
  return sql`
  from products p
  join organizations o on o.id = ${organization}
  ${validDocument}
  where p.organization_id = ${organization} and p.id ${isId}
`;
}

/** The product, from document `d`, if it has at most the allowed bytes. */
function textUpTo(allowed: number | Statement): Statement {
  return upTo(allowed, fullProduct, "product", sizeOfDocument);
}

const anyText = textUpTo(raw(String(MAX_BYTES)));

/** Most requests read a short product, by a statement whose text is the same string each time. */
const selectShort = composed((id: string) => selectStored(id, textUpTo(raw(String(SHORT_BYTES)))));

/**
 * Returns an array of the product, with the product's entity tag. PostgreSQL cuts the
 * array out: parsing megabytes here would delay other requests. Throws `NOT_FOUND`.
 */
export async function getProductArray(
  database: Queries,
  id: string,
  array: ArrayName,
): Promise<{ text: string; etag: string }> {
  const cut = raw(`(x.product::json -> '${array}')::text`);
  const source = selectStored(id);
  const stored = await readLong(
    database,
    "lookUp",
    (allowed) =>
      sql<{ text: string | null; etag: string } & LongText>`
      select ${upTo(allowed, raw("x.text"), "text")}, x.etag
      from (select x.etag, ${cut} as text from (${source}) x offset 0) x
    `,
  );
  if (!stored) throw productNotFound(id);
  const { text, etag } = stored;
  return text === null ? await readBuilt(database, id, cut) : { text, etag };
}

/**
 * Builds a product that has no valid document, and stores it in the background. A version that
 * SQL has made is stored before it is shown, so that the history has it. Returns what `cut`
 * selects from the text of the product, with its entity tag. Throws `NOT_FOUND`, or `CONFLICT`
 * for a product over 4 MiB, which only SQL can store.
 */
export async function readBuilt(
  database: Queries,
  id: string,
  cut = raw("x.product"),
): Promise<{ text: string; etag: string }> {
  const hasStored = await storeLatest(database, id);
  type Built =
    & { text: string; etag: string; is_storable: boolean; bytes: number }
    & LongText;
  const built = await readLong(database, "lookUp", (allowed) =>
    sql<Built>`
      select
        ${upTo(allowed, raw("x.text"), "text")},
        ${tagOfProduct} as etag, x.is_storable, octet_length(x.product) as bytes
      from (
        select x.*, case when octet_length(x.product) <= ${maxBytes} then ${cut} end as text
        from (${selectBuilt(id)} offset 0) x
        offset 0
      ) x
    `);
  if (!built) throw productNotFound(id);
  const { text, etag, is_storable, bytes } = built;
  if (bytes > MAX_PRODUCT_BYTES) throw tooLargeToShow(id, bytes);
  if (is_storable && !hasStored) database.inBackground(...storeDocuments([id]));
  return { text, etag };
}

/** The product, built from the tables. No row if it does not exist. */
export function selectBuilt(
  id: string,
): Statement<ProductJson & { is_storable: boolean }> {
  return sql`
    select d.product_id as id, ${fullProduct} as product, d.names_version is not null as is_storable
    from (${buildDocuments(sql`= ${id}`)}) d
  `;
}

/** Returns a product that this request has written, if the write returned none: it is long. */
export async function getWritten(
  database: Queries,
  id: string,
): Promise<string> {
  try {
    return (await getProduct(database, id)).product;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 500) throw error;
    throw unavailable(
      "The product is written, but could not be read for the response: get it",
      { cause: error },
    );
  }
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
    sql`select p.id, d.etag ${productsWithDocument(isOneOf(ids))}`,
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
    ${productsWithDocument(isOneOf(ids))}
  `;
}
