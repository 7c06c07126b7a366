import { ApiError } from "../../schema/errors.ts";
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

/** The error for a product that the organization does not have. */
export function notFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with id "${id}"`);
}
