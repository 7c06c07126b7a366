import type { Statement } from "../connections/sql.ts";
import { countProducts } from "./counts.ts";
import { rememberDeletions } from "./deletions.ts";
import { nestedWrites } from "./nested.ts";
import type { Expected } from "./nested_rows.ts";
import { knownForms, setProductForms } from "./product_form.ts";
import {
  type Change,
  deleteRows,
  insertRow,
  lockForDelete,
  setSeries,
  updateRows,
} from "./row.ts";

/** Throws unless the product, as it is before the write, is the one that the client means. */
export type Precondition = (product: string | undefined) => void;

/** What one write does: products with no two ids alike. */
export interface Plan {
  changes: readonly Change[];
  /** The ids of products to delete. */
  deleted: readonly string[];
}

/**
 * The statements of a write. All of them lock in one order, so that no two
 * writes wait for each other: the products, their counts, what belongs to them,
 * and last the formats that they share with others.
 */
export interface Writing {
  /** Must find their rows before the rest is written. */
  expected: Expected[];
  writes: Statement[];
}

/** What writes one product or many. */
export function writing({ changes, deleted }: Plan): Writing {
  const created = changes.filter(({ isNew }) => isNew);
  const updated = changes.filter(({ body, isNew }) =>
    !isNew && Object.keys(body).length > 0
  );
  const nested = nestedWrites(changes);
  return {
    expected: [...nested.changes, ...knownForms(changes)],
    writes: [
      ...deleted.length > 0 ? [lockForDelete(...deleted)] : [],
      ...created.map(insertRow),
      ...countProducts(changes, deleted),
      ...updated.length > 0 ? [updateRows(updated)] : [],
      ...nested.writes,
      // The link of a series comes before it, and goes after it.
      ...setSeries(changes),
      ...nested.prunes,
      ...deleted.length > 0
        ? [...rememberDeletions(deleted), deleteRows(...deleted)]
        : [],
      ...setProductForms(changes),
    ],
  };
}
