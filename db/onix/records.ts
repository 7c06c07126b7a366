import type { Entry } from "../../schema/bodies.ts";
import type { Ids } from "../../schema/onix/mapping/ids.ts";
import {
  isAnyOf,
  isOneOf,
  isOneOfTexts,
  json,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type BesideProduct, besideProduct, receivedRecord, type ReceivedRow } from "./books.ts";
import { isBoundTo, ownId, ownReference, referencesOf } from "./find.ts";
import { type Arrived, keyOf, type Readings } from "./items.ts";
import type { Planned, PlanOptions } from "./plan.ts";
import { DELETION } from "../../schema/onix/rules/notifications.ts";
import type { Differences } from "../../schema/onix/mapping/differences.ts";

/* The records that are stored beside products. */

/** What is stored beside a product, and the sender's last record, if another's came later. */
export interface StoredBeside extends BesideProduct {
  id: string;
  own: ReceivedRow;
}

/** What is stored beside these products, by id. */
export async function readStored(
  tx: Transaction,
  changes: readonly Planned[],
): Promise<ReadonlyMap<string, StoredBeside>> {
  const ids = changes.map(({ id }) => id);
  const sender = changes[0]!.item.arrived.sent.sender;
  const [rows] = await tx.send(sql<StoredBeside>`
    select
      p.id,
      n.record,
      n.record_reference as reference,
      ${besideProduct},
      jsonb_build_object(
        'record', x.record, 'differences', x.differences, 'identities', x.identities
      ) as own
    from products p
    join organizations o on o.id = ${organization}
    ${receivedRecord}
    left join onix_senders x on x.organization_id = ${organization} and x.product_id = p.id
      and x.sender_name = ${sender}::text
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The days on which products with the references of these records were deleted, by reference. */
export async function findDeleted(
  tx: Transaction,
  changes: readonly Planned[],
): Promise<ReadonlyMap<string, string>> {
  const references = changes.map(({ item }) => item.gist.reference);
  if (references.length === 0) return new Map();
  const [rows] = await tx.send(sql<{ reference: string; day: string }>`
    select x.record_reference as reference, to_char(x.deleted_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from product_deletions x
    where x.organization_id = ${organization}
      and x.record_reference ${isOneOfTexts(references)}
    order by x.deleted_at
  `);
  return new Map(rows.map(({ reference, day }) => [reference, day]));
}

/**
 * What reading these records of a message has found out, where that is stored. It is not
 * prepared: a plan cached while the tables were small would scan them when they are large.
 */
export async function findReadings(
  database: Queries,
  arrived: readonly Arrived[],
): Promise<Readings> {
  const references = arrived.flatMap(({ reference }) => reference ?? []);
  if (references.length === 0) return new Map();
  const { sender } = arrived[0]!.sent;
  const rows = await database.scan(unprepared(sql<{ reading: string | null; own: string | null }>`
    select n.reading, x.reading as own
    from onix_records n
    left join onix_senders x on x.organization_id = ${organization} and x.product_id = n.product_id
      and x.sender_name = ${sender}::text
    where n.organization_id = ${organization} and ${isBoundTo(sql`n.product_id`, references)}
  `));
  const readings = rows.flatMap(({ reading, own }) => [reading, own])
    .filter((reading) => reading !== null);
  return new Map(readings.map((reading) => [keyOf(reading), reading]));
}

/** What is stored of a record beside its product. */
export interface StoredRecord {
  reference: string;
  text: string;
  digest: string;
  /** What reading it has found out. Null: it is read each time. */
  reading: string | null;
  differences: Differences | null;
  ids: Ids;
  /** Whether the product keeps edits, so that it does not say what the record says. */
  isEdited: boolean;
}

/** The columns of a record, with their types. */
const RECORD = sql`record text, digest text, reading text, differences jsonb, identities jsonb`;

const SET_RECORD = sql`
  record = excluded.record,
  digest = excluded.digest,
  reading = excluded.reading,
  differences = excluded.differences,
  identities = excluded.identities
`;

/** The most last records of other senders that are stored beside a product. */
const MAX_OTHERS = 8;

/** Stores the records of written products. The last one of another sender is kept for its next. */
export function storeRecords(
  changes: readonly (Planned & { stored?: StoredRecord })[],
): Statement[] {
  const rows = changes.flatMap(({ id, stored, item, found }) =>
    stored
      ? [{
        product_id: id,
        record_reference: stored.reference,
        record: stored.text,
        sender_name: item.arrived.sent.sender,
        digest: stored.digest,
        reading: stored.reading,
        differences: stored.differences,
        identities: stored.ids,
        is_edited: stored.isEdited,
        last_sender: found?.last_sender ?? null,
        has_own: found?.has_own ?? false,
      }]
      : []
  );
  if (rows.length === 0) return [];
  const replaced = rows.filter(({ last_sender, sender_name }) =>
    last_sender !== null && last_sender !== sender_name
  );
  const own = rows.filter(({ has_own }) => has_own);
  const columns = sql`record_reference text, ${RECORD}, sender_name text, is_edited boolean`;
  return [
    ...replaced.length > 0 ? keepOthers(replaced) : [],
    ...own.length > 0 ? [forgetRecords(own, sql`s.sender_name = r.sender_name`)] : [],
    sql`
      insert into onix_records (
        organization_id, product_id, record_reference, sender_name, product_updated_at, record,
        digest, reading, differences, identities
      )
      select
        p.organization_id, p.id, r.record_reference, r.sender_name,
        case when not r.is_edited then p.updated_at end,
        r.record, r.digest, r.reading, r.differences, r.identities
      ${fromProductsOf(rows, columns)}
      on conflict (organization_id, product_id) do update set
        sender_name = excluded.sender_name,
        product_updated_at = excluded.product_updated_at,
        ${SET_RECORD}
    `,
  ];
}

/** Keeps the records last received for their senders, of each product those of the latest. */
function keepOthers(replaced: readonly ProductRow[]): Statement[] {
  const ids = replaced.map(({ product_id }) => product_id);
  return [
    sql`
      insert into onix_senders (
        organization_id, product_id, sender_name, record, digest, reading, differences, identities
      )
      select
        n.organization_id, n.product_id, n.sender_name, n.record, n.digest, n.reading,
        n.differences, n.identities
      from onix_records n
      where n.organization_id = ${organization} and n.product_id ${isOneOf(ids)}
      on conflict (organization_id, product_id, sender_name) do update set ${SET_RECORD}
    `,
    forgetRecords(
      replaced,
      sql`s.record is not null and (
        select count(*)
        from onix_senders o
        where o.organization_id = ${organization} and o.product_id = s.product_id
          and o.record is not null
          and (coalesce(o.sent_at, '-infinity'), o.sender_name)
            > (coalesce(s.sent_at, '-infinity'), s.sender_name)
      ) >= ${MAX_OTHERS}`,
    ),
  ];
}

/** Removes the records of senders `s` of products with rows `r`, if they meet the condition. */
function forgetRecords(
  rows: readonly ProductRow[],
  condition: Statement,
): Statement {
  const ids = rows.map(({ product_id }) => product_id);
  return sql`
    update onix_senders s
    set record = null, digest = null, reading = null, differences = null, identities = null
    from jsonb_to_recordset(${json(rows)}) r (product_id uuid, sender_name text)
    where s.organization_id = ${organization} and s.product_id ${isAnyOf(ids)}
      and s.product_id = r.product_id and ${condition}
  `;
}

/**
 * Notes the references under which records have come besides that of their product. Where
 * a product went out under its own id until a record bound it, the feed deletes that.
 */
export function noteReferences(done: readonly Planned[]): Statement[] {
  const aliases: ProductRow[] = [];
  const retired: ProductRow[] = [];
  for (
    const { item: { gist: { reference, notification } }, id, found } of done
  ) {
    if (!found || notification === DELETION) continue;
    if (ownId(reference) === id || referencesOf(found).includes(reference)) {
      continue;
    }
    if (found.reference === null) {
      retired.push({ product_id: id, record_reference: ownReference(id) });
    } else aliases.push({ product_id: id, record_reference: reference });
  }
  const referring = sql`record_reference text`;
  return [
    ...aliases.length > 0
      ? [sql`
        insert into onix_aliases (organization_id, record_reference, product_id)
        select p.organization_id, r.record_reference, p.id
        ${fromProductsOf(aliases, referring)}
        on conflict (organization_id, record_reference) do nothing
      `]
      : [],
    ...retired.length > 0
      ? [sql`
        insert into onix_retired (organization_id, id, record_reference)
        select p.organization_id, overlay(p.id::text placing '00000000' from 1)::uuid, r.record_reference
        ${fromProductsOf(retired, referring)}
        on conflict (organization_id, id) do nothing
      `]
      : [],
  ];
}

/** Notes when a sender has sent these records: the latest time, or with `stale=apply` this one. */
export function noteSenders(
  records: readonly Planned[],
  { stale }: PlanOptions,
): Statement[] {
  const rows = records.flatMap(({ item: { arrived, gist }, id, found }) => {
    const { sender, at } = arrived.sent;
    if (sender === null || at === null || gist.notification === DELETION) {
      return [];
    }
    const sent_at = new Date(at).toISOString();
    return found?.sent_at === at ? [] : [{ product_id: id, sender_name: sender, sent_at }];
  });
  if (rows.length === 0) return [];
  return [sql`
    insert into onix_senders (organization_id, product_id, sender_name, sent_at)
    select p.organization_id, p.id, r.sender_name, r.sent_at
    ${fromProductsOf(rows, sql`sender_name text, sent_at timestamptz`)}
    on conflict (organization_id, product_id, sender_name) do update set
      sent_at = ${
    stale === "apply"
      ? sql`excluded.sent_at`
      : sql`greatest(onix_senders.sent_at, excluded.sent_at)`
  }
  `];
}

/** Notes what reading these records has found out, which their products have already. */
export function noteReadings(unchanged: readonly Planned[]): Statement[] {
  const rows = unchanged.flatMap(({ item: { reading, isKnown, arrived }, id, found }) =>
    isKnown || reading === null ? [] : [{
      product_id: id,
      reading,
      sender_name: arrived.sent.sender,
      has_own: found!.has_own,
    }]
  );
  return [
    noteIn("onix_records", rows.filter(({ has_own }) => !has_own), []),
    noteIn(
      "onix_senders",
      rows.filter(({ has_own }) => has_own),
      sql`and t.sender_name = r.sender_name`,
    ),
  ].flat();
}

function noteIn(
  table: string,
  rows: readonly ProductRow[],
  condition: Statement | [],
): Statement[] {
  if (rows.length === 0) return [];
  return [sql`
    update ${raw(table)} t
    set reading = r.reading
    from jsonb_to_recordset(${json(rows)}) r (product_id uuid, reading text, sender_name text)
    where t.organization_id = ${organization}
      and t.product_id ${isAnyOf(rows.map(({ product_id }) => product_id))}
      and t.product_id = r.product_id ${condition}
  `];
}

/** A row of a table that belongs to products. */
interface ProductRow extends Entry {
  product_id: string;
}

/** The products `p` of these rows that exist, with their rows `r`. */
function fromProductsOf(
  rows: readonly ProductRow[],
  columns: Statement,
): Statement {
  const ids = rows.map(({ product_id }) => product_id);
  return sql`
    from products p
    join jsonb_to_recordset(${json(rows)}) r (product_id uuid, ${columns})
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
}
