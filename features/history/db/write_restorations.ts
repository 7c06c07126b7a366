import type { Entry, ProductBody } from "../../../schema/bodies.ts";
import { type ApiError, invalid, unknownReference } from "../../../schema/errors.ts";
import type { Pace } from "../../../schema/turns.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Change, Write } from "../../../db/products/change/change.ts";
import { changedFields } from "../../../db/products/change/changed_fields.ts";
import {
  type Cause,
  type WriteOutcome,
  writeTogether,
} from "../../../db/products/write_together.ts";
import { changesContent, type PlannedRestoration } from "./restorations.ts";
import { restoreOnix } from "./restored_onix.ts";

/*
 * Writes planned restorations, together with other changes, and the ONIX records of products that
 * are created again. For example, a version has a contributor that no longer exists. A restoration
 * with `skipMissing` is written again without it.
 */

/** A cause that may be a restoration. */
export interface RestoringCause extends Cause {
  planned?: PlannedRestoration | undefined;
}

/** The outcome of causes, some of which are restorations. */
interface RestorationOutcome<C extends RestoringCause> extends WriteOutcome<C> {
  /** The causes without anything left to write. */
  unchanged: C[];
  /** The parts that were left out of each: pointers into the version, and ONIX references. */
  skipped: Map<C, string[]>;
}

/**
 * Writes all changes together, as `writeTogether` does, and restores the ONIX records of products
 * that are created again. A restoration with `skipMissing` and missing references is written again
 * without them. Sets `change` of these.
 */
export async function writeRestorations<C extends RestoringCause>(
  tx: Transaction,
  causes: readonly C[],
  pace: Pace,
): Promise<RestorationOutcome<C>> {
  const result: RestorationOutcome<C> = {
    done: [],
    unchanged: [],
    faults: new Map(),
    versions: new Map(),
    skipped: new Map(),
  };
  const skip = (cause: C, names: readonly string[]) =>
    void result.skipped.set(cause, [...result.skipped.get(cause) ?? [], ...names]);
  for (let pending = causes; pending.length > 0;) {
    const lost = new Map<string, string[]>();
    const { done, faults, versions } = await writeTogether(tx, pending, async (part) => {
      for (const [id, names] of await restoreOnix(tx, part)) lost.set(id, names);
    });
    result.done.push(...done);
    for (const [id, version] of versions) result.versions.set(id, version);
    for (const cause of done) {
      const names = lost.get(cause.change.id);
      if (names) skip(cause, names);
    }
    const again: C[] = [];
    for (const [cause, found] of faults) {
      const fault = withLostSeries(found, cause.change);
      const gone = goneReferences(fault);
      const { planned } = cause;
      if (!planned?.restoration.skipMissing || gone.length < fault.details.length) {
        result.faults.set(cause, fault);
        continue;
      }
      skip(cause, gone);
      const change = withoutReferences(planned, cause.change as Write, gone);
      cause.change = change;
      const isLeft = change.method === "create" ||
        await changesContent(planned.before, change, pace);
      (isLeft ? again : result.unchanged).push(cause);
    }
    pending = again;
  }
  return result;
}

/** Returns pointers to the references whose records no longer exist. */
function goneReferences({ details }: ApiError): string[] {
  return details.flatMap((detail) =>
    detail.code === "unknown_reference" && "pointer" in detail ? detail.pointer : []
  );
}

/** Removes these references from the change. An entry that a reference identifies is removed. */
function withoutReferences(
  { before }: PlannedRestoration,
  change: Write,
  pointers: readonly string[],
): Write {
  const left: ProductBody = { ...change.body };
  const paths = pointers.map((pointer) => pointer.split("/").slice(1));
  for (const [name, index] of paths) {
    if (index === undefined) left[name!] = null;
    else {
      left[name!] = (change.body[name!] as unknown[]).filter((_, i) =>
        !paths.some(([other, at]) => other === name && Number(at) === i)
      );
    }
  }
  return { ...change, body: change.method === "update" ? changedFields(before, left) : left };
}

/**
 * Returns the error of a change. That of a restoration also names the series if its collection no
 * longer exists.
 */
function withLostSeries(error: ApiError, change: Change): ApiError {
  if (change.method === "delete" || change.restoredFrom === undefined) return error;
  const { series_id, product_collections } = change.body;
  if (!series_id) return error;
  const index = (product_collections as Entry[] | undefined ?? []).findIndex(
    ({ collection_id }) => collection_id === series_id,
  );
  const isGone = error.details.some((detail) =>
    "pointer" in detail && detail.pointer === `/product_collections/${index}/collection_id`
  );
  if (!isGone) return error;
  return invalid("The body", [...error.details, unknownReference("/series_id")]);
}
