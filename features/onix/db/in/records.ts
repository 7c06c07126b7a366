import type { Ids } from "../../schema/codecs/ids.ts";
import type { Differences } from "../../schema/merge/differences.ts";
import {
  isAnyOf,
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
} from "../../../../db/connections/sql.ts";
import type { Planned } from "./plan.ts";
import { fromProductsOf, type ProductRow } from "./product_rows.ts";

/*
 * Stores the records of products. `onix_records` has the record that each product received last.
 * If several senders take turns, `onix_senders` has the last record of each other sender, which is
 * the base of that sender's next merge.
 */

/** A record with the data that is stored with it. */
export interface StoredRecord {
  reference: string;
  text: string;
  digest: string;
  /** Its analysis as it is stored, after its key. Null: the record is read each time. */
  analysis: string | null;
  differences: Differences | null;
  ids: Ids;
  /** Whether the product keeps edits, and so differs from the record. */
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

/** The maximum number of other senders whose last records are stored for a product. */
const MAX_OTHERS = 8;

/**
 * Stores the records of written products. A replaced record of another sender is kept, as the base
 * of that sender's next merge.
 */
export function storeRecords(
  changes: readonly (Planned & { record?: StoredRecord })[],
): Statement[] {
  const rows = changes.flatMap(({ id, record, analysed, found }) =>
    record
      ? [{
        product_id: id,
        record_reference: record.reference,
        record: record.text,
        sender_name: analysed.incomingRecord.sent.sender,
        digest: record.digest,
        reading: record.analysis,
        differences: record.differences,
        identities: record.ids,
        is_edited: record.isEdited,
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
    ...replaced.length > 0 ? copyReplaced(replaced) : [],
    ...own.length > 0 ? [clearRecords(own, sql`s.sender_name = r.sender_name`)] : [],
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

/**
 * Copies the replaced records to `onix_senders`. Per product, the records of the `MAX_OTHERS` latest
 * senders stay.
 */
function copyReplaced(replaced: readonly ProductRow[]): Statement[] {
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
    clearRecords(
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

/** Removes the records that are kept for senders `s` of products with rows `r`, if they meet the condition. */
function clearRecords(
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
