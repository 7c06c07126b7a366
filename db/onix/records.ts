import type { Entry } from "../../schema/bodies.ts";
import { parseExact } from "../../schema/numbers.ts";
import { replaceBlocks } from "../../schema/onix/mapping/incoming.ts";
import {
  type Differences,
  differences,
  valuesOf,
  writeRecord,
} from "../../schema/onix/mapping/outgoing.ts";
import { inTurns, type Steps } from "../../schema/onix/xml/steps.ts";
import { fromStored } from "../../schema/onix/xml/write.ts";
import { isOneOf, json, organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { readCurrent } from "../products/documents.ts";
import { byId, contributorsJson } from "./books.ts";
import { type Item, storedForm } from "./items.ts";
import type { Planned } from "./plan.ts";

/* The records that are stored beside products. */

/** The stored records that partial updates change, by product. */
export async function readStored(tx: Transaction, changes: readonly Planned[]) {
  const ids = changes.flatMap(({ item, id }) =>
    item.incoming.notification === "04" ? id : []
  );
  if (ids.length === 0) return new Map<string, StoredRecord>();
  const [rows] = await tx.send(sql<StoredRecord>`
    select
      p.id,
      n.record,
      n.record_reference as reference,
      n.differences,
      o.name as organization,
      ${
    contributorsJson(sql`in (
      select x.contributor_id
      from product_contributors x
      where x.organization_id = ${organization} and x.product_id = p.id
    )`)
  } as contributors
    from products p
    join organizations o on o.id = ${organization}
    left join onix_records n on n.organization_id = ${organization} and n.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A record in the form in which it is stored. */
export type Form = Pick<Item, "record" | "text" | "digest">;

interface StoredRecord {
  id: string;
  record: string | null;
  reference: string | null;
  differences: Differences | null;
  organization: string;
  contributors: string;
}

/** The record to store: that of the message, or the present one with the blocks of a partial update. */
export function* formToStore(
  { item, found }: Planned,
  stored: StoredRecord | undefined,
  product: Entry,
): Steps<Form> {
  if (item.incoming.notification !== "04") return item;
  const { record, reference, organization, contributors, differences } =
    stored!;
  const received = record === null
    ? null
    : { record: yield* fromStored(record), differences };
  const base = received && found!.is_current
    ? received.record
    // What requests have changed since stays changed.
    : (yield* writeRecord(
      { product, contributors: byId(contributors), organization, reference },
      received,
      "3.1",
    )).record;
  const updated = replaceBlocks(base, item.record);
  return { record: updated, ...yield* storedForm(updated) };
}

/** Stores the records of written products, whose JSON has these sizes in bytes. */
export async function storeRecords(
  tx: Transaction,
  changes: readonly (Planned & { form: Form })[],
  sizes: ReadonlyMap<string, number>,
  pace: () => Promise<void>,
): Promise<void> {
  if (changes.length === 0) return;
  const ids = changes.map(({ id }) => id);
  const byProduct = new Map(changes.map((change) => [change.id, change]));
  const [[beside]] = await tx.send(
    sql<{ organization: string; contributors: string }>`
      select
        o.name as organization,
        ${
      contributorsJson(sql`in (
        select x.contributor_id
        from product_contributors x
        where x.organization_id = ${organization} and x.product_id ${
        isOneOf(ids)
      }
      )`)
    } as contributors
      from organizations o
      where o.id = ${organization}
    `,
  );
  const contributors = byId(beside!.contributors);
  const rows: Entry[] = [];
  const sized = Array.from(sizes, ([id, bytes]) => ({ id, bytes }));
  for await (const { id, product } of readCurrent(tx, sized)) {
    await pace();
    const { item, found, form } = byProduct.get(id)!;
    const { record, text, digest } = form;
    const reference = found?.reference ?? item.incoming.reference;
    const book = {
      product: parseExact(product) as Entry,
      contributors,
      organization: beside!.organization,
      reference,
    };
    rows.push({
      product_id: id,
      record_reference: reference,
      record: text,
      digest,
      differences: differences(
        book,
        record === item.record
          ? item.incoming.values
          : await inTurns(valuesOf(record), pace),
      ),
    });
  }
  await tx.send(sql`
    insert into onix_records (
      organization_id, product_id, record_reference, record, digest, product_updated_at, differences
    )
    select
      p.organization_id, p.id, r.record_reference, r.record, r.digest, p.updated_at, r.differences
    from products p
    join jsonb_to_recordset(${json(rows)})
      r (product_id uuid, record_reference text, record text, digest text, differences jsonb)
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
    on conflict (organization_id, product_id) do update set
      record = excluded.record,
      digest = excluded.digest,
      product_updated_at = excluded.product_updated_at,
      differences = excluded.differences
  `);
}
