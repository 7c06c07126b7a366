import type { ProductBody } from "../../schema/product.ts";
import { countProducts } from "./counts.ts";
import { nestedWrites } from "./nested.ts";
import { setProductForm } from "./product_form.ts";
import {
  type FullProduct,
  fullProducts,
  inOrder,
  insertRow,
  setSeries,
} from "./row.ts";
import { pipelined, type Tx } from "../connections/sql.ts";
import { uuidv7 } from "../uuid.ts";

/**
 * Creates a product for each body, with everything in it, and gives them in full
 * and in the order of the bodies, which set one form for one format, if any (`formOf`).
 */
export async function createProducts(
  sql: Tx,
  organizationId: string,
  bodies: readonly ProductBody[],
): Promise<FullProduct[]> {
  const ids = bodies.map(() => uuidv7());
  const rows = await pipelined([
    ...bodies.map((body, i) => insertRow(sql, organizationId, ids[i]!, body)),
    countProducts(sql, organizationId, ids, 1),
    ...bodies.flatMap((body, i) => {
      const id = ids[i]!;
      return [
        ...nestedWrites(sql, organizationId, id, body).writes,
        ...body.series_id
          ? [setSeries(sql, organizationId, id, body.series_id)]
          : [],
      ];
    }),
    ...bodies.flatMap((body, i) =>
      setProductForm(sql, organizationId, ids[i]!, body)
    ),
    fullProducts(sql, organizationId, ids),
  ]);
  const products = inOrder(ids, rows);
  return ids.map((id, i) => ({ id, product: products[i]! }));
}
