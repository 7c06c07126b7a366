import { FILTERS } from "../../schema/list_query.ts";
import type { ProductBody } from "../../schema/product.ts";
import { moveCounts } from "./counts.ts";
import { nestedWrites } from "./nested.ts";
import { setProductForm } from "./product_form.ts";
import {
  COLUMNS,
  fullProducts,
  getLocked,
  inOrder,
  lockProducts,
  notFound,
  setColumns,
  setSeries,
} from "./row.ts";
import { pipelined, type Tx } from "../connections/sql.ts";

/** What is to be written of a product. */
export interface Update {
  id: string;
  body: ProductBody;
  /** May throw at the product as it was. */
  check?: ((product: string) => void) | undefined;
}

/**
 * Whether two updates may not be made in one transaction. Each product is updated
 * once, so that everybody gets what they have written. And nobody knows the format
 * whose form is set where the body does not say it.
 */
export function areApart(one: Update, other: Update): boolean {
  const { format_id, product_form_id } = one.body;
  return one.id === other.id ||
    product_form_id !== undefined && format_id === undefined;
}

/**
 * Makes the updates, none of them apart from another, and gives the products in
 * full. Throws `NOT_FOUND` where the organization lacks one of them.
 */
export async function updateProducts(
  sql: Tx,
  organizationId: string,
  updates: readonly Update[],
): Promise<string[]> {
  const ids = updates.map(({ id }) => id);
  const found = (products: (string | undefined)[]) =>
    products.map((product, i) => product ?? notFound(ids[i]!));
  if (updates.some(({ check }) => check)) {
    const products = found(await getLocked(sql, organizationId, ids));
    updates.forEach(({ check }, i) => check?.(products[i]!));
  }
  const changes = updates.map(({ id, body }) => ({
    id,
    fields: pick(body, FILTERS),
  }));
  const rows = await pipelined([
    lockProducts(sql, organizationId, ids),
    ...moveCounts(sql, organizationId, changes),
    ...updates.flatMap((update) => statementsOf(sql, organizationId, update)),
    ...updates.flatMap(({ id, body }) =>
      setProductForm(sql, organizationId, id, body)
    ),
    fullProducts(sql, organizationId, ids),
  ]);
  return found(inOrder(ids, rows));
}

/**
 * What writes the body and nothing else. The series is set when its link is
 * there, and links go when no series needs them: that it is one of the
 * collections is checked after each statement.
 */
function statementsOf(sql: Tx, organizationId: string, { id, body }: Update) {
  const { series_id } = body;
  const nested = nestedWrites(sql, organizationId, id, body);
  return [
    ...Object.keys(body).length > 0
      ? [setColumns(sql, organizationId, id, pick(body, COLUMNS))]
      : [],
    ...nested.writes,
    ...series_id !== undefined
      ? [setSeries(sql, organizationId, id, series_id)]
      : [],
    ...nested.prunes(),
  ];
}

function pick(body: ProductBody, columns: readonly (keyof ProductBody)[]) {
  return Object.fromEntries(
    columns.flatMap((column) => column in body ? [[column, body[column]]] : []),
  );
}
