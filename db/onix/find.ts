import {
  json,
  organization,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { sizeOfStored } from "../products/documents.ts";
import type { ProductKey } from "../products/keys.ts";
import { lockAndFind } from "../products/writer.ts";
import type { Item } from "./items.ts";

/*
 * Which product a record is of: the one that is bound to its RecordReference, then the one
 * with its ISBN-13.
 */

/** A product that a record may be of. */
export interface Found {
  id: string;
  isbn13: string | null;
  /** The reference that it is bound to. Null without a record. */
  reference: string | null;
  digest: string | null;
  /** Whether the product has not changed since its record was stored. */
  is_current: boolean;
}

/** A product that is locked, with the size of its JSON in bytes, if that is known. */
export interface Locked extends Found {
  bytes: number | null;
}

/** The keys by which the records, and upserts of the same books, find products. */
function keysOf(items: readonly Item[]): ProductKey[] {
  return items.flatMap(({ incoming: { reference, isbn13, isbn10 } }) => [
    { match: "record_reference", value: reference },
    ...isbn13 ? [{ match: "isbn13", value: isbn13 }] : [],
    ...isbn10 ? [{ match: "isbn10", value: isbn10 }] : [],
  ]);
}

/** What is known of product `p` and its record `n`. */
const found = sql`
  p.id,
  p.isbn13,
  n.record_reference as reference,
  n.digest,
  coalesce(n.product_updated_at = p.updated_at, false) as is_current
`;

const withRecord = sql`
  products p
  left join onix_records n on n.organization_id = ${organization} and n.product_id = p.id
`;

/**
 * The products that the records may be of. It is not prepared: a plan cached while the
 * tables were small would scan them when they are large.
 */
export function findProducts(items: readonly Item[]): Statement<Found> {
  return unprepared(sql`
    select ${found}
    from ${withRecord}
    where p.organization_id = ${organization} and ${mayBeOf(items)}
    order by p.id
  `);
}

/** Locks these products, and returns them as they are after that. */
export async function lockFound(
  tx: Transaction,
  items: readonly Item[],
): Promise<Locked[]> {
  return await lockAndFind(
    tx,
    keysOf(items),
    mayBeOf(items),
    sql<Locked>`select ${found}, ${sizeOfStored} as bytes from ${withRecord}`,
  );
}

/** The condition that one of the records may be of product `p`. */
function mayBeOf(items: readonly Item[]): Statement {
  const references = items.map(({ incoming }) => incoming.reference);
  const ids = references.flatMap((reference) => ownId(reference) ?? []);
  const isbns = items.flatMap(({ incoming: { isbn13 } }) => isbn13 ?? []);
  return sql`(
    p.id = any(${elementsOf(ids)}::uuid[])
    or p.id = any(array(
      select b.product_id
      from onix_records b
      where b.organization_id = ${organization}
        and b.record_reference = any(${elementsOf(references)})
    ))
    or p.isbn13 = any(${elementsOf(isbns)})
  )`;
}

function elementsOf(values: readonly string[]): Statement {
  return sql`array(select jsonb_array_elements_text(${json(values)}))`;
}

/** The products that records may be of, by what records find them. */
export class Matches<F extends Found> {
  readonly #byReference = new Map<string, F>();
  readonly #byId = new Map<string, F>();
  readonly #byIsbn: Map<string | null, F[]>;

  constructor(found: readonly F[]) {
    for (const product of found) {
      this.#byId.set(product.id, product);
      if (product.reference !== null) {
        this.#byReference.set(product.reference, product);
      }
    }
    this.#byIsbn = Map.groupBy(found, ({ isbn13 }) => isbn13);
  }

  /** The product of the record, if there is one, or `ambiguous`. */
  of({ incoming }: Item): F | "ambiguous" | undefined {
    const { reference, isbn13, notification } = incoming;
    const bound = this.#byReference.get(reference) ??
      this.#byId.get(ownId(reference) ?? "");
    if (bound || notification === "05" || isbn13 === null) return bound;
    const [product, another] = this.#byIsbn.get(isbn13) ?? [];
    return another ? "ambiguous" : product;
  }
}

const OWN = /^urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The id in the reference under which a product without a record is exported. */
export function ownId(reference: string): string | undefined {
  return OWN.exec(reference)?.[1]?.toLowerCase();
}
