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

/** Throws `PRECONDITION_FAILED` if the product before the write is not the one that `If-Match` names. */
export type Precondition = (product: string | undefined) => void;

/** The changes and deletions of one write. Each product occurs once. */
export interface Plan {
  changes: readonly Change[];
  /** The ids of products to delete. */
  deleted: readonly string[];
}

/**
 * The statements of a write. All writes lock in the same order, so that no two wait for
 * each other: products, counts, nested records, and last the shared formats.
 */
export interface Writing {
  /** The statements that must find their rows before the other writes. */
  expected: Expected[];
  writes: Statement[];
}

/** The statements that write one or many products. */
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
      ...setSeries(changes),
      ...nested.prunes,
      ...deleted.length > 0
        ? [...rememberDeletions(deleted), deleteRows(...deleted)]
        : [],
      ...setProductForms(changes),
    ],
  };
}
