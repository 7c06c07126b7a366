import type { Entry, ProductBody } from "../../../schema/bodies.ts";
import {
  ApiError,
  detailAt,
  invalid,
  invalidAt,
  unknownReference,
  withHint,
} from "../../../schema/errors.ts";
import type { Choice } from "../schema/history.ts";
import { LINE_KINDS, validLine } from "../../../schema/lines.ts";
import { ARRAYS } from "../../../schema/product.ts";
import { isAnyOf, organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Precondition } from "../../../db/entity_tag.ts";
import type { Change, Write } from "../../../db/products/change.ts";
import { changedFields, partsOfRecord } from "../../../db/products/changed_fields.ts";
import { isChanged } from "./differences.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { validateEntries } from "../../../schema/validate_in_turns.ts";
import { parseProduct, sizeOfDocument, versionJson } from "../../../db/products/document.ts";
import { MIRRORED_FIELDS } from "../../../db/products/mirrored_fields.ts";
import { productNotFound } from "../../../db/products/errors.ts";
import { lockKeys, restorationKey } from "../../../db/products/keys.ts";
import { readTags } from "../../../db/products/read.ts";
import { groupsOf } from "../../../db/products/read_many.ts";
import { storeExternalChanges } from "../../../db/products/external_changes.ts";
import {
  type Cause,
  type WriteOutcome,
  writeTogether,
} from "../../../db/products/write_together.ts";
import { restoreOnix } from "./restored_onix.ts";
import {
  isChosen,
  missingState,
  type OldestVersion,
  oldestVersion,
  versionColumns,
} from "./versions.ts";

/*
 * Writes the state of a version as a new change: every field and array, with the ids of rows. A
 * deleted product is created again with its id, code and time of creation, and with the ONIX
 * records that were stored alongside it.
 */

/** A restoration: a product, a version or time, and the fields. */
export interface Restoration extends Choice {
  /** In lower case. */
  id: string;
  precondition?: Precondition | undefined;
  /** The fields that are restored. Without them, all are. */
  fields?: readonly string[] | undefined;
  /** Whether references to records that no longer exist are left out. */
  skipMissing?: boolean | undefined;
}

/** A planned restoration: the change to write, if any, and the state before it. */
export interface PlannedRestoration {
  restoration: Restoration;
  change: Write;
  /** Whether the product has that state already. */
  isDone: boolean;
  /** The last state of the product. */
  before: Entry;
  /** The size of the version. */
  bytes: number;
}

/** A version to restore, and the last state of the product. */
interface ChosenRow extends Returning {
  version: string | null;
  event: string | null;
  product: string | null;
  before: string | null;
  bytes: number;
}

/** A product that may be created again. */
export interface Returning {
  id: string;
  /** Whether the product exists. */
  exists: boolean;
  /** The time of the restoration. It is later than now if the deletion has a later time. */
  next: string;
}

/** Settings of the planning. */
export interface RestorationSettings {
  /** Lets other requests run. */
  pace: Pace;
  /** Called with the size of all states before they are read. May throw. */
  expect?: (bytes: number) => void;
}

/**
 * Locks the products, and plans the change of each restoration, or its error. Restorations of one
 * product take turns, also while it does not exist. The states are read in groups that bound the
 * memory.
 */
export async function planRestorations(
  tx: Transaction,
  restorations: readonly Restoration[],
  { pace, expect }: RestorationSettings,
): Promise<(PlannedRestoration | ApiError)[]> {
  const { sizes, own } = await lockVersions(tx, restorations);
  expect?.(sizes.reduce((sum, bytes) => sum + bytes, 0));
  const tagged = restorations.filter(({ precondition }) => precondition).map(({ id }) => id);
  const tags = tagged.length > 0 ? await readTags(tx, tagged) : new Map();
  const planned: (PlannedRestoration | ApiError)[] = [];
  const sized = sizes.map((bytes, i) => ({ id: String(i), bytes }));
  for (const { ids: places } of groupsOf(sized)) {
    const group = places.map((place) => restorations[Number(place)]!);
    const chosen = await tx.send(...group.map((restoration) => selectChosen(restoration, own)));
    for (const [i, restoration] of group.entries()) {
      await pace();
      const [row] = chosen[i] as unknown as ChosenRow[];
      const failed = row?.product && restoration.precondition?.(tags.get(restoration.id));
      if (failed) planned.push(failed);
      else if (row?.product) planned.push(await planRestoration(restoration, row, pace));
      else planned.push(await explainRestoration(tx, restoration, row));
    }
  }
  return planned;
}

/**
 * Locks the products, existing or not. Returns the size in bytes of the states that each
 * restoration reads, and the version of the transaction.
 */
async function lockVersions(
  tx: Transaction,
  restorations: readonly Restoration[],
): Promise<{ sizes: number[]; own: string }> {
  const own = await lockReturning(tx, restorations.map(({ id }) => id));
  const sizes = await tx.send(...restorations.map(sizeOfRestoration));
  return { sizes: sizes.map(([size]) => size!.bytes), own };
}

/** The size of the states that a restoration reads, in bytes. */
export function sizeOfRestoration(restoration: Restoration): Statement<{ bytes: number }> {
  return sql`
    select coalesce(sum(${sizeOfDocument}), 0)::float8 as bytes
    from (${lastState(restoration.id)} union all ${chosenVersion(restoration)}) d
  `;
}

/**
 * Locks products that may be created again, and stores their versions of changes made outside the
 * service.
 * Returns the version of the transaction, which a worker of Citus does not know: there,
 * `change_version()` in a query of tables is that of the worker's transaction.
 */
export async function lockReturning(tx: Transaction, ids: readonly string[]): Promise<string> {
  const replies = await tx.send(
    lockKeys(ids.map(restorationKey)),
    sql`
      select from products p
      where p.organization_id = ${organization} and p.id ${isAnyOf(ids)}
      order by p.id
      for no key update
    `,
    ...storeExternalChanges(tx, ids),
    sql<{ own: string }>`select change_version()::text as own`,
  );
  return (replies.at(-1) as { own: string }[])[0]!.own;
}

/** Selects the requested version; by default, the last one of a deleted product before its deletion. */
function chosenVersion({ id, version, at }: Restoration): Statement {
  const isRequested = version === undefined && at === undefined
    ? sql`d.event <> 'deleted' and not ${existsAs(id)}`
    : isChosen(id, { version, at });
  return sql`(
    select d.change_version, d.changed_at, d.event, d.summary, d.details
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id} and ${isRequested}
    order by d.change_version desc
    limit 1
  )`;
}

function existsAs(id: string | Statement): Statement {
  return sql`exists (
    select from products p where p.organization_id = ${organization} and p.id = ${id}
  )`;
}

/** The last version of a product that is no deletion. */
export function lastState(id: string | Statement): Statement {
  return sql`(
    select d.change_version, d.changed_at, d.event, d.summary, d.details
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id}
    order by d.event = 'deleted', d.change_version desc
    limit 1
  )`;
}

/** The version to restore of a product, and its last state, in a transaction of version `own`. */
function selectChosen(restoration: Restoration, own: string): Statement<ChosenRow> {
  const { id } = restoration;
  return sql`
    select l.before, c.version, c.event, c.product, c.bytes, ${returningColumns(id)}
    from (select ${versionJson} as before from ${lastState(id)} d) l
    left join (
      select ${versionColumns}, ${versionJson} as product, ${sizeOfDocument} as bytes
      from ${chosenVersion(restoration)} d
    ) c on true
    where ${isLastVersion(id, own)}
  `;
}

/** The columns of `Returning`. */
export function returningColumns(id: string | Statement): Statement {
  return sql`
    ${id}::text as id, ${existsAs(id)} as exists,
    greatest(now(), (
      select max(d.changed_at) + interval '1 millisecond'
      from product_documents d
      where d.organization_id = ${organization} and d.product_id = ${id}
    ))::text as next
  `;
}

/** Violates `version_last` if a later transaction than `own` has deleted the product while this one waited (`assertVersion`). */
export function isLastVersion(id: string | Statement, own: string): Statement {
  return sql`(
    coalesce((
      select max(d.change_version)
      from product_documents d
      where d.organization_id = ${organization} and d.product_id = ${id}
    ), 0) <= ${own}::bigint
  )::version_last`;
}

/** Plans the restoration of this state. */
async function planRestoration(
  restoration: Restoration,
  row: ChosenRow,
  pace: Pace,
): Promise<PlannedRestoration | ApiError> {
  const { version, product, before, bytes } = row;
  const { fields } = restoration;
  if (fields && !row.exists) {
    return invalidAt("/fields", "not_found: The product is deleted: restore all of it first");
  }
  const last = before === null ? {} : await parseProduct(before, pace);
  const state = await parseProduct(product!, pace);
  const change = await changeTo(state, { ...row, last, version: version!, fields }, pace);
  if (change instanceof ApiError) return change;
  const isDone = row.exists && !await changesContent(last, change, pace);
  return { restoration, change, isDone, before: last, bytes };
}

/** The present and the restored state of a product. */
interface RestoredFrom extends Returning {
  /** The last state of the product. */
  last: Entry;
  /** The version whose state is restored. */
  version: string;
  fields?: readonly string[] | undefined;
}

/** Returns the change that gives a product this state, or these fields of it. */
export async function changeTo(
  state: Entry,
  { id, exists, next, last, version, fields }: RestoredFrom,
  pace: Pace,
): Promise<Write | ApiError> {
  const record = await validState(state, pace);
  if (record instanceof ApiError) return record;
  // The product form belongs to the format, which other products share.
  const { stored: _, product_form_id: __, ...restored } = record;
  const { assigned, body } = partsOfRecord(restored);
  const shared = { id, keepsIds: true, restoredFrom: version } as const;
  if (!exists) {
    return { ...shared, method: "create", body, assigned: { ...assigned, updated_at: next } };
  }
  const chosen = fields
    ? Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)))
    : body;
  return { ...shared, method: "update", body: await changesTo(last, chosen, pace), isWhole: true };
}

/** The arrays that are compared together with other fields (`changedFields`). */
const TOGETHER: readonly string[] = [...MIRRORED_FIELDS.flat(), "product_collections"];

/** The fields in which a state differs from the last one. Most arrays are compared in turns. */
async function changesTo(last: Entry, state: ProductBody, pace: Pace): Promise<ProductBody> {
  const isApart = (name: string) => Object.hasOwn(ARRAYS, name) && !TOGETHER.includes(name);
  const fields = Object.entries(state);
  const together = Object.fromEntries(fields.filter(([name]) => !isApart(name)));
  const changed = changedFields(last, together);
  for (const [name, array] of fields) {
    if (!isApart(name)) continue;
    await pace();
    Object.assign(changed, changedFields(last, { [name]: array }));
  }
  return changed;
}

/** Validates a state in turns. Returns the values as they are stored, or all errors. */
async function validState(state: Entry, pace: Pace): Promise<Entry | ApiError> {
  const { schema } = LINE_KINDS.get("product")!;
  await inTurns(validateEntries(schema, state), pace);
  return validLine(schema, state);
}

/** Whether an update changes more than the ids of rows. */
export async function changesContent(
  before: Entry,
  { body }: Pick<Write, "body">,
  pace: Pace,
): Promise<boolean> {
  return Object.keys(body).length > 0 && await isChanged(before, { ...before, ...body }, pace);
}

/** The error of a restoration without a state to restore. */
async function explainRestoration(
  tx: Transaction,
  { id, version, at }: Restoration,
  row: ChosenRow | undefined,
): Promise<ApiError> {
  if (!row) return productNotFound(id);
  const [[oldest]] = await tx.send(oldestVersion(id)) as [OldestVersion[]];
  if (version === undefined && at === undefined) {
    return row.exists
      ? invalid("The body", [
        detailAt(
          "",
          withHint("required: The product exists", "send the version or the time to restore"),
        ),
      ])
      : new ApiError(
        "HISTORY_EXPIRED",
        "No state of the product is kept",
      );
  }
  const error = missingState(id, { version, at }, row.event, oldest);
  if (error.code !== "NOT_FOUND") return error;
  const pointer = version === undefined ? "/at" : "/version";
  return invalid("The body", [
    detailAt(pointer, `unknown_version: ${error.message}`),
  ]);
}

/** A cause that may be a restoration. */
export interface RestoringCause extends Cause {
  planned?: PlannedRestoration | undefined;
}

/** The outcome of causes, some of which are restorations. */
export interface RestorationOutcome<C extends RestoringCause> extends WriteOutcome<C> {
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
  const places = pointers.map((pointer) => pointer.split("/").slice(1));
  for (const [name, index] of places) {
    if (index === undefined) left[name!] = null;
    else {
      left[name!] = (change.body[name!] as unknown[]).filter((_, i) =>
        !places.some(([other, at]) => other === name && Number(at) === i)
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
  const place = (product_collections as Entry[] | undefined ?? []).findIndex(
    ({ collection_id }) => collection_id === series_id,
  );
  const isGone = error.details.some((detail) =>
    "pointer" in detail && detail.pointer === `/product_collections/${place}/collection_id`
  );
  if (!isGone) return error;
  return invalid("The body", [...error.details, unknownReference("/series_id")]);
}
