import { isbn10Of, isbnNumbers, type Isbns } from "../../schema/isbn.ts";
import { isOneOfTexts, json, organization, sql, type Statement } from "../connections/sql.ts";

/** A value that transactions lock, and what it is the value of. */
export interface LockKey {
  kind: string;
  value: string;
}

/** A value by which requests find a product. An ISBN is its number, whichever form is sent. */
export interface ProductKey extends LockKey {
  kind: "isbn" | "product_code";
}

/** A key as text. */
export function keyName({ kind, value }: LockKey): string {
  return `${kind} ${value}`;
}

/** The columns of a product that its keys follow from. */
export interface KeyedProduct extends Isbns {
  product_code: string;
}

/** The keys of these ISBNs. */
export function isbnKeys(isbns: Isbns): ProductKey[] {
  return isbnNumbers(isbns).map((value) => ({ kind: "isbn", value }));
}

/** Whether the product has the key. */
export function isFoundBy(
  { kind, value }: ProductKey,
  product: KeyedProduct,
): boolean {
  return kind === "isbn" ? isbnNumbers(product).includes(value) : product.product_code === value;
}

/**
 * Serializes the transactions that find or create products by the same key, until
 * COMMIT. The locks are sorted to prevent deadlocks.
 */
export function lockKeys(keys: readonly LockKey[]): Statement {
  return sql`
    select pg_advisory_xact_lock(l.lock)
    from (
      select distinct hashtextextended(
        ${organization}::uuid || ' ' || k.kind || ' ' || k.value, 1
      ) as lock
      from jsonb_to_recordset(${json(keys)}) k (kind text, value text)
      order by lock
    ) l
  `;
}

/** The condition that product `p` has one of the keys. */
export function hasKey(keys: readonly ProductKey[]): Statement {
  const valuesOf = (kind: ProductKey["kind"]) =>
    keys.flatMap((key) => key.kind === kind ? key.value : []);
  return sql`(
    ${hasIsbn(valuesOf("isbn"))}
    or p.product_code ${isOneOfTexts(valuesOf("product_code"))}
  )`;
}

/** The condition that product `p` has one of these numbers, in either form. */
export function hasIsbn(numbers: readonly string[]): Statement {
  const shorter = numbers.flatMap((number) => isbn10Of(number) ?? []);
  return sql`(p.isbn13 ${isOneOfTexts(numbers)} or p.isbn10 ${isOneOfTexts(shorter)})`;
}

/** Says which products have what one alone should have. */
export function sharedBy(
  what: string,
  products: readonly { id: string }[],
): string {
  const ids = products.slice(0, MAX_NAMED).map(({ id }) => id).join(", ");
  const more = products.length - MAX_NAMED;
  const others = more > 0 ? ` and ${more} more` : "";
  return `Several products have this ${what}: ${ids}${others}`;
}

const MAX_NAMED = 10;
