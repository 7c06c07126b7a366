import { unavailable } from "../../schema/errors.ts";
import type { ArrayName } from "../../schema/product.ts";
import { isProjecting, type View } from "../../schema/view.ts";
import {
  composed,
  isOneOf,
  organization,
  prepared,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type LongText, readLong, upTo } from "../long_text.ts";
import {
  buildDocuments,
  currentProduct,
  fullProduct,
  maxBytes,
  parseProduct,
  type ProductJson,
  sizeOfDocument,
  tagOfProduct,
  validDocument,
  versionJson,
} from "./documents/document.ts";
import { productNotFound, tooLargeToShow } from "./errors/errors.ts";
import { storeDocuments, storeLatestVersion } from "./documents/external_changes.ts";
import { MAX_PRODUCT_BYTES, MAX_RESPONSE_BYTES, SHORT_BYTES } from "../sizes.ts";
import { etagOf } from "../entity_tag.ts";
import { type PacedView, projectedText } from "./documents/projected.ts";
import { viewConditions } from "./lists/view.ts";

/*
 * Reads products: from the valid document, or else from the tables.
 *
 * A statement that can do both starts slowly, because PostgreSQL starts every subselect of a plan.
 * So frequent reads look for documents first, then build the missing ones and store them in the
 * background: GET in this file, lists and the feed in `pages.ts`. Rare reads, and those of a group
 * of products, do both in one statement (`selectProducts`).
 */

/** Returns the full product as the view shows it, with its entity tag. Throws `NOT_FOUND`. */
export async function getProduct(
  database: Queries,
  id: string,
  paced?: PacedView,
): Promise<{ product: string; etag: string }> {
  const view = paced?.view;
  const select = view ? selectShortByView.getOrInsertComputed(view, selectShortOf) : selectShort;
  let [stored] = await database.lookUp(select(id));
  if (stored?.too_long) {
    const statement = (allowed: number) => selectStored(id, textUpTo(allowed), view);
    stored = await readLong(database, "lookUp", statement, stored.too_long);
  }
  if (!stored) throw productNotFound(id);
  const { product, etag } = stored;
  if (etag !== null) return await seenBy(paced, { product: product!, etag });
  const built = await readBuilt(database, id);
  return await seenBy(paced, { product: built.text, etag: built.etag });
}

/** The product as a view shows it. Its tag is that of what is seen. */
async function seenBy(paced: PacedView | undefined, full: { product: string; etag: string }) {
  if (!paced || !isProjecting(paced.view)) return full;
  const product = await projectedText(full.product, paced);
  return { product, etag: etagOf(product) };
}

/** The product from its document, with its entity tag, or nulls without a valid document. */
export function selectStored(
  id: string,
  text = anyText,
  view?: View,
): Statement<{ product: string | null; etag: string | null } & LongText> {
  return sql`
    select ${text}, d.etag
    ${productsWithDocument(sql`= ${id}`)} ${viewConditions(view)}
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

const anyText = textUpTo(raw(String(MAX_RESPONSE_BYTES)));
const shortText = textUpTo(raw(String(SHORT_BYTES)));

/** Most requests read a short product, by a statement whose text is the same string each time. */
const selectShort = composed((id: string) => selectStored(id, shortText));

/** The statements that read short products of views. */
const selectShortByView = new WeakMap<View, typeof selectShort>();

function selectShortOf(view: View): typeof selectShort {
  return composed((id: string) => prepared(selectStored(id, shortText, view)));
}

/**
 * Returns an array of the product, with the product's entity tag. PostgreSQL cuts the
 * array out: parsing megabytes here would delay other requests. Throws `NOT_FOUND`.
 */
export async function getProductArray(
  database: Queries,
  id: string,
  array: ArrayName,
  paced?: PacedView,
): Promise<{ text: string; etag: string }> {
  const view = paced?.view;
  if (paced && isProjecting(paced.view)) {
    const { product, etag } = await getProduct(database, id, paced);
    const seen = await parseProduct(product, paced.pace);
    return { text: JSON.stringify(seen[array]), etag };
  }
  const cut = raw(`(x.product::json -> '${array}')::text`);
  const source = selectStored(id, anyText, view);
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
 * Builds a product without a valid document, and stores it in the background. A change made outside
 * the service is stored as a version before it is shown, so that the history has it. Returns what
 * `cut` selects from the text of the product, with its entity tag. Throws `NOT_FOUND`, or
 * `CONFLICT` for a product over 4 MiB, which only SQL can store.
 */
export async function readBuilt(
  database: Queries,
  id: string,
  cut = raw("x.product"),
): Promise<{ text: string; etag: string }> {
  const hasStored = await storeLatestVersion(database, id);
  type Built = { text: string; etag: string; bytes: number } & LongText;
  const built = await readLong(database, "lookUp", (allowed) =>
    sql<Built>`
      select
        ${upTo(allowed, raw("x.text"), "text")},
        ${tagOfProduct} as etag, octet_length(x.product) as bytes
      from (
        select x.*, case when octet_length(x.product) <= ${maxBytes} then ${cut} end as text
        from (${selectBuilt(id)} offset 0) x
        offset 0
      ) x
    `);
  if (!built) throw productNotFound(id);
  const { text, etag, bytes } = built;
  if (bytes > MAX_PRODUCT_BYTES) throw tooLargeToShow(id, bytes);
  if (!hasStored) database.inBackground((tx) => storeDocuments(tx, [id]));
  return { text, etag };
}

/** The product, built from the tables. No row if it does not exist. */
export function selectBuilt(id: string): Statement<ProductJson> {
  return sql`
    select d.product_id as id, ${fullProduct} as product
    from (${buildDocuments(sql`= ${id}`)}) d
  `;
}

/**
 * Returns a long product in the version that this request has written. It stays when others change
 * or delete the product.
 */
export async function getWritten(
  database: Queries,
  { id, version }: { id: string; version: string },
): Promise<string> {
  try {
    const written = await readLong(
      database,
      "lookUp",
      (allowed) =>
        sql<{ product: string | null } & LongText>`
        select ${textUpTo(allowed)} ${versionsOf([id], version)}
      `,
    );
    return written?.product ?? (await getProduct(database, id)).product;
  } catch (error) {
    throw unavailable(
      "The product is written, but could not be read for the response: get it",
      { cause: error },
    );
  }
}

/**
 * The products in a version, or null for one that the version deletes. No row for a product without
 * the version.
 */
export function selectVersions(
  ids: readonly string[],
  version: string,
): Statement<{ id: string; product: string | null }> {
  return sql`
    select d.product_id as id, ${versionJson} as product ${versionsOf(ids, version)}
  `;
}

/** FROM and WHERE for this version of the products. */
function versionsOf(ids: readonly string[], version: string): Statement {
  return sql`
    from product_documents d
    where d.organization_id = ${organization} and d.product_id ${isOneOf(ids)}
      and d.change_version = ${version}::bigint
  `;
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

/** The products of a view, from their documents or the tables. No row for one that does not exist. */
export function selectProducts(
  ids: readonly string[],
  view?: View,
): Statement<ProductJson> {
  return sql`
    select p.id, ${currentProduct} as product
    ${productsWithDocument(isOneOf(ids))} ${viewConditions(view)}
  `;
}
