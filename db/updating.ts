import { FILTERS } from "../schema/list.ts";
import type { ProductBody } from "../schema/product.ts";
import { moveCounts } from "./counts.ts";
import { nestedWrites } from "./nested.ts";
import { setProductForm } from "./product_form.ts";
import {
  COLUMNS,
  fullProducts,
  inOrder,
  lockedProducts,
  lockProducts,
  setColumns,
  setSeries,
} from "./product_row.ts";
import { pipelined, type Tx } from "./sql.ts";

/** What is to be written of a product. */
export interface Update {
  id: string;
  body: ProductBody;
  /** May throw at the product as it was. */
  check?: ((product: string) => void) | undefined;
}

/**
 * Makes the updates, and gives the product of each in full; nothing where the
 * organization has none with this id. They have one `product_form_id` or none.
 */
export async function updateProducts(
  sql: Tx,
  organizationId: string,
  updates: readonly Update[],
  productFormId: string | null | undefined,
): Promise<(string | undefined)[]> {
  const products = new Map<Update, string | undefined>();
  for (const turn of turnsOf(updates)) {
    const ids = turn.map(({ id }) => id);
    if (turn.some(({ check }) => check)) {
      const found = await lockedProducts(sql, organizationId, ids);
      turn.forEach(({ check }, i) => found[i] && check?.(found[i]));
    }
    const rows = await pipelined([
      lockProducts(sql, organizationId, ids),
      ...moveCounts(
        sql,
        organizationId,
        turn.map(({ id, body }) => ({ id, fields: pick(body, FILTERS) })),
      ),
      ...turn.flatMap((update) => statementsOf(sql, organizationId, update)),
      ...setProductForm(sql, organizationId, ids, productFormId),
      fullProducts(sql, organizationId, ids),
    ]);
    const updated = inOrder(ids, rows);
    turn.forEach((update, i) => products.set(update, updated[i]));
  }
  return updates.map((update) => products.get(update));
}

/** The updates in turns: those of one product come one after another, so that each gets what it has written. */
function turnsOf(updates: readonly Update[]): Update[][] {
  const turns: Update[][] = [];
  for (const update of updates) {
    const turn = turns.find((turn) => turn.every(({ id }) => id !== update.id));
    if (turn) turn.push(update);
    else turns.push([update]);
  }
  return turns;
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
