import type { Entry, ProductBody } from "../../../schema/bodies.ts";
import { ApiError, detailAt, invalid, invalidAt, withHint } from "../../../schema/errors.ts";
import type { Choice } from "../schema/history.ts";
import { LINE_KINDS, validLine } from "../../../schema/lines.ts";
import { ARRAYS, MIRRORED_FIELDS } from "../../../schema/product.ts";
import { isAnyOf, organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Precondition } from "../../../db/entity_tag.ts";
import type { Write } from "../../../db/products/change/change.ts";
import { changedFields, partsOfRecord } from "../../../db/products/change/changed_fields.ts";
import { isChanged } from "./differences.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { validateEntries } from "../../../schema/validate_in_turns.ts";
import {
  parseProduct,
  sizeOfDocument,
  versionJson,
} from "../../../db/products/documents/document.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import { lockKeys, restorationKey } from "../../../db/products/change/keys.ts";
import { readTags } from "../../../db/products/read.ts";
import { groupsOf } from "../../../db/products/read_many.ts";
import { storeExternalChanges } from "../../../db/products/documents/external_changes.ts";
import {
  isChosen,
  missingState,
  type OldestVersion,
  oldestVersion,
  versionColumns,
} from "./versions.ts";

/*
 * Plans restorations: the state of a version becomes a change with every field and array, and the
 * ids of rows. A deleted product is created again with its id, code and time of creation.
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
interface ChosenRow extends RestorationTarget {
  version: string | null;
  event: string | null;
  product: string | null;
  before: string | null;
  bytes: number;
}

/** A product whose state is restored. It may have to be created again. */
export interface RestorationTarget {
  id: string;
  /** Whether the product exists. */
  exists: boolean;
  /** The time of the restoration. It is later than now if the deletion has a later time. */
  next: string;
}

/** Settings of the planning. */
interface RestorationSettings {
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
  const own = await lockTargets(tx, restorations.map(({ id }) => id));
  const replies = await tx.send(...restorations.map(sizeOfRestoration));
  const sizes = replies.map(([size]) => size!.bytes);
  expect?.(sizes.reduce((sum, bytes) => sum + bytes, 0));
  const tagged = restorations.filter(({ precondition }) => precondition).map(({ id }) => id);
  const tags = tagged.length > 0 ? await readTags(tx, tagged) : new Map();
  const planned: (PlannedRestoration | ApiError)[] = [];
  const sized = sizes.map((bytes, i) => ({ id: String(i), bytes }));
  for (const { ids: indexes } of groupsOf(sized)) {
    const group = indexes.map((index) => restorations[Number(index)]!);
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

/** The size of the states that a restoration reads, in bytes. */
export function sizeOfRestoration(restoration: Restoration): Statement<{ bytes: number }> {
  return sql`
    select coalesce(sum(${sizeOfDocument}), 0)::float8 as bytes
    from (${lastState(restoration.id)} union all ${chosenVersion(restoration)}) d
  `;
}

/**
 * Locks the products, existing or not, and stores their versions of changes made outside the
 * service. Returns the version of the transaction, which a worker of Citus does not know: there,
 * `change_version()` in a query of tables is that of the worker's transaction.
 */
export async function lockTargets(tx: Transaction, ids: readonly string[]): Promise<string> {
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

/** The last version of a product that is no deletion. If only its deletion is kept, that. */
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
    select l.before, c.version, c.event, c.product, c.bytes, ${targetColumns(id)}
    from (select ${versionJson} as before from ${lastState(id)} d) l
    left join (
      select ${versionColumns}, ${versionJson} as product, ${sizeOfDocument} as bytes
      from ${chosenVersion(restoration)} d
    ) c on true
    where ${isLastVersion(id, own)}
  `;
}

/** The columns of `RestorationTarget`. */
export function targetColumns(id: string | Statement): Statement {
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
  const change = await restoringChange(state, { ...row, last, version: version!, fields }, pace);
  if (change instanceof ApiError) return change;
  const isDone = row.exists && !await changesContent(last, change, pace);
  return { restoration, change, isDone, before: last, bytes };
}

/** The present and the restored state of a product. */
interface RestoredFrom extends RestorationTarget {
  /** The last state of the product. */
  last: Entry;
  /** The version whose state is restored. */
  version: string;
  fields?: readonly string[] | undefined;
}

/** Returns the change that gives a product this state, or these fields of it. */
export async function restoringChange(
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
  return {
    ...shared,
    method: "update",
    body: await differingFields(last, chosen, pace),
    isWhole: true,
  };
}

/** The arrays that are compared together with other fields (`changedFields`). */
const TOGETHER: readonly string[] = [...MIRRORED_FIELDS.flat(), "product_collections"];

/** The fields in which a state differs from the last one. Most arrays are compared in turns. */
async function differingFields(last: Entry, state: ProductBody, pace: Pace): Promise<ProductBody> {
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
