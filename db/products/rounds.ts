import { ApiError } from "../../schema/errors.ts";
import type { ProductBody } from "../../schema/product.ts";
import type { Found, Key } from "./matching.ts";
import type { Precondition } from "./statements.ts";

/** An operation of a batch. Ids are in lower case. */
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
    /** The id as it was sent. */
    sentId: string;
    precondition?: Precondition | undefined;
  }
  | Key & {
    method: "upsert";
    /** What is written where there is one such product, and where there is none. */
    updated: ProductBody | ApiError;
    created: ProductBody | ApiError;
  };

/** An operation, and its place in the batch. */
export interface Item {
  index: number;
  operation: Operation;
}

/** An operation, and the products that it means. */
export interface Matched extends Item {
  products: Found[];
}

/** The ids and the keys by which the operations find their products. */
export function namedBy(items: readonly Item[]): {
  ids: string[];
  keys: Key[];
} {
  const named = items.map(({ operation }) => operation);
  return {
    ids: named.flatMap((operation) => "id" in operation ? operation.id : []),
    keys: named.flatMap((operation) =>
      operation.method === "upsert"
        ? { match: operation.match, value: operation.value }
        : []
    ),
  };
}

/**
 * The first operations of which none concerns what an earlier one of them
 * writes: these can be carried out at once. The rest comes later, in its order.
 */
export function nextRound(
  items: readonly Item[],
  found: readonly Found[],
): { now: Matched[]; later: Item[] } {
  const written = new Set<string>();
  const now: Matched[] = [];
  for (const [at, item] of items.entries()) {
    const products = found.filter((product) => isMeant(item, product));
    const concerned = [
      ...products.map(({ id }) => id),
      ...namedBy([item]).keys.map(({ match, value }) => `${match} ${value}`),
    ];
    if (concerned.some((name) => written.has(name))) {
      return { now, later: items.slice(at) };
    }
    for (const name of [...concerned, ...isbnsOf(item)]) written.add(name);
    now.push({ ...item, products });
  }
  return { now, later: [] };
}

function isMeant({ operation }: Item, product: Found): boolean {
  switch (operation.method) {
    case "create":
      return false;
    case "upsert":
      return product[operation.match] === operation.value;
    default:
      return product.id === operation.id;
  }
}

/** The keys by which a later upsert finds what the operation writes. */
function isbnsOf({ operation }: Item): string[] {
  if (!("body" in operation)) return [];
  const { isbn13, isbn10 } = operation.body;
  return [`isbn13 ${isbn13}`, `isbn10 ${isbn10}`];
}
