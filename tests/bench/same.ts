import { assertEquals } from "@std/assert";
import { FIRST_NUMBER } from "./products.ts";
import type { Scenario, Scenarios } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";

/** A product with rights and supply, and one without (`dataset/nested.sql`). */
const NUMBERS = [FIRST_NUMBER + 9, FIRST_NUMBER + 10];

/** The fields that differ between any two products. */
const IDENTITY = ["id", "product_code", "created_at", "updated_at"];

/** Compares a program's products with the service's. Throws at a difference. */
export async function checkProducts(
  service: Service,
  peer: Service,
  get: Scenario,
): Promise<void> {
  for (const number of NUMBERS) {
    assertEquals(
      await send(get, peer.origin, number),
      await send(get, service.origin, number),
      `${peer.name} returns another product`,
    );
  }
}

/**
 * Compares a peer's responses with the service's: whole products, a page, and a
 * created product, which is then deleted. Throws at a difference.
 */
export async function checkPeer(
  service: Service,
  peer: Service,
  { get, list, create }: Scenarios,
): Promise<void> {
  await checkProducts(service, peer, get);
  assertEquals(
    await send(list, peer.origin, NUMBERS[0]!),
    await send(list, service.origin, NUMBERS[0]!),
    `${peer.name} returns another page`,
  );
  const products = [];
  for (const { origin } of [peer, service]) {
    const { data } = await send(create, origin, NUMBERS[0]!);
    products.push(withoutIdentity(data));
    const { path, client } = create;
    await send(
      { method: "DELETE", path: `${path}/${data.id}`, client },
      service.origin,
      0,
    );
  }
  assertEquals(
    products[0],
    products[1],
    `${peer.name} creates another product`,
  );
}

function withoutIdentity(product: object): unknown {
  return JSON.parse(
    JSON.stringify(
      product,
      (key, value) => IDENTITY.includes(key) ? undefined : value,
    ),
  );
}
