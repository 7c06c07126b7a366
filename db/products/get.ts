import { ApiError, unavailable } from "../../schema/errors.ts";
import type { ArrayName } from "../../schema/product.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type LongText, MAX_BYTES, readLong, upTo } from "../long_text.ts";
import {
  fullProduct,
  MAX_PRODUCT_BYTES,
  maxBytes,
  productNotFound,
  selectBuilt,
  shortBytes,
  sizeOfDocument,
  storeProducts,
  tagOfProduct,
  tooLarge,
} from "./documents.ts";

/** Returns the full product, with its entity tag if that is stored. Throws `NOT_FOUND`. */
export async function getProduct(
  database: Queries,
  id: string,
): Promise<{ product: string; etag?: string }> {
  let [stored] = await database.lookUp(selectStored(id, shortText));
  if (stored?.too_long) {
    const statement = (allowed: number) => selectStored(id, textUpTo(allowed));
    stored = await readLong(database, "lookUp", statement, stored.too_long);
  }
  if (!stored) throw productNotFound(id);
  const { product, etag } = stored;
  if (product !== null) return { product, etag: etag! };
  const built = await readBuilt(database, id);
  return { product: built.text, etag: built.etag };
}

/**
 * The product from its document, with its entity tag, or nulls without a valid
 * document. No row if the product does not exist. The parameters, not the product's row,
 * find the document: whatever the statistics say, that is planned as one look-up by
 * primary key.
 */
export function selectStored(
  id: string,
  text = anyText,
): Statement<{ product: string | null; etag: string | null } & LongText> {
  return sql`
    select ${text}, d.etag
    from products p
    join organizations o on o.id = ${organization}
    left join product_documents d
      on d.organization_id = ${organization} and d.product_id = ${id}
      and d.change_version = p.change_version and d.names_version = o.names_version
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** The product, from document `d`, if it has at most the allowed bytes. */
function textUpTo(allowed: number | Statement): Statement {
  return upTo(allowed, fullProduct, "product", sizeOfDocument);
}

/** The same for each size, composed once: most requests read a short product. */
const shortText = textUpTo(shortBytes);
const anyText = textUpTo(raw(String(MAX_BYTES)));

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
 * Builds a product that has no valid document, and stores it in the background. Returns
 * what `cut` selects from its text, with its entity tag. Throws `NOT_FOUND`, or `CONFLICT`
 * for a product over 4 MiB, which only SQL can store.
 */
async function readBuilt(
  database: Queries,
  id: string,
  cut = raw("x.product"),
): Promise<{ text: string; etag: string }> {
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
  if (bytes > MAX_PRODUCT_BYTES) throw tooLarge(id, bytes);
  if (is_storable) database.inBackground(...storeProducts([id]));
  return { text, etag };
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
