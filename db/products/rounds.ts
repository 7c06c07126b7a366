import type { ApiError } from "../../schema/errors.ts";
import type { ProductBody } from "../../schema/product.ts";
import type { Found, Key } from "./upsert_keys.ts";
import type { Precondition } from "./write.ts";

/** An operation of a batch. Ids are in lower case, except `sentId`. */
export type Operation =
  | { method: "create"; body: ProductBody }
  | {
    method: "update";
    id: string;
    body: ProductBody;
    precondition?: Precondition | undefined;
  }
  | {
    method: "delete";
    id: string;
    /** The id as the client sent it. */
    sentId: string;
    precondition?: Precondition | undefined;
  }
  | Key & {
    method: "upsert";
    /** The body if the product exists. */
    updated: ProductBody;
    /** The body if the product does not exist, or its error. */
    created: ProductBody | ApiError;
  };

/** An operation and its index in the batch. */
export interface Item {
  index: number;
  operation: Operation;
}

/** An operation and the existing products that it addresses. */
export interface Matched extends Item {
  products: Found[];
}

/** The ids and upsert keys in the operations. */
export function identifiersOf(items: readonly Item[]): {
  ids: string[];
  keys: Key[];
} {
  const operations = items.map(({ operation }) => operation);
  return {
    ids: operations.flatMap((operation) =>
      "id" in operation ? operation.id : []
    ),
    keys: operations.filter((operation) => operation.method === "upsert"),
  };
}

/**
 * The keys by which concurrent upserts could find a product that these operations
 * upsert: those that they match, and the ISBNs that they write.
 */
export function lockedKeys(items: readonly Item[]): Key[] {
  return items.flatMap(({ operation }) => {
    if (operation.method !== "upsert") return [];
    const { match, value } = operation;
    return [{ match, value }, ...writtenKeys(operation)];
  });
}

/**
 * Splits the operations before the first that depends on an earlier one, by a
 * product or a key. The operations in `now` can be written together.
 */
export function nextRound(
  items: readonly Item[],
  found: readonly Found[],
): { now: Matched[]; later: Item[] } {
  const written = new Set<string>();
  const now: Matched[] = [];
  for (const [at, item] of items.entries()) {
    const products = found.filter((product) => addresses(item, product));
    const touched = [
      ...products.map(({ id }) => id),
      ...identifiersOf([item]).keys.map(nameOf),
    ];
    if (touched.some((name) => written.has(name))) {
      return { now, later: items.slice(at) };
    }
    const names = writtenKeys(item.operation).map(nameOf);
    for (const name of [...touched, ...names]) written.add(name);
    now.push({ ...item, products });
  }
  return { now, later: [] };
}

function addresses({ operation }: Item, product: Found): boolean {
  switch (operation.method) {
    case "create":
      return false;
    case "upsert":
      return product[operation.match] === operation.value;
    default:
      return product.id === operation.id;
  }
}

/** The keys by which an upsert would find the written product. */
function writtenKeys(operation: Operation): Key[] {
  if (operation.method === "delete") return [];
  const { isbn13, isbn10 } = operation.method === "upsert"
    ? operation.updated
    : operation.body;
  return [
    ...isbn13 ? [{ match: "isbn13" as const, value: isbn13 }] : [],
    ...isbn10 ? [{ match: "isbn10" as const, value: isbn10 }] : [],
  ];
}

function nameOf({ match, value }: Key): string {
  return `${match} ${value}`;
}
