import type { Entry } from "../../schema/bodies.ts";
import { ApiError, detailAt, invalid, unknownReference } from "../../schema/errors.ts";
import type { Choice } from "../../schema/history.ts";
import { LINE_KINDS, ONIX_TABLES, validLine } from "../../schema/lines.ts";
import { isAnyOf, joined, organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Precondition } from "../entity_tag.ts";
import { parseProduct, sizeOfDocument } from "./document.ts";
import { productNotFound } from "./errors.ts";
import { readTags } from "./read.ts";
import { storeUnauthored } from "./store_unauthored.ts";
import { type LockKey, lockKeys } from "./keys.ts";
import { changedFields, partsOfRecord } from "./changed_fields.ts";
import type { Change, Write } from "./change.ts";
import type { Cause } from "./write_together.ts";
import {
  isChosen,
  noHistory,
  noStateThen,
  type OldestVersion,
  oldestVersion,
  versionColumns,
  versionJson,
} from "./versions.ts";

/*
 * Writes the state of a version as a new change: every field and array, whole, rows with
 * their ids. A deleted product is created again with its id, code and time of creation, and
 * with what ONIX stored beside it.
 */

/** What is restored of a product. */
export interface Restoration extends Choice {
  /** In lower case. */
  id: string;
  precondition?: Precondition | undefined;
}

/** A restoration that is planned: what it writes, if anything, and the state before it. */
export interface PlannedRestoration {
  change: Write;
  /** Whether the product is so already. */
  isDone: boolean;
  /** The last state of the product. */
  before: Entry;
  /** The size of the version. */
  bytes: number;
}

/** A version to restore, and the last state of the product. */
interface ChosenRow {
  id: string;
  /** Whether the product exists. */
  exists: boolean;
  version: string | null;
  product: string | null;
  before: string | null;
  bytes: number;
  /** Now, or later: a product that is created again follows its deletion. */
  next: string;
}

/**
 * Locks the products, and plans what their restorations write, or their errors. Restorations
 * of one product take turns, also while it does not exist. `expect` is called with the size
 * of the versions before they are read.
 */
export async function planRestorations(
  tx: Transaction,
  restorations: readonly Restoration[],
  expect: (bytes: number) => void = () => {},
): Promise<(PlannedRestoration | ApiError)[]> {
  if (tx.isDistributed) throw noHistory();
  expect(await lockVersions(tx, restorations));
  const chosen = await tx.send(...restorations.map(selectChosen));
  const tagged = restorations.filter(({ precondition }) => precondition)
    .map(({ id }) => id);
  const tags = tagged.length > 0 ? await readTags(tx, tagged) : new Map();
  const planned: (PlannedRestoration | ApiError)[] = [];
  for (const [i, restoration] of restorations.entries()) {
    const [row] = chosen[i] as unknown as ChosenRow[];
    const failed = row?.product && restoration.precondition?.(
      tags.get(restoration.id),
    );
    if (failed) planned.push(failed);
    else if (row?.product) planned.push(planRestoration(row));
    else planned.push(await explainRestoration(tx, restoration, row));
  }
  return planned;
}

/** Locks the products, existing or not, and returns the size of the versions to restore in bytes. */
async function lockVersions(
  tx: Transaction,
  restorations: readonly Restoration[],
): Promise<number> {
  const ids = restorations.map(({ id }) => id);
  const [, , , [size]] = await tx.send(
    lockKeys(restorations.map(restoring)),
    sql`
      select from products p
      where p.organization_id = ${organization} and p.id ${isAnyOf(ids)}
      order by p.id
      for no key update
    `,
    storeUnauthored(ids),
    sql<{ bytes: number }>`
      select coalesce(sum(${sizeOfDocument}), 0)::float8 as bytes
      from (${joined(restorations.map(chosenVersion), " union all ")}) d
    `,
  );
  return size!.bytes;
}

/** The key that restorations of a product lock. */
export function restoring({ id }: Pick<Restoration, "id">): LockKey {
  return { kind: "restore", value: id };
}

/** The version that is asked for. If none is: the last one of a deleted product before its deletion. */
function chosenVersion({ id, version, at }: Restoration): Statement {
  const isMeant = version === undefined && at === undefined
    ? sql`d.event <> 'deleted' and not ${existsAs(id)}`
    : isChosen({ version, at });
  return sql`(
    select d.change_version, d.changed_at, d.event, d.summary, d.details
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id} and ${isMeant}
    order by d.change_version desc
    limit 1
  )`;
}

function existsAs(id: string): Statement {
  return sql`exists (
    select from products p where p.organization_id = ${organization} and p.id = ${id}
  )`;
}

/** The version to restore of a product, and its last state. */
function selectChosen(restoration: Restoration): Statement<ChosenRow> {
  const { id } = restoration;
  return sql`
    select
      l.product_id as id, ${existsAs(id)} as exists, l.before, c.version, c.product, c.bytes,
      greatest(now(), (
        select max(d.changed_at) + interval '1 millisecond'
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = ${id}
      ))::text as next
    from (
      select d.product_id, ${versionJson} as before
      from product_documents d
      where d.organization_id = ${organization} and d.product_id = ${id}
      order by d.event = 'deleted', d.change_version desc
      limit 1
    ) l
    left join (
      select ${versionColumns}, ${versionJson} as product, ${sizeOfDocument} as bytes
      from ${chosenVersion(restoration)} d
    ) c on true
    -- A later transaction may have deleted it while this one waited (assertVersion).
    where (
      (
        select max(d.change_version)
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = ${id}
      ) <= change_version()
    )::version_last
  `;
}

/** What a restoration of this state writes. */
function planRestoration(
  { id, exists, version, product, before, bytes, next }: ChosenRow,
): PlannedRestoration | ApiError {
  const record = validLine(LINE_KINDS.get("product")!.schema, parseProduct(product));
  if (record instanceof ApiError) return record;
  // The product form belongs to the format, which other products share.
  const { stored: _, product_form_id: __, ...restored } = record as Entry;
  const { assigned, body } = partsOfRecord(restored);
  const last = parseProduct(before) ?? {};
  const changed = changedFields(last, body);
  return {
    bytes,
    before: last,
    isDone: exists && Object.keys(changed).length === 0,
    change: exists
      ? {
        method: "update",
        id,
        body: changed,
        isWhole: true,
        keepsIds: true,
        restoredFrom: version!,
      }
      : {
        method: "create",
        id,
        body,
        assigned: { ...assigned, updated_at: next },
        keepsIds: true,
        restoredFrom: version!,
      },
  };
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
          "required: The product exists: send the version or the time to restore",
        ),
      ])
      : new ApiError(
        "HISTORY_EXPIRED",
        "No state of the product is kept",
      );
  }
  const error = noStateThen(id, { version, at }, oldest);
  if (error.code !== "NOT_FOUND") return error;
  const pointer = version === undefined ? "/at" : "/version";
  return invalid("The body", [
    detailAt(pointer, `unknown_version: ${error.message}`),
  ]);
}

/** The error of a change. That of a restoration names the series too if its collection is gone. */
export function withLostSeries(error: ApiError, change: Change): ApiError {
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

/**
 * Returns the function that gives created products what ONIX stored beside them when they
 * were deleted. A reference that another product has by now stays there.
 */
export function restoreOnix(
  tx: Transaction,
): (done: readonly Cause[]) => Promise<void> {
  return async (done) => {
    const ids = done.flatMap(({ change }) =>
      change.method === "create" && change.restoredFrom !== undefined ? change.id : []
    );
    if (ids.length > 0) await tx.send(...ONIX_TABLES.map(insertOnix(ids)));
  };
}

function insertOnix(ids: readonly string[]): (table: string) => Statement {
  return (table) =>
    sql`
      insert into ${raw(table)}
      select r.*
      from (
        select distinct on (d.product_id) d.product_id, d.onix
        from product_documents d
        where d.organization_id = ${organization} and d.product_id ${
      isAnyOf(ids)
    } and d.onix is not null
        order by d.product_id, d.change_version desc
      ) d
      cross join jsonb_array_elements(d.onix -> '${raw(table)}') e (entry)
      cross join jsonb_populate_record(null::${raw(table)}, e.entry) r
      on conflict do nothing
    `;
}
