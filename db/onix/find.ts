import { isbnNumber } from "../../schema/isbn.ts";
import { DELETION } from "../../schema/onix/rules/notifications.ts";
import { isOneOfTexts, organization, sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { sizeOfStored } from "../products/read.ts";
import { hasIsbn, isbnKeys, type LockKey } from "../products/keys.ts";
import { lockAndFind } from "../products/write_together.ts";
import type { Gist, Item } from "./items.ts";
import type { MessageBooks } from "./message_books.ts";

/*
 * Which product a record is of: the one that is bound to its RecordReference or has it as an alias,
 * then the one with its ISBN.
 */

/** A product that a record may be of. */
export interface Found {
  id: string;
  isbn13: string | null;
  isbn10: string | null;
  /** The reference that it is bound to. Null without a record. */
  reference: string | null;
  /** The other references under which its records came. */
  aliases: string[];
  /** The hash of the sender's last record, or of the last one of any. */
  digest: string | null;
  /** Who sent the record last received. */
  last_sender: string | null;
  /** Whether the last record of this message's sender is stored, too, since another one's came later. */
  has_own: boolean;
  /** Whether the product is as this sender's record left it: nothing has changed it since, and no edit was kept. */
  is_current: boolean;
  /** When the sender of the message sent the latest message with the product, in milliseconds. */
  sent_at: number | null;
  /** The size of its JSON in bytes, if that is known. Absent as long as it is not locked. */
  bytes?: number | null;
}

/** The keys by which the records, and upserts of the same books, find products. */
function productKeysOf(items: readonly Item[]): LockKey[] {
  return items.flatMap(({ gist }) => [
    { kind: "record_reference", value: gist.reference },
    ...isbnKeys(gist),
  ]);
}

/** What is known of product `p`, its record `n` and the sender `x` when a message arrives. */
const FOUND = sql`
    p.id,
    p.isbn13,
    p.isbn10,
    n.record_reference as reference,
    to_jsonb(array(
      select a.record_reference
      from onix_aliases a
      where a.organization_id = ${organization} and a.product_id = p.id
    )) as aliases,
    coalesce(x.digest, n.digest) as digest,
    n.sender_name as last_sender,
    x.digest is not null as has_own,
    coalesce(n.product_updated_at = p.updated_at and x.digest is null, false) as is_current,
    extract(epoch from x.sent_at)::float8 * 1000 as sent_at
`;

/** Product `p` with its record `n`, and what is known of this sender `x`. */
function withRecord(sender: string | null): Statement {
  return sql`
    products p
    left join onix_records n on n.organization_id = ${organization} and n.product_id = p.id
    left join onix_senders x on x.organization_id = ${organization} and x.product_id = p.id
      and x.sender_name = ${sender}::text
  `;
}

/**
 * The products that the records of one message may be of. It is not prepared: a plan cached
 * while the tables were small would scan them when they are large.
 */
export function findProducts(items: readonly Item[]): Statement<Found> {
  return unprepared(sql`
    select ${FOUND}
    from ${withRecord(senderOf(items))}
    where p.organization_id = ${organization} and ${mayBeOf(items)}
    order by p.id
  `);
}

/** Locks these products, and returns them as they are after that. */
export async function lockFound(
  tx: Transaction,
  items: readonly Item[],
): Promise<Found[]> {
  const from = withRecord(senderOf(items));
  return await lockAndFind(
    tx,
    productKeysOf(items),
    mayBeOf(items),
    sql<Found>`select ${FOUND}, ${sizeOfStored} as bytes from ${from}`,
  );
}

/** The sender of the message that these records are of. */
function senderOf([item]: readonly Item[]): string | null {
  return item!.arrived.sent.sender;
}

/** The condition that one of the records may be of product `p`. */
function mayBeOf(items: readonly Item[]): Statement {
  const references = items.map(({ gist }) => gist.reference);
  const isbns = items.flatMap(({ gist }) => isbnNumber(gist) ?? []);
  return sql`(${isBoundTo(sql`p.id`, references)} or ${hasIsbn(isbns)})`;
}

/** The condition that records with one of the references find the product with this id by that. */
export function isBoundTo(id: Statement, references: readonly string[]): Statement {
  const ids = references.flatMap((reference) => ownId(reference) ?? []);
  return sql`${id} = any(array(
    select unnest(string_to_array(${ids.join()}, ',')::uuid[])
    union all
    select b.product_id
    from onix_records b
    where b.organization_id = ${organization}
      and b.record_reference ${isOneOfTexts(references)}
    union all
    select a.product_id
    from onix_aliases a
    where a.organization_id = ${organization}
      and a.record_reference ${isOneOfTexts(references)}
  ))`;
}

/** The references by which records find the product. */
export function referencesOf({ id, reference, aliases }: Found): string[] {
  return [
    ...reference === null ? [] : [reference],
    ...aliases,
    ownReference(id),
  ];
}

/** The products that records may be of, by what records find them. */
export class Matches {
  readonly #books: MessageBooks;
  readonly #byReference = new Map<string, Found>();
  readonly #byId = new Map<string, Found>();
  readonly #byIsbn: Map<string | null, Found[]>;

  constructor(found: readonly Found[], books: MessageBooks) {
    this.#books = books;
    for (const product of found) {
      this.#byId.set(product.id, product);
      for (const reference of referencesOf(product)) {
        this.#byReference.set(reference, product);
      }
    }
    // The ISBN that the product's own record takes from it may be that of another.
    const others = found.filter((product) =>
      referencesOf(product).every((reference) => {
        const isbn = books.isbnOf(reference);
        return isbn === undefined || isbn === isbnNumber(product);
      })
    );
    this.#byIsbn = Map.groupBy(others, isbnNumber);
  }

  /** The product that has the reference of the record. */
  #bound({ reference }: Gist): Found | undefined {
    return this.#byReference.get(reference) ??
      this.#byId.get(ownId(reference) ?? "");
  }

  /** The product of the record, if there is one, or `ambiguous`. */
  of({ gist }: Item): Found | "ambiguous" | undefined {
    const { notification } = gist;
    const number = isbnNumber(gist);
    const bound = this.#bound(gist);
    if (bound || notification === DELETION || number === null) return bound;
    const [product, another] = this.sharing(number);
    return another ? "ambiguous" : product;
  }

  /** The products with this ISBN. */
  sharing(number: string | null): readonly Found[] {
    return this.#byIsbn.get(number) ?? [];
  }

  /** Whether a later record of the message may take the ISBN by which this one finds its product. */
  mayLose(item: Item): boolean {
    const found = this.of(item);
    return typeof found === "object" && found.reference !== null &&
      referencesOf(found).every((reference) =>
        reference !== item.gist.reference &&
        this.#books.isbnOf(reference) === undefined
      );
  }
}

const OWN_REFERENCE = /^urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** The reference under which a product without a record is exported. */
export function ownReference(id: string): string {
  return `urn:uuid:${id}`;
}

/** The id in the reference under which a product without a record is exported. */
export function ownId(reference: string): string | undefined {
  return OWN_REFERENCE.exec(reference)?.[1]?.toLowerCase();
}
