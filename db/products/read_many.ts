import { organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { type ProductJson, sizeOfDocument } from "./document.ts";
import { selectProducts } from "./read.ts";

/* Many products, which are read in groups that bound the memory: their sizes are looked up first. */

/** The most that the products read at once may take, in bytes. */
const READ_BYTES = 8 * 2 ** 20;

/** The assumed size of a product without a document, in bytes. */
const UNKNOWN_SIZE = READ_BYTES / 16;

/** A product with the size of its JSON in bytes, which is unknown without a document. */
export interface SizedProduct {
  id: string;
  bytes: number | null;
}

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

/** Divides products into groups of at most `READ_BYTES`, which are read together. */
export function groupsOf(products: readonly SizedProduct[]): string[][] {
  const groups: string[][] = [];
  let left = 0;
  for (const { id, bytes } of products) {
    const size = bytes ?? UNKNOWN_SIZE;
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
