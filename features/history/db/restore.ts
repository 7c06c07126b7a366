import { ApiError } from "../../../schema/errors.ts";
import type { Queries } from "../../../db/database.ts";
import { transactionOrDryRun } from "../../../db/dry_run.ts";
import { reserveFor } from "../../../db/long_text.ts";
import { type ShownChanges, shownChanges } from "./differences.ts";
import { jsonPieces } from "../../../schema/json_pieces.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { parseProduct } from "../../../db/products/documents/document.ts";
import { selectProducts } from "../../../db/products/read.ts";
import { planRestorations, type Restoration, sizeOfRestoration } from "./restorations.ts";
import { type RestoringCause, writeRestorations } from "./write_restorations.ts";

/** The result of a restoration. The product is JSON text. */
export interface Restored extends ShownChanges {
  product: string;
  skipped: string[];
}

/**
 * Restores a product. A dry run writes nothing. Throws `NOT_FOUND`, `HISTORY_EXPIRED`,
 * `PRECONDITION_FAILED`, or `VALIDATION_ERROR` with every error.
 */
export async function restoreProduct(
  database: Queries,
  restoration: Restoration,
  { pace, isDryRun }: { pace: Pace; isDryRun: boolean },
): Promise<Restored> {
  if (database.memory) {
    const [size] = await database.lookUp(sizeOfRestoration(restoration));
    await reserveFor(database, size!.bytes);
  }
  const { before, product, skipped } = await transactionOrDryRun(database, isDryRun, async (tx) => {
    const [planned] = await planRestorations(tx, [restoration], { pace });
    if (planned instanceof ApiError) throw planned;
    const { before, change, isDone } = planned!;
    const cause: RestoringCause = { change, planned };
    const causes = isDone ? [] : [cause];
    const { faults, skipped } = await writeRestorations(tx, causes, pace);
    const fault = faults.get(cause);
    if (fault) throw fault;
    const [[found]] = await tx.send(selectProducts([change.id]));
    return { before, product: found!.product, skipped: skipped.get(cause) ?? [] };
  });
  // The product is not locked any more.
  const after = await parseProduct(product, pace);
  return { product, ...await shownChanges(before, after, pace), skipped };
}

/** The restoration as its response shows it, which is JSON text. */
export async function restoredText(
  { product, ...others }: Restored,
  pace: Pace,
): Promise<string> {
  const { changes, more_changes, skipped } = others;
  const rest = await inTurns(jsonPieces({ changes, more_changes, skipped }), pace);
  return `{"product":${product},${rest.slice(1)}`;
}
