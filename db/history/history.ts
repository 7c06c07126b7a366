import type { Entry } from "../../schema/bodies.ts";
import {
  changedBy,
  historyCursor,
  type HistoryQuery,
  type Made,
  type ProductHistoryQuery,
} from "../../schema/history.ts";
import { joined, organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { parseProduct, sizeOfDocument } from "../products/document.ts";
import { productNotFound } from "../products/errors.ts";
import { DAY_MS } from "../times.ts";
import {
  requireHistory,
  storeLatest,
  versionColumns,
  versionJson,
  versionsBytes,
} from "../products/versions.ts";
import { type ShownChanges, shownChanges } from "./differences.ts";

/* The histories of a product and of the organization. */

/** A page of a history, newest first. */
export interface HistoryPage {
  entries: Entry[];
  cursor: string | null;
  more: boolean;
}

interface VersionRow extends Made {
  version: string;
  at: string;
  event: string;
  restored_from: string | null;
  request_id: string | null;
  source: Entry | null;
  product: string | null;
}

/** Who made version `d`, with the present name of an API key `k`. */
export const madeColumns = sql`
  d.changed_by, k.name, d.operation, d.request_id, d.source, d.restored_from::text
`;

/** Joins the API key `k` that made version `d`, if one did. */
export const keyOfAuthor = sql`
  left join api_keys k
    on k.organization_id = ${organization} and d.changed_by = 'api_key:' || k.id
`;

function historyEntry(row: VersionRow): Entry {
  const { version, at, event, restored_from, operation, request_id, source } = row;
  return {
    version,
    at,
    event,
    ...restored_from !== null && { restored_from },
    changed_by: changedBy(row),
    operation,
    request_id,
    ...source && { source },
  };
}

/** The most reads for a page: the steps of a read may change nothing that the page shows. */
const MAX_READS = 10;

/**
 * The history of a product, also of a deleted one. An entry that changed nothing is not
 * shown. Throws `NOT_FOUND`.
 */
export async function listProductHistory(
  database: Queries,
  id: string,
  { limit, after, changed }: ProductHistoryQuery,
): Promise<HistoryPage> {
  await requireHistory(database);
  if (after === undefined) await storeLatest(database, id);
  return await fillPage<HistoryStep>(limit, {
    start: after ?? null,
    async read(last) {
      const next = await readSteps(database, id, last?.row.version ?? after ?? null, limit);
      if (!last && after === undefined && next.steps.length === 0) throw productNotFound(id);
      return next;
    },
    cursorOf: ({ row }) => row.version,
    show(step) {
      const shown = changesBy(step);
      return isShown(step.row, shown, changed)
        ? { ...historyEntry(step.row), ...shown }
        : undefined;
    },
  });
}

/** How a history is read: its steps, newest first, each with the cursor behind it. */
interface StepReader<S extends HistoryStep> {
  /** The cursor of a page without steps. */
  start: string | null;
  /** Reads the steps after the last one, and whether there are more. */
  read(last: S | undefined): Promise<{ steps: S[]; more: boolean }>;
  cursorOf(step: S): string;
  /** What the page shows of a step, if anything. */
  show(step: S): Entry | undefined;
}

/** Reads steps until a page is full. */
async function fillPage<S extends HistoryStep>(
  limit: number,
  { start, read, cursorOf, show }: StepReader<S>,
): Promise<HistoryPage> {
  const page: HistoryPage = { entries: [], cursor: start, more: true };
  let last: S | undefined;
  for (let reads = 0; reads < MAX_READS && page.more; reads++) {
    const { steps, more } = await read(last);
    page.more = more;
    for (const [i, step] of steps.entries()) {
      last = step;
      page.cursor = cursorOf(step);
      const entry = show(step);
      if (entry) page.entries.push(entry);
      if (page.entries.length === limit) {
        page.more ||= i < steps.length - 1;
        return page;
      }
    }
  }
  return page;
}

/** A version of a product, and the state before it, if that is kept. */
interface HistoryStep {
  row: VersionRow;
  before: string | null;
}

/** The changes of a version. A product that is created or deleted has none. */
function changesBy({ row, before }: HistoryStep): ShownChanges {
  return row.event === "created" || row.event === "deleted"
    ? { changes: [] }
    : shownChanges(parseProduct(before), parseProduct(row.product));
}

/** Whether the version changed something, or one of these fields. */
function isShown(
  { event }: VersionRow,
  { changes }: ShownChanges,
  fields?: readonly string[],
): boolean {
  if (!fields) return event !== "changed" || changes?.length !== 0;
  const touched = changes?.map(({ pointer }) => pointer.split("/")[1]!) ?? [];
  return fields.some((field) => touched.includes(field));
}

/** The next versions of a product, newest first, and whether there are more. */
async function readSteps(
  database: Queries,
  id: string,
  after: string | null,
  limit: number,
): Promise<{ steps: HistoryStep[]; more: boolean }> {
  // The state before a version is that of the next row, or of the one after that if the next row
  // is a deletion. So two more rows are read than are shown.
  const beside = 2;
  const rows = await database.scan(selectVersions(id, after, limit + beside));
  const found = rows[0]?.found ?? 0;
  const isWhole = rows.length === found && found < limit + beside;
  const steps = rows
    .slice(0, isWhole ? limit : Math.max(1, rows.length - beside))
    .map((row, i): HistoryStep => {
      const [next, last] = [rows[i + 1], rows[i + 2]];
      const before = next?.event === "deleted" ? last : next;
      return { row, before: before?.product ?? null };
    });
  return { steps, more: steps.length < found };
}

/**
 * The newest versions, as many as `versionsBytes` has room for, but three at least: one to show
 * and the two after it. With each, how many were found before that cut.
 */
function selectVersions(
  id: string,
  after: string | null,
  limit: number,
): Statement<VersionRow & { found: number }> {
  const older = after === null ? [] : sql`and d.change_version < ${after}::bigint`;
  return sql`
    select ${versionColumns}, ${madeColumns}, ${versionJson} as product, d.found::int
    from (
      select
        d.*,
        sum(${sizeOfDocument}) over (order by d.change_version desc) as bytes,
        row_number() over (order by d.change_version desc) as place,
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
    where d.bytes <= ${versionsBytes} or d.place <= 3
    order by d.change_version desc
  `;
}

interface OrganizationRow extends VersionRow {
  product_id: string;
  /** The state before a change or a deletion, if that is kept. */
  before: string | null;
  found: number;
}

/** A version of one of the products of the organization. */
interface OrganizationStep extends HistoryStep {
  row: OrganizationRow;
}

/** The history of the organization, without what changed. */
export async function listHistory(
  database: Queries,
  query: HistoryQuery,
): Promise<HistoryPage> {
  await requireHistory(database);
  const { limit } = query;
  const since = query.since ?? new Date(Date.now() - DAY_MS).toISOString();
  const cursorOf = ({ row }: OrganizationStep) => ({ at: row.at, id: row.product_id });
  return await fillPage<OrganizationStep>(limit, {
    start: null,
    async read(last) {
      const after = last ? cursorOf(last) : query.after;
      const rows = await database.scan(selectHistory({ ...query, since, after }, limit));
      return {
        steps: rows.map((row) => ({ row, before: row.before })),
        more: rows.length > 0 && rows.length < rows[0]!.found,
      };
    },
    cursorOf: (step) => historyCursor(cursorOf(step)),
    show: (step) =>
      isShown(step.row, changesBy(step))
        ? { ...historyEntry(step.row), product: productNames(step.row) }
        : undefined,
  });
}

/** What names a product, as it was. */
function productNames({ product_id: id, product, before }: OrganizationRow): Entry {
  const { title = null, isbn13 = null, product_code = null } = parseProduct(product ?? before) ??
    {};
  return { id, title, isbn13, product_code };
}

function selectHistory(
  { since, until, changed_by, operation, after }: HistoryQuery & {
    since: string;
  },
  limit: number,
): Statement<OrganizationRow> {
  const conditions = [
    ...until ? [sql`and d.changed_at <= ${until}::timestamptz`] : [],
    ...changed_by
      ? [
        sql`and d.changed_by in ('api_key:' || ${changed_by}, 'user:' || ${changed_by})`,
      ]
      : [],
    ...operation ? [sql`and d.operation = ${operation}`] : [],
    ...after
      ? [
        sql`and (d.changed_at, d.product_id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ]
      : [],
  ];
  return sql`
    select
      d.product_id, ${versionColumns}, ${madeColumns},
      ${versionJson} as product, b.before, d.found::int
    from (
      select
        d.*,
        sum(2 * ${sizeOfDocument}) over (order by d.changed_at desc, d.product_id desc) as bytes,
        row_number() over (order by d.changed_at desc, d.product_id desc) as place,
        count(*) over () as found
      from (
        select d.*
        from product_documents d
        where d.organization_id = ${organization} and d.changed_at >= ${since}::timestamptz
          ${joined(conditions, " ")}
        order by d.changed_at desc, d.product_id desc
        limit ${limit + 1}::bigint
      ) d
    ) d
    left join lateral (
      select case when b.summary <> '' then '{' || b.summary || ',' || b.details || '}' end as before
      from product_documents b
      where b.organization_id = ${organization} and b.product_id = d.product_id
        and b.change_version < d.change_version and d.event in ('changed', 'deleted')
      order by b.change_version desc
      limit 1
    ) b on true
    ${keyOfAuthor}
    where d.place = 1 or d.place <= ${limit} and d.bytes <= ${versionsBytes}
    order by d.changed_at desc, d.product_id desc
  `;
}
