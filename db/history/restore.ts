import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError } from "../../schema/errors.ts";
import type { Queries } from "../database.ts";
import { transactionOrDryRun } from "../dry_run.ts";
import { changedFields } from "../products/changed_fields.ts";
import { parseProduct } from "../products/document.ts";
import { selectProducts } from "../products/read.ts";
import {
  planRestorations,
  type Restoration,
  restoreOnix,
  withLostSeries,
} from "../products/restorations.ts";
import { writeTogether } from "../products/write_together.ts";
import { type ShownChanges, shownChanges } from "./differences.ts";

/** What a restoration did. The product is JSON text. */
export interface Restored extends ShownChanges {
  product: string;
  skipped: string[];
}

/**
 * Restores a product. With `skipMissing`, references to records that are gone are left out.
 * A dry run writes nothing. Throws `NOT_FOUND`, `HISTORY_EXPIRED`, `PRECONDITION_FAILED`, or
 * `VALIDATION_ERROR` with every error.
 */
export async function restoreProduct(
  database: Queries,
  restoration: Restoration,
  { skipMissing, isDryRun }: { skipMissing: boolean; isDryRun: boolean },
): Promise<Restored> {
  return await transactionOrDryRun(database, isDryRun, async (tx) => {
    const [planned] = await planRestorations(tx, [restoration]);
    if (planned instanceof ApiError) throw planned;
    const { before } = planned!;
    let { change, isDone } = planned!;
    const skipped: string[] = [];
    while (!isDone) {
      const cause = { change };
      const { faults } = await writeTogether(tx, [cause], restoreOnix(tx));
      const found = faults.get(cause);
      if (!found) break;
      const fault = withLostSeries(found, change);
      const gone = fault.details.flatMap((detail) =>
        detail.code === "unknown_reference" && "pointer" in detail ? detail.pointer : []
      );
      if (!skipMissing || gone.length < fault.details.length) throw fault;
      skipped.push(...gone);
      const left = withoutReferences(change.body, gone);
      const body = change.method === "update" ? changedFields(before, left) : left;
      change = { ...change, body };
      isDone = change.method === "update" && Object.keys(body).length === 0;
    }
    const [[found]] = await tx.send(selectProducts([change.id]));
    const { product } = found!;
    return { product, ...shownChanges(before, parseProduct(product)), skipped };
  });
}

/** The body without these references. An entry that a reference identifies is left out. */
function withoutReferences(body: ProductBody, pointers: readonly string[]): ProductBody {
  const left: Entry = { ...body };
  const places = pointers.map((pointer) => pointer.split("/").slice(1));
  for (const [name, index] of places) {
    if (index === undefined) left[name!] = null;
    else {
      left[name!] = (body[name!] as unknown[]).filter((_, i) =>
        !places.some(([other, at]) => other === name && Number(at) === i)
      );
    }
  }
  return left;
}

/** The restoration as its response shows it, which is JSON text. */
export function restoredText({ product, ...others }: Restored): string {
  const { changes, more_changes, skipped } = others;
  const rest = JSON.stringify({ changes, more_changes, skipped });
  return `{"product":${product},${rest.slice(1)}`;
}
