import { ApiError } from "../../schema/errors.ts";
import { raw, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { builtProduct, storedProduct, storeProducts } from "./documents.ts";

/**
 * Returns the full product as JSON text, with its entity tag if that is stored. Throws
 * `NOT_FOUND`.
 */
export async function getProduct(
  database: Queries,
  id: string,
): Promise<{ product: string; etag?: string }> {
  const [stored] = await database.lookUp(storedProduct(id));
  if (!stored) throw notFound(id);
  if (stored.product !== null) return stored;
  const [built] = await database.lookUp(builtProduct(id));
  if (!built) throw notFound(id);
  if (built.is_storable) database.inBackground(...storeProducts([id]));
  return { product: built.product };
}

/**
 * Returns an array of the product as JSON text, with the product's entity tag, or with
 * the product if its tag is not stored. PostgreSQL cuts the array out: parsing megabytes
 * here would delay other requests. Throws `NOT_FOUND`.
 */
export async function getProductArray(
  database: Queries,
  id: string,
  array: "product_territories" | "product_sales_rights",
): Promise<{ entries: string } & ({ etag: string } | { product: string })> {
  const entries = raw(`(x.product::json -> '${array}')::text as entries`);
  const [stored] = await database.lookUp(
    sql<{ etag: string; entries: string } | { entries: null }>`
      select x.etag, ${entries} from (${storedProduct(id)}) x
    `,
  );
  if (!stored) throw notFound(id);
  if (stored.entries !== null) return stored;
  const [built] = await database.lookUp(
    sql<{ product: string; is_storable: boolean; entries: string }>`
      select x.product, x.is_storable, ${entries} from (${builtProduct(id)}) x
    `,
  );
  if (!built) throw notFound(id);
  if (built.is_storable) database.inBackground(...storeProducts([id]));
  return built;
}

/** The error for a product that the organization does not have. */
export function notFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with id "${id}"`);
}
