import { organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { type ProductJson, sizeOfDocument } from "./documents/document.ts";
import { selectProducts } from "./read.ts";
import { READ_BYTES } from "../sizes.ts";

/* Reads many products in groups that bound the memory. Their sizes are looked up first. */

/** The assumed size of a product without a document, in bytes. */
const UNKNOWN_SIZE = READ_BYTES / 16;

/** A product with the size of its JSON in bytes, which is unknown without a document. */
export interface SizedProduct {
  id: string;
  bytes: number | null;
}

/** Yields the products, as `selectProducts` selects them, in groups. */
export async function* readInGroups(
  tx: Transaction,
  products: readonly SizedProduct[],
): AsyncGenerator<ProductJson[]> {
  for (const { ids } of groupsOf(products)) {
    const [found] = await tx.send(selectProducts(ids));
    yield found;
  }
}

/** Products that are read together. */
interface ProductGroup {
  ids: string[];
  bytes: number;
}

/** Divides products into groups of at most so many bytes, or of one product. */
export function groupsOf(
  products: readonly SizedProduct[],
  maxBytes = READ_BYTES,
): ProductGroup[] {
  const groups: ProductGroup[] = [];
  for (const product of products) {
    const bytes = sizeOf(product);
    const last = groups.at(-1);
    if (!last || last.bytes + bytes > maxBytes) groups.push({ ids: [product.id], bytes });
    else {
      last.ids.push(product.id);
      last.bytes += bytes;
    }
  }
  return groups;
}

/** The size of a product in bytes, roughly if it is unknown. */
export function sizeOf({ bytes }: SizedProduct): number {
  return bytes ?? UNKNOWN_SIZE;
}

/** The size of the newest document of product `p` in bytes, valid or not, or null without one that has JSON. */
export const sizeOfStored = sql`(
  select nullif(${sizeOfDocument}, 0)
  from product_documents d
  where d.organization_id = ${organization} and d.product_id = p.id
  order by d.change_version desc
  limit 1
)`;
