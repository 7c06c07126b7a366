import { ApiError } from "../../../schema/errors.ts";
import { joined, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import { transactionOrDryRun } from "../../../db/dry_run.ts";
import { ImportEnded } from "../../../db/import_ended.ts";
import { parseProduct, sizeOfDocument, versionJson } from "../../../db/products/document.ts";
import { groupsOf } from "../../../db/products/read_many.ts";
import { DAY_MS, rfc3339 } from "../../../db/times.ts";
import { MAX_UUID, NIL_UUID } from "../../../db/uuid.ts";
import { changedBy, REQUEST_DAYS, type VersionAuthor } from "../schema.ts";
import {
  UNDO_OUTCOMES,
  type UndoMessage,
  type UndoOutcome,
  type UndoReport,
  type UndoRequest,
  UndoTally,
} from "../schema/undo.ts";
import type { Pace } from "../../../schema/turns.ts";
import { authorColumns, keyOfAuthor } from "./history.ts";
import {
  isLastVersion,
  lastState,
  lockReturning,
  type RestoringCause,
  type Returning,
  returningColumns,
  writeRestorations,
} from "./restorations.ts";
import { ProductState, stateColumns, stateOf, type StateRow } from "./state.ts";
import { changedNames, planUndo, refused, type UndoPlan, type UndoStates } from "./undo_plan.ts";
import { MAX_RESPONSE_BYTES } from "../../../db/sizes.ts";
import { joinVersionBefore } from "../../../db/products/insert_versions.ts";

/*
 * Undoes a request: reverts its changes of products, a hundred per transaction.
 *
 *     findPieces         walks the versions of the request in the order of their times, in pieces
 *     planUndo           undo_plan.ts     plans the change of a product
 *     writeRestorations  restorations.ts  writes the changes, like restorations and batches
 *
 * The first walk checks all versions before anything is written. The second one writes. Versions
 * that were made since the undo began are not walked, so an undo with the id of the request that it
 * undoes ends as well.
 */

export interface UndoOptions {
  isDryRun: boolean;
  /** Lets other requests run. */
  pace: () => Promise<void>;
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of products so far. */
  progress?: (products: number) => void;
}

/** The products of a group, which is written in one transaction. */
const GROUP = 100;

/** The maximum number of versions, of all requests, that a statement reads. */
const MAX_WALKED = 5_000;

/** The request that is undone, and the version at which its undo begins. */
interface UndoneRequest {
  request: string;
  since: string;
  start: string;
}

/**
 * Undoes a request, and reports the outcome of its products. Throws `NOT_FOUND` if no kept version
 * has its id, `HISTORY_EXPIRED` if one of its versions or the state before it is not kept, and
 * `ImportEnded` if the rest cannot be undone.
 */
export async function undoRequest(
  queries: () => Queries,
  { request_id: request, since }: UndoRequest,
  options: UndoOptions,
): Promise<UndoReport> {
  const [now] = await queries().scan(sql<{ start: string }>`
    select change_version()::text as start
  `);
  const undone: UndoneRequest = {
    request,
    since: since ?? new Date(Date.now() - REQUEST_DAYS * DAY_MS).toISOString(),
    start: now!.start,
  };
  await checkKept(queries, undone, options);
  const tally = new UndoTally(request, options.isDryRun);
  try {
    for await (const products of findPieces(queries, undone, selectLast)) {
      const ids = products.map(({ id }) => id);
      while (ids.length > 0) {
        await options.pace();
        using _permit = await options.admit?.();
        const outcomes = await undoGroup(queries(), ids.slice(0, GROUP), undone, options);
        for (const outcome of outcomes) await tally.add(outcome, options.pace);
        ids.splice(0, outcomes.length);
        options.progress?.(tally.products);
      }
    }
  } catch (error) {
    throw new ImportEnded(tally.report(), error);
  }
  return tally.report();
}

/** A version, in the order of time. */
interface Place {
  at: string;
  id: string;
}

/** Walks the versions of the request in pieces, and yields what `select` finds in each. */
async function* findPieces<Row extends object>(
  queries: () => Queries,
  undone: UndoneRequest,
  select: (undone: UndoneRequest, piece: Statement) => Statement<Row>,
): AsyncGenerator<Row[]> {
  let from: Place = { at: undone.since, id: NIL_UUID };
  for (let isMore = true; isMore;) {
    const [end] = await queries().scan(lastOfPiece(from));
    const to: Place = end ?? { at: "infinity", id: MAX_UUID };
    yield await queries().scan(select(
      undone,
      sql`
        d.organization_id = ${organization}
        and (d.changed_at, d.product_id) > (${from.at}::timestamptz, ${from.id}::uuid)
        and (d.changed_at, d.product_id) <= (${to.at}::timestamptz, ${to.id}::uuid)
        and d.request_id = ${undone.request} and d.change_version < ${undone.start}::bigint
      `,
    ));
    isMore = end !== undefined;
    from = to;
  }
}

function lastOfPiece(from: Place): Statement<Place> {
  return sql`
    select d.changed_at::text as at, d.product_id as id
    from product_documents d
    where d.organization_id = ${organization}
      and (d.changed_at, d.product_id) > (${from.at}::timestamptz, ${from.id}::uuid)
    order by d.changed_at, d.product_id
    limit 1 offset ${MAX_WALKED - 1}
  `;
}

/** The products whose last version of the request is in the piece: each is found once. */
function selectLast(
  { request, start }: UndoneRequest,
  piece: Statement,
): Statement<{ id: string }> {
  return sql`
    select d.product_id as id
    from product_documents d
    where ${piece} and not exists (
      select from product_documents n
      where n.organization_id = ${organization} and n.product_id = d.product_id
        and n.change_version > d.change_version and n.change_version < ${start}::bigint
        and n.request_id = ${request}
    )
    order by d.product_id
  `;
}

/** Throws unless all versions of the request are kept, each with the state before it. */
async function checkKept(
  queries: () => Queries,
  undone: UndoneRequest,
  { pace }: UndoOptions,
): Promise<void> {
  let found = 0;
  for await (const [piece] of findPieces(queries, undone, countVersions)) {
    await pace();
    found += piece!.found;
    if (piece!.lost > 0) {
      throw new ApiError(
        "HISTORY_EXPIRED",
        "The history no longer has all that the request has changed: nothing is undone",
      );
    }
  }
  if (found > 0) return;
  throw new ApiError(
    "NOT_FOUND",
    `No kept version has the request id "${undone.request}": the last ${REQUEST_DAYS} days are searched unless since is given`,
  );
}

function countVersions(
  _undone: UndoneRequest,
  piece: Statement,
): Statement<{ found: number; lost: number }> {
  return sql`
    select
      count(*)::int as found,
      (count(*) filter (
        where d.event <> 'deleted' and d.summary = ''
          or d.event <> 'created' and b.event is null
          or d.event <> 'created' and b.event <> 'deleted' and b.summary = ''
      ))::int as lost
    from product_documents d
    ${joinVersionBefore("d", "b", ["event", "summary"])}
    where ${piece}
  `;
}

/** Undoes the first products, as many as there is memory for, and returns their outcomes. */
async function undoGroup(
  database: Queries,
  ids: readonly string[],
  undone: UndoneRequest,
  { isDryRun, pace }: UndoOptions,
): Promise<UndoOutcome[]> {
  return await transactionOrDryRun(database, isDryRun, async (tx) => {
    const own = await lockReturning(tx, ids);
    const plans: UndoPlan[] = [];
    for (const group of await inMemory(tx, ids, undone)) {
      const [rows] = await tx.send(selectStates(group, undone, own));
      for (const row of rows) {
        await pace();
        plans.push(await planUndo(await statesOf(row, pace), pace));
      }
    }
    await writePlans(tx, plans, pace);
    const outcomes: UndoOutcome[] = [];
    const later = new LaterChanges(tx, { ...undone, own }, pace);
    for (const plan of plans) outcomes.push(await outcomeOf(plan, later));
    return outcomes;
  });
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

interface StatesRow extends Returning {
  before: string | null;
  before_version: string | null;
  after: string | null;
  now: string | null;
  /** Whether nothing has been written since the request. */
  is_last: boolean;
}

/** The id of product `r`. */
const productId = raw("r.id");

/** The products `r`, in this order. */
function productsOf(ids: readonly string[]): Statement {
  return sql`
    unnest((select string_to_array(${ids.join()}, ',')::uuid[])) with ordinality r (id, place)
  `;
}

/** Joins versions `b`, `a` and `n` of product `r`: before the request, after it, and now. */
function joinStates({ request, start }: UndoneRequest): Statement {
  const ofProduct = sql`d.organization_id = ${organization} and d.product_id = ${productId}`;
  const columns =
    sql`select d.change_version, d.event, d.summary, d.details from product_documents d`;
  return sql`
    cross join lateral (
      select min(d.change_version) as first, max(d.change_version) as last
      from product_documents d
      where ${ofProduct} and d.request_id = ${request} and d.change_version < ${start}::bigint
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

function selectStates(
  ids: readonly string[],
  undone: UndoneRequest,
  own: string,
): Statement<StatesRow> {
  return sql`
    select
      ${returningColumns(productId)}, b.change_version::text as before_version,
      a.change_version = n.change_version as is_last,
      (select ${versionJson} from (select b.summary, b.details) d) as before,
      (select ${versionJson} from (select a.summary, a.details) d) as after,
      case
        when a.change_version <> n.change_version
          then (select ${versionJson} from (select n.summary, n.details) d)
      end as now
    from ${productsOf(ids)}
    ${joinStates(undone)}
    where ${isLastVersion(productId, own)}
    order by r.place
  `;
}

async function statesOf(row: StatesRow, pace: Pace): Promise<UndoStates> {
  const { exists, is_last, id, next } = row;
  const parse = async (product: string | null) =>
    product === null ? undefined : await parseProduct(product, pace);
  const after = await parse(row.after);
  return {
    id,
    exists,
    next,
    beforeVersion: row.before_version,
    before: await parse(row.before),
    after,
    now: exists ? is_last ? after : await parse(row.now) : undefined,
  };
}

/** A plan with its change. */
interface UndoCause extends RestoringCause {
  plan: UndoPlan;
}

/** Writes the plans. One that cannot be written gets its errors. */
async function writePlans(tx: Transaction, plans: UndoPlan[], pace: Pace): Promise<void> {
  const causes = plans.flatMap((plan): UndoCause[] =>
    plan.change ? [{ plan, change: plan.change }] : []
  );
  const { faults, skipped } = await writeRestorations(tx, causes, pace);
  for (const [{ plan }, fault] of faults) {
    Object.assign(plan, plan.outcome === "deleted" ? inUse(plan, fault) : refused(plan, fault));
  }
  for (const [{ plan }, references] of skipped) {
    for (const reference of references) {
      plan.messages.push({
        severity: "warning",
        code: "skipped",
        pointer: "",
        message: `Another product has the ONIX reference "${reference}" by now: it stays there`,
      });
    }
  }
}

function inUse(plan: UndoPlan, { message }: ApiError): UndoPlan {
  const why: UndoMessage = { severity: "warning", code: "in_use", pointer: "", message };
  return { ...plan, outcome: "kept", messages: [why] };
}

/** Returns the outcome of a plan, with the author of the later change of each field that stays. */
async function outcomeOf(
  { states, outcome, changes, messages, changedSince }: UndoPlan,
  later: LaterChanges,
): Promise<UndoOutcome> {
  const { id, before, after, now } = states;
  const { title = null, isbn13 = null } = now ?? after ?? before ?? {};
  const since = changedSince.length > 0 ? await later.messages(id, changedSince) : [];
  return {
    id,
    title: title as string | null,
    isbn13: isbn13 as string | null,
    outcome,
    changes,
    messages: [...messages, ...since],
  };
}

/** The maximum number of versions that are searched for the author of a later change. */
const MAX_LATER = 20;

interface LaterRow extends VersionAuthor, StateRow {
  at: string;
  event: string;
  /** The bytes of this version and of those after it. */
  total: number;
}

/** Finds the authors of later changes of a group's products. */
class LaterChanges {
  readonly #tx: Transaction;
  readonly #undone: UndoneRequest & { own: string };
  readonly #pace: Pace;
  /** The bytes of versions that may still be read. Without room, no author is named. */
  #room = MAX_RESPONSE_BYTES;

  constructor(tx: Transaction, undone: UndoneRequest & { own: string }, pace: Pace) {
    this.#tx = tx;
    this.#undone = undone;
    this.#pace = pace;
  }

  /** Returns a message for each of these fields, with the author of its later change. */
  async messages(id: string, names: readonly string[]): Promise<UndoMessage[]> {
    const rows = await this.#read(id);
    const authors = new Map<string, LaterRow>();
    for (const [i, row] of rows.slice(0, -1).entries()) {
      const [after, before] = [stateOf(row), stateOf(rows[i + 1]!)];
      const changed = after && before
        ? await changedNames(
          ...await ProductState.differing(before, after, this.#pace),
          this.#pace,
        )
        : names;
      for (const name of ["", ...changed]) if (!authors.has(name)) authors.set(name, row);
    }
    return names.map((name) => {
      const made = authors.get(name) ?? rows[0];
      const what = name === "" ? "The product" : `"${name}"`;
      return {
        severity: "warning",
        code: "changed_since",
        pointer: name && `/${name}`,
        message: made
          ? `${what} was changed at ${made.at} by ${authorText(made)}: it stays as it is`
          : `${what} was changed since: it stays as it is`,
      };
    });
  }

  /** Reads the versions since the request, and its last one, as many as there is room for. */
  async #read(id: string): Promise<LaterRow[]> {
    const { request, start, own } = this.#undone;
    const [rows] = await this.#tx.send(sql<LaterRow>`
      select
        ${rfc3339("d.changed_at")} as at, d.event, ${authorColumns}, ${stateColumns},
        d.total::float8
      from (
        select d.*, sum(${sizeOfDocument}) over (order by d.change_version desc) as total
        from (
          select d.*
          from product_documents d
          where d.organization_id = ${organization} and d.product_id = ${id}
            and d.change_version < ${own}::bigint and d.change_version >= (
              select max(l.change_version)
              from product_documents l
              where l.organization_id = ${organization} and l.product_id = ${id}
                and l.request_id = ${request} and l.change_version < ${start}::bigint
            )
          order by d.change_version desc
          limit ${MAX_LATER + 1}
        ) d
      ) d
      ${keyOfAuthor}
      where d.total <= ${this.#room}::float8
      order by d.change_version desc
    `);
    this.#room -= rows.at(-1)?.total ?? 0;
    return rows;
  }
}

function authorText(author: VersionAuthor): string {
  const { kind, id, name } = changedBy(author);
  return [kind, id, name && `(${name})`, author.operation && `with ${author.operation}`]
    .filter(Boolean).join(" ");
}

/** Counts the products by outcome. */
export function outcomeCounts(report: UndoReport): Record<string, number> {
  return Object.fromEntries(UNDO_OUTCOMES.map((outcome) => [outcome, report[outcome]]));
}
