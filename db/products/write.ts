import type { ProductBody } from "../../schema/product.ts";
import { countProducts } from "./counts.ts";
import { createProducts } from "./creating.ts";
import type { Operations } from "../database.ts";
import { type Created, type KeyedRequest, once } from "./idempotency.ts";
import { formOf } from "./product_form.ts";
import { fullProducts, getLocked, inOrder, notFound } from "./row.ts";
import { pipelined } from "../connections/sql.ts";
import { areApart, type Update, updateProducts } from "./updating.ts";

/*
 * What is done with one product. Requests of one organization that wait for a
 * connection at the same time get, create and update theirs together.
 *
 * Every write locks in one order, so that no two wait for each other in a
 * circle: the products, their counts, what belongs to them, and last the one
 * format that they may share with others.
 */

/** The full product as JSON text. Throws `NOT_FOUND` where the organization has none with this id. */
export async function getProduct(
  database: Operations,
  organizationId: string,
  id: string,
): Promise<string> {
  const product = await database.lookUp({
    topic: `products ${organizationId}`,
    ask: id.toLowerCase(),
    answer: async (sql, ids) =>
      inOrder(
        ids,
        await fullProducts(sql, organizationId, [...new Set(ids)]),
      ),
  });
  return product ?? notFound(id);
}

/** Creates the product with everything in its body, and gives it in full. */
export async function createProduct(
  database: Operations,
  organizationId: string,
  body: ProductBody,
): Promise<Created> {
  const created = await database.write({
    topic: `create ${organizationId} ${formOf(body)}`,
    ask: body,
    answer: (sql, bodies) => createProducts(sql, organizationId, bodies),
  });
  return { ...created, replayed: false };
}

/**
 * The same, once for all requests with this `Idempotency-Key`, as `once` does it:
 * in a transaction of its own, which holds the key.
 */
export async function createProductOnce(
  database: Operations,
  organizationId: string,
  body: ProductBody,
  request: KeyedRequest,
): Promise<Created> {
  return await database.transaction((sql) =>
    once(sql, organizationId, request, async () => {
      const [created] = await createProducts(sql, organizationId, [body]);
      return created!;
    })
  );
}

/**
 * Writes what the body has and nothing else, and gives the product in full.
 * `check` may throw at the product as it was. Throws `NOT_FOUND` where the
 * organization has none with this id.
 */
export async function updateProduct(
  database: Operations,
  organizationId: string,
  { id, body, check }: Update,
): Promise<string> {
  return await database.write<Update, string>({
    topic: `update ${organizationId} ${formOf(body)}`,
    ask: { id: id.toLowerCase(), body, check },
    areApart,
    answer: (sql, updates) => updateProducts(sql, organizationId, updates),
  });
}

/**
 * Deletes the product with everything that belongs to it, and says whether
 * there was one. `check` may throw at the product as it was. A product in a
 * publishing program breaks `publishing_program_products_product`.
 */
export async function deleteProduct(
  database: Operations,
  organizationId: string,
  id: string,
  check?: (product: string | undefined) => void,
): Promise<boolean> {
  return await database.transaction(async (sql) => {
    if (check) {
      const ids = [id.toLowerCase()];
      const [product] = await getLocked(sql, organizationId, ids);
      check(product);
    }
    const deleted = await pipelined([
      sql`
        select from products p
        where p.organization_id = ${organizationId} and p.id = ${id}
        for update
      `,
      countProducts(sql, organizationId, [id], -1),
      sql`
        delete from products p
        where p.organization_id = ${organizationId} and p.id = ${id}
        returning p.id
      `,
    ]);
    return deleted.length > 0;
  });
}
