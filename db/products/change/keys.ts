import { isbn10Of, isbnNumbers, type Isbns } from "../../../schema/isbn.ts";
import {
  isOneOfTexts,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../../connections/sql.ts";

/*
 * The keys by which products are found: id, code and ISBN. Transactions that find or create
 * products by the same key lock it, so that one of them creates the product and the other finds it.
 */

/** A value that transactions lock, with its kind. */
export interface LockKey {
  kind: string;
  value: string;
}

/** A value by which requests find a product. An ISBN is the same key in both forms. */
export interface ProductKey extends LockKey {
  kind: "isbn" | "product_code";
}

/** A key as text. */
export function keyName({ kind, value }: LockKey): string {
  return `${kind} ${value}`;
}

/** Returns the key that restorations of a product lock, also while the product does not exist. */
export function restorationKey(id: string): LockKey {
  return { kind: "restore", value: id.toLowerCase() };
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
 * Locks keys until COMMIT, so that transactions that find or create products by the same key take
 * turns. The locks are sorted to prevent deadlocks. There is a lock per key: pass a few keys per
 * product, and use `lockSlots` for everything else.
 */
export function lockKeys(keys: readonly LockKey[]): Statement {
  return lockEach(keys, sql`k.kind || ' ' || k.value`);
}

/**
 * Locks any number of keys until COMMIT, such as the names in a file. Each key locks one of the 64
 * slots of its subject in the organization, because PostgreSQL has room for only some 6,400 locks in
 * all databases of a server.
 */
export function lockSlots(subject: string, keys: readonly LockKey[]): Statement {
  return lockEach(
    keys,
    sql`${raw(`'${subject} '`)} || (hashtextextended(k.kind || ' ' || k.value, 1) & 63)`,
  );
}

function lockEach(keys: readonly LockKey[], locked: Statement): Statement {
  return sql`
    select pg_advisory_xact_lock(l.lock)
    from (
      select distinct hashtextextended(${organization}::uuid || ' ' || ${locked}, 1) as lock
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

/** Returns the message about a key that several products have. It names the first ten. */
export function sharedKeyMessage(
  key: string,
  products: readonly { id: string }[],
): string {
  const ids = products.slice(0, MAX_NAMED).map(({ id }) => id).join(", ");
  const more = products.length - MAX_NAMED;
  const others = more > 0 ? ` and ${more} more` : "";
  return `Several products have this ${key}: ${ids}${others}`;
}

const MAX_NAMED = 10;
