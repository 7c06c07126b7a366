import { ApiError } from "../../../schema/errors.ts";
import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import { transactionOrDryRun } from "../../../db/dry_run.ts";
import { ImportEnded } from "../../../db/import_ended.ts";
import { DAY_MS } from "../../../db/times.ts";
import { MAX_UUID, NIL_UUID } from "../../../db/uuid.ts";
import { REQUEST_DAYS } from "../schema/history.ts";
import {
  UNDO_OUTCOMES,
  type UndoMessage,
  type UndoOutcome,
  type UndoReport,
  type UndoRequest,
  UndoTally,
} from "../schema/undo.ts";
import type { Pace } from "../../../schema/turns.ts";
import { LaterChanges } from "./later_changes.ts";
import { lockTargets } from "./restorations.ts";
import { positionOf, type VersionPosition } from "./pieces.ts";
import { planUndo, refused, type UndoPlan } from "./undo_plan.ts";
import { isOfRequest, readStates, type UndoneRequest } from "./undo_states.ts";
import { type RestoringCause, writeRestorations } from "./write_restorations.ts";
import { joinVersionBefore } from "../../../db/products/documents/insert_versions.ts";

/*
 * Undoes a request: reverts its changes of products, a hundred per transaction.
 *
 *     findPieces         walks the versions of the request in the order of their times, in pieces
 *     readStates         undo_states.ts         reads the states of the products, as many as memory allows
 *     planUndo           undo_plan.ts           plans the change of a product
 *     writeRestorations  write_restorations.ts  writes the changes, like restorations and batches
 *
 * The first walk checks all versions before anything is written. The second one writes. Versions
 * that were made since the undo began are not walked, so an undo with the id of the request that it
 * undoes ends as well.
 */

export interface UndoOptions {
  isDryRun: boolean;
  /** Lets other requests run. */
  pace: Pace;
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of products so far. */
  progress?: (products: number) => void;
}

/** The products of a group, which is written in one transaction. */
const GROUP = 100;

/** The maximum number of versions that a statement reads. */
const MAX_WALKED = 5_000;

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

/** Walks the versions of the request in pieces, and yields what `select` finds in each. */
async function* findPieces<Row extends object>(
  queries: () => Queries,
  undone: UndoneRequest,
  select: (undone: UndoneRequest, piece: Statement) => Statement<Row>,
): AsyncGenerator<Row[]> {
  let from: VersionPosition = { at: undone.since, id: NIL_UUID };
  for (let isMore = true; isMore;) {
    const [end] = await queries().scan(lastOfPiece(undone, from));
    const to: VersionPosition = end ?? { at: "infinity", id: MAX_UUID };
    yield await queries().scan(select(
      undone,
      sql`
        d.organization_id = ${organization} and d.request_id = ${undone.request}
        and (d.changed_at, d.product_id) > ${positionOf(from)}
        and (d.changed_at, d.product_id) <= ${positionOf(to)}
        and d.change_version < ${undone.start}::bigint
      `,
    ));
    isMore = end !== undefined;
    from = to;
  }
}

function lastOfPiece(
  { request }: UndoneRequest,
  from: VersionPosition,
): Statement<VersionPosition> {
  return sql`
    select d.changed_at::text as at, d.product_id as id
    from product_documents d
    where d.organization_id = ${organization} and d.request_id = ${request}
      and (d.changed_at, d.product_id) > ${positionOf(from)}
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
        and ${isOfRequest("n", request)}
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
    const own = await lockTargets(tx, ids);
    const plans: UndoPlan[] = [];
    for await (const states of readStates(tx, ids, { ...undone, own }, pace)) {
      plans.push(await planUndo(states, pace));
    }
    await writePlans(tx, plans, pace);
    const outcomes: UndoOutcome[] = [];
    const later = new LaterChanges(tx, { ...undone, own }, pace);
    for (const plan of plans) outcomes.push(await outcomeOf(plan, later));
    return outcomes;
  });
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

/** Counts the products by outcome. */
export function outcomeCounts(report: UndoReport): Record<string, number> {
  return Object.fromEntries(UNDO_OUTCOMES.map((outcome) => [outcome, report[outcome]]));
}
