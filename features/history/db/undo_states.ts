import { joined, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import { parseProduct, versionJson } from "../../../db/products/documents/document.ts";
import { groupsOf } from "../../../db/products/read_many.ts";
import { MAX_RESPONSE_BYTES } from "../../../db/sizes.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import type { Pace } from "../../../schema/turns.ts";
import { isLastVersion, lastState, type RestorationTarget, targetColumns } from "./restorations.ts";
import type { UndoStates } from "./undo_plan.ts";

/* Reads the states of products that an undo compares: before its request, after it, and now. */

/** The request that is undone, and the version at which its undo begins. */
export interface UndoneRequest {
  request: string;
  since: string;
  start: string;
}

/** The request that is undone, in a transaction of version `own`. */
export type UndoneWithin = UndoneRequest & { own: string };

/** Yields the states of the first products, as many as fit into the memory of a group. */
export async function* readStates(
  tx: Transaction,
  ids: readonly string[],
  undone: UndoneWithin,
  pace: Pace,
): AsyncGenerator<UndoStates> {
  for (const group of await inMemory(tx, ids, undone)) {
    const [rows] = await tx.send(selectStates(group, undone));
    for (const row of rows) {
      await pace();
      yield await statesOf(row, pace);
    }
  }
}

/** The first products that fit into the memory of a group, divided into those that are read together. */
async function inMemory(
  tx: Transaction,
  ids: readonly string[],
  undone: UndoneRequest,
): Promise<string[][]> {
  const [sizes] = await tx.send(sizesOfStates(ids, undone));
  const sized: typeof sizes[number][] = [];
  let total = 0;
  for (const size of sizes) {
    total += size.bytes;
    if (total > MAX_RESPONSE_BYTES && sized.length > 0) break;
    sized.push(size);
  }
  return groupsOf(sized).map(({ ids }) => ids);
}

interface StatesRow extends RestorationTarget {
  before: string | null;
  before_version: string | null;
  after: string | null;
  now: string | null;
  /** Whether nothing has been written since the request. */
  is_last: boolean;
  /** The first product form that the request has given to the product's format. */
  form: SharedForm | null;
}

/** The id of product `r`. */
const productId = raw("r.id");

/** The products `r`, in this order. */
function productsOf(ids: readonly string[]): Statement {
  return sql`
    unnest((select string_to_array(${ids.join()}, ',')::uuid[])) with ordinality r (id, place)
  `;
}

/**
 * The condition that a version of one product is of a request. It is written so that no index
 * supports it. If the planner expects a small request, it would otherwise read all versions of the
 * request for each product.
 */
export function isOfRequest(version: string, request: string): Statement {
  return sql`(${raw(version)}.request_id || '') = ${request}`;
}

/** Joins versions `b`, `a` and `n` of product `r`: before the request, after it, and now. */
function joinStates({ request, start }: UndoneRequest): Statement {
  const ofProduct = sql`d.organization_id = ${organization} and d.product_id = ${productId}`;
  const columns =
    sql`select d.change_version, d.event, d.summary, d.details from product_documents d`;
  return sql`
    cross join lateral (
      select
        min(d.change_version) as first, max(d.change_version) as last,
        (array_agg(d.source -> 'shared_form' order by d.change_version)
          filter (where d.source ? 'shared_form'))[1] as form
      from product_documents d
      where ${ofProduct} and ${isOfRequest("d", request)}
        and d.change_version < ${start}::bigint
    ) q
    cross join lateral (
      select d.event
      from product_documents d
      where ${ofProduct} and d.change_version = q.first
      limit 1
    ) f
    left join lateral (
      ${columns}
      where ${ofProduct} and d.change_version < q.first and f.event <> 'created'
      order by d.change_version desc
      limit 1
    ) b on true
    left join lateral (
      ${columns}
      where ${ofProduct} and d.change_version = q.last
      limit 1
    ) a on true
    left join lateral (select * from ${lastState(productId)} n) n on true
  `;
}

function sizesOfStates(
  ids: readonly string[],
  undone: UndoneRequest,
): Statement<{ id: string; bytes: number }> {
  const bytesOf = (version: string) =>
    raw(`coalesce(octet_length(${version}.summary) + octet_length(${version}.details), 0)`);
  return sql`
    select ${productId}, (${joined(["b", "a", "n"].map(bytesOf), "+")})::float8 as bytes
    from ${productsOf(ids)}
    ${joinStates(undone)}
    order by r.place
  `;
}

function selectStates(ids: readonly string[], undone: UndoneWithin): Statement<StatesRow> {
  return sql`
    select
      ${targetColumns(productId)}, b.change_version::text as before_version,
      a.change_version = n.change_version as is_last, q.form,
      (select ${versionJson} from (select b.summary, b.details) d) as before,
      (select ${versionJson} from (select a.summary, a.details) d) as after,
      case
        when a.change_version <> n.change_version
          then (select ${versionJson} from (select n.summary, n.details) d)
      end as now
    from ${productsOf(ids)}
    ${joinStates(undone)}
    where ${isLastVersion(productId, undone.own)}
    order by r.place
  `;
}

async function statesOf(row: StatesRow, pace: Pace): Promise<UndoStates> {
  const { exists, is_last, id, next, form } = row;
  const parse = async (product: string | null) =>
    product === null ? undefined : await parseProduct(product, pace);
  const after = await parse(row.after);
  return {
    id,
    exists,
    next,
    form,
    beforeVersion: row.before_version,
    before: await parse(row.before),
    after,
    now: exists ? is_last ? after : await parse(row.now) : undefined,
  };
}
