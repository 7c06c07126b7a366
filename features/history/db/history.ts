import type { Entry } from "../../../schema/bodies.ts";
import {
  changedBy,
  type HistoryCursor,
  historyCursor,
  type HistoryQuery,
  type ProductHistoryQuery,
  REQUEST_DAYS,
  type VersionAuthor,
} from "../schema/history.ts";
import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { storeLatestVersion } from "../../../db/products/documents/external_changes.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import type { ShownChange, ShownChanges } from "./differences.ts";
import { jsonPieces } from "../../../schema/json_pieces.ts";
import { inTurns, type Pace } from "../../../schema/turns.ts";
import { sizeOfDocument } from "../../../db/products/documents/document.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import { positionOf } from "./pieces.ts";
import { versionColumns, versionsBytes } from "./versions.ts";
import { DAY_MS, rfc3339 } from "../../../db/times.ts";
import { NIL_UUID } from "../../../db/uuid.ts";
import { ProductState, stateColumns, stateOf, type StateRow } from "./state.ts";
import { HISTORY_PAGE_BYTES } from "../../../db/sizes.ts";
import { joinVersionBefore } from "../../../db/products/documents/insert_versions.ts";

/*
 * Reads the histories of a product and of the organization. An entry is a version, compared with
 * the version before it.
 */

/** A page of a history, newest first. The entries are JSON texts. */
interface PageOf<Cursor> {
  entries: string[];
  cursor: Cursor | undefined;
  more: boolean;
}

export type HistoryPage = PageOf<string>;

interface VersionRow extends VersionAuthor, StateRow {
  version: string;
  at: string;
  event: string;
  restored_from: string | null;
  request_id: string | null;
  source: Entry | null;
  /** The size of the states that are compared. */
  bytes: number;
  /** The number of versions found, including those that were cut off because of their size. */
  found: number;
}

/** The author of version `d`, with the present name of an API key `k`, its request, source and restored version. */
export const authorColumns = sql`
  d.changed_by, k.name, d.operation, d.request_id, d.source, d.restored_from::text
`;

/** Joins the API key `k` that made version `d`, if one did. */
export const keyOfAuthor = sql`
  left join api_keys k
    on k.organization_id = ${organization} and d.changed_by = 'api_key:' || k.id
`;

function historyEntry(row: VersionRow): Entry {
  const { version, at, event, restored_from, operation, request_id } = row;
  const { shared_form: _, ...source } = row.source ?? {};
  return {
    version,
    at,
    event,
    ...restored_from !== null && { restored_from },
    changed_by: changedBy(row),
    operation,
    request_id,
    ...Object.keys(source).length > 0 && { source },
  };
}

/**
 * The maximum number of reads for a page. The versions of a read may all be without changes to
 * show.
 */
const MAX_READS = 10;

/**
 * The history of a product, also of a deleted one. An entry that changed nothing is not
 * shown. Throws `NOT_FOUND`.
 */
export async function listProductHistory(
  database: Queries,
  id: string,
  { limit, after, changed }: ProductHistoryQuery,
  pace: Pace,
): Promise<HistoryPage> {
  if (after === undefined) await storeLatestVersion(database, id);
  return await fillPage<string, VersionRow>({ limit, start: after, pace }, {
    async read(cursor) {
      const next = await readSteps(database, id, cursor, limit);
      if (cursor === undefined && next.steps.length === 0) throw productNotFound(id);
      return next;
    },
    cursorOf: ({ version }) => version,
    async show(step) {
      const shown = await changesBy(step, pace);
      if (!isShown(step, shown.changes?.length !== 0)) return;
      const touched = shown.changes?.map(({ pointer }) => pointer.split("/")[1]!) ?? [];
      if (changed && !changed.some((field) => touched.includes(field))) return;
      return { ...historyEntry(step.row), ...shown };
    },
  });
}

/** Reads the steps of a history, newest first. */
interface StepReader<Cursor, Row extends VersionRow> {
  /** Reads the steps after the cursor. */
  read(cursor: Cursor | undefined): Promise<Steps<Cursor, Row>>;
  cursorOf(row: Row): Cursor;
  /** Returns the entry of a step, if the page shows it. */
  show(step: HistoryStep<Row>): Promise<Entry | undefined>;
}

/** Steps that were read together. */
interface Steps<Cursor, Row extends VersionRow> {
  steps: HistoryStep<Row>[];
  /** The cursor of the next read, if it is not the last step. */
  end?: Cursor;
  more: boolean;
}

/** Reads steps until a page is full. */
async function fillPage<Cursor, Row extends VersionRow>(
  { limit, start, pace }: { limit: number; start: Cursor | undefined; pace: Pace },
  { read, cursorOf, show }: StepReader<Cursor, Row>,
): Promise<PageOf<Cursor>> {
  const page: PageOf<Cursor> = { entries: [], cursor: start, more: true };
  let bytes = 0;
  for (let reads = 0; reads < MAX_READS && page.more && bytes < HISTORY_PAGE_BYTES; reads++) {
    const { steps, end, more } = await read(page.cursor);
    page.more = more;
    for (const [i, step] of steps.entries()) {
      const entry = await show(step);
      page.cursor = cursorOf(step.row);
      bytes += step.bytes;
      if (!entry) continue;
      const text = await inTurns(jsonPieces(entry), pace);
      page.entries.push(text);
      bytes += text.length;
      if (page.entries.length === limit || bytes >= HISTORY_PAGE_BYTES) {
        page.more ||= i < steps.length - 1;
        return page;
      }
    }
    page.cursor = end ?? page.cursor;
  }
  return page;
}

/** A version of a product, and the version before it, if that is kept. */
interface HistoryStep<Row extends VersionRow> {
  row: Row;
  after: ProductState | undefined;
  before: ProductState | undefined;
  /** The event of the version before it. */
  previous: string | undefined;
  /** The size of both states. */
  bytes: number;
}

/** Returns the changes of a version. Creations and deletions have none. */
async function changesBy(
  { row: { event, source }, before, after }: HistoryStep<VersionRow>,
  pace: Pace,
): Promise<ShownChanges> {
  return event === "created" || event === "deleted" ? { changes: [] } : withSharedForm(
    await ProductState.changes(before, after, pace),
    source?.shared_form as SharedForm | undefined,
  );
}

/** Adds the change of the product form, which the format stores for other products as well. */
function withSharedForm(shown: ShownChanges, form: SharedForm | undefined): ShownChanges {
  if (!form || !shown.changes) return shown;
  const { from, to, products } = form;
  const change: ShownChange = { pointer: "/product_form_id", kind: "changed", from, to, products };
  return { ...shown, changes: [...shown.changes, change] };
}

/**
 * Whether the history shows a version. It omits versions without changes, except creations and
 * deletions. It also omits erased versions; the entry after one has no changes.
 */
function isShown(
  { row: { event }, previous }: HistoryStep<VersionRow>,
  hasChanges: boolean,
): boolean {
  return isCreationOrDeletion(event, previous) || event !== "erased" && hasChanges;
}

/** Whether the event creates the product, also again, or deletes it. */
function isCreationOrDeletion(event: string, previous: string | undefined | null): boolean {
  return event === "created" || event === "deleted" ||
    event === "restored" && previous === "deleted";
}

/** The next versions of a product, newest first, and whether there are more. */
async function readSteps(
  database: Queries,
  id: string,
  after: string | undefined,
  limit: number,
): Promise<Steps<string, VersionRow>> {
  // The state before a version is in the next row, or in the one after it if the next row is a
  // deletion. So two more rows are read than are shown.
  const extra = 2;
  const rows = await database.scan(selectVersions(id, after, limit + extra));
  const states = rows.map(stateOf);
  const found = rows[0]?.found ?? 0;
  const isWhole = rows.length === found && found < limit + extra;
  const steps = rows
    .slice(0, isWhole ? limit : Math.max(1, rows.length - extra))
    .map((row, i): HistoryStep<VersionRow> => {
      const previous = rows[i + 1]?.event;
      const before = states[previous === "deleted" ? i + 2 : i + 1];
      return { row, after: states[i], before, previous, bytes: row.bytes };
    });
  return { steps, more: steps.length < found };
}

/**
 * Selects the newest versions, up to a size of `versionsBytes`, but at least one to show and the
 * state before it.
 */
function selectVersions(
  id: string,
  after: string | undefined,
  limit: number,
): Statement<VersionRow> {
  const older = after === undefined ? [] : sql`and d.change_version < ${after}::bigint`;
  return sql`
    select ${versionColumns}, ${authorColumns}, ${stateColumns}, d.bytes, d.found::int
    from (
      select
        d.*,
        ${sizeOfDocument} as bytes,
        sum(${sizeOfDocument}) over (order by d.change_version desc) as total,
        row_number() over (order by d.change_version desc) as place,
        lag(d.event) over (order by d.change_version desc) as next_event,
        count(*) over () as found
      from (
        select d.*
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = ${id} ${older}
        order by d.change_version desc
        limit ${limit}::bigint
      ) d
    ) d
    ${keyOfAuthor}
    where d.total <= ${versionsBytes} or d.place <= 2 or d.place = 3 and d.next_event = 'deleted'
    order by d.change_version desc
  `;
}

interface OrganizationRow extends VersionRow {
  product_id: string;
  /** The event of the version before. Null for a creation, or if that version is not kept. */
  previous: string | null;
  before_summary: string | null;
  before_details: string | null;
}

/** Lists the history of the organization, without the changes. */
export async function listHistory(
  database: Queries,
  query: HistoryQuery,
  pace: Pace,
): Promise<HistoryPage> {
  const { limit, request_id } = query;
  const days = request_id === undefined ? 1 : REQUEST_DAYS;
  const since = query.since ?? new Date(Date.now() - days * DAY_MS).toISOString();
  const piece = { ...query, since };
  const { cursor, ...page } = await fillPage<HistoryCursor, OrganizationRow>({
    limit,
    start: query.after,
    pace,
  }, {
    async read(after) {
      const end = isFiltered(query) ? await lastOfPiece(database, { ...piece, after }) : undefined;
      const rows = await database.scan(selectHistory({ ...piece, after, end }, limit));
      const steps = rows.map((row): HistoryStep<OrganizationRow> => ({
        row,
        after: stateOf(row),
        before: stateOf({ summary: row.before_summary, details: row.before_details }),
        previous: row.previous ?? undefined,
        bytes: row.bytes,
      }));
      const hasMore = rows.length > 0 && rows.length < rows[0]!.found;
      return { steps, more: hasMore || end !== undefined, ...!hasMore && end && { end } };
    },
    cursorOf: ({ at, product_id }) => ({ at, id: product_id }),
    async show(step) {
      const { row, before, after, previous } = step;
      const hasChanges = isCreationOrDeletion(row.event, previous) ||
        row.source?.shared_form !== undefined ||
        await ProductState.areDifferent(before, after, pace);
      return isShown(step, hasChanges)
        ? { ...historyEntry(row), product: await productNames(step, pace) }
        : undefined;
    },
  });
  return { ...page, cursor: cursor && historyCursor(cursor) };
}

/** Returns the title and the numbers of a product in a version. */
async function productNames(
  { row, before, after }: HistoryStep<OrganizationRow>,
  pace: Pace,
): Promise<Entry> {
  const summary = await (after ?? before)?.summary(pace);
  const { title = null, isbn13 = null, product_code = null } = summary ?? {};
  return { id: row.product_id, title, isbn13, product_code };
}

/** A piece of the history of the organization, newest first. */
interface HistoryPiece extends Omit<HistoryQuery, "limit" | "since"> {
  since: string;
  /** The last version of the piece. */
  end?: HistoryCursor | undefined;
}

/** The maximum number of versions that a read filters. */
const MAX_FILTERED = 1_000;

/** Whether versions are read and left out. Those of a request are found by an index. */
function isFiltered({ changed_by, operation }: HistoryQuery): boolean {
  return (changed_by ?? operation) !== undefined;
}

/** Returns the last of the next `MAX_FILTERED` versions, or undefined if there are fewer. */
async function lastOfPiece(
  database: Queries,
  piece: HistoryPiece,
): Promise<HistoryCursor | undefined> {
  const [end] = await database.scan(sql<HistoryCursor>`
    select ${rfc3339("d.changed_at")} as at, d.product_id as id
    from product_documents d
    where ${isInPiece(piece)}
    order by d.changed_at desc, d.product_id desc
    limit 1 offset ${MAX_FILTERED - 1}
  `);
  return end;
}

/** The condition that version `d` is in this piece of the history. */
function isInPiece({ since, until, after, end, request_id }: HistoryPiece): Statement {
  return sql`
    d.organization_id = ${organization}
    ${request_id === undefined ? [] : sql`and d.request_id = ${request_id}`}
    and (d.changed_at, d.product_id) >= ${positionOf(end ?? { at: since, id: NIL_UUID })}
    ${until ? sql`and d.changed_at <= ${until}::timestamptz` : []}
    ${after ? sql`and (d.changed_at, d.product_id) < ${positionOf(after)}` : []}
  `;
}

/** The condition that version `d` matches the filters. */
function matchesFilters({ changed_by, operation }: HistoryPiece): Statement {
  const authors = sql`
    d.changed_by in ('api_key:' || ${changed_by ?? ""}, 'user:' || ${changed_by ?? ""})
    or d.changed_by is null
      and case when d.operation is null then 'database' else 'command' end = ${changed_by ?? ""}
  `;
  return sql`
    true
    ${changed_by === undefined ? [] : sql`and (${authors})`}
    ${operation === undefined ? [] : sql`and d.operation = ${operation}`}
  `;
}

/**
 * Selects the versions of a piece of the history that match the filters, each with the version
 * before it. Arrays that are equal in both are left out.
 */
function selectHistory(piece: HistoryPiece, limit: number): Statement<OrganizationRow> {
  return sql`
    select
      d.product_id, ${versionColumns}, ${authorColumns}, d.found::int, d.bytes,
      b.event as previous, d.summary, b.summary as before_summary,
      case when b.details <> d.details then d.details else '' end as details,
      case when b.details <> d.details and d.event <> 'deleted' then b.details else '' end as before_details
    from (
      select
        d.*,
        2 * ${sizeOfDocument} as bytes,
        sum(2 * ${sizeOfDocument}) over (order by d.changed_at desc, d.product_id desc) as total,
        row_number() over (order by d.changed_at desc, d.product_id desc) as place,
        count(*) over () as found
      from (
        select d.*
        from product_documents d
        where ${isInPiece(piece)} and ${matchesFilters(piece)}
        order by d.changed_at desc, d.product_id desc
        limit ${limit + 1}::bigint
      ) d
    ) d
    ${joinVersionBefore("d", "b", ["event", "summary", "details"], "and d.event <> 'created'")}
    ${keyOfAuthor}
    where d.place = 1 or d.place <= ${limit} and d.total <= ${versionsBytes}
    order by d.changed_at desc, d.product_id desc
  `;
}
