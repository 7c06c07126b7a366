import { assert, assertEquals } from "@std/assert";
import { assertDetails } from "../support/client/expect.ts";
import type { Reply } from "../support/client/envelope.ts";
import {
  ARRAYS,
  emptyProduct,
  type Entry,
  isEmpty,
  type Product,
  shown,
  written,
} from "./catalogue.ts";
import { errorsOf, isMalformed } from "./body_errors.ts";
import { resolved, type Scene, type Side } from "./scene.ts";
import type { Step } from "./steps.ts";

/** A step and its target. */
interface Move {
  scene: Scene;
  step: Step;
  side: Side;
  id: string;
  path: string;
  /** The product in the model, or undefined if it belongs to another organization or is deleted. */
  product: Product | undefined;
}

/** Executes the step in the service and in the model, and compares the results. */
export async function play(scene: Scene, step: Step): Promise<void> {
  const side = scene.sides[step.by]!;
  const owner = step.foreign ? scene.sides[1 - step.by]! : side;
  const id = owner.created[step.nth % owner.created.length] ??
    crypto.randomUUID();
  await PLAYS[step.operation]({
    scene,
    step,
    side,
    id,
    path: `/api/products/${id}`,
    product: side.catalogue.products.get(id),
  });
}

/** Compares the lists of both organizations with the model. */
export async function compareLists({ sides, world }: Scene): Promise<void> {
  for (const { client, catalogue } of sides) {
    const { body } = await client.get("/api/products?limit=100");

    const newest = [...catalogue.products.values()].reverse();
    assertEquals(
      body.data,
      newest.map((product) => inList(shown(product, catalogue, world))),
    );
    assertEquals(body.meta.total, newest.length);
  }
}

/** Compares every full product with the model. */
export async function compareProducts({ sides, world }: Scene): Promise<void> {
  for (const { client, catalogue } of sides) {
    for (const [id, product] of catalogue.products) {
      const { body } = await client.get(`/api/products/${id}`);

      assertEquals(body.data, shown(product, catalogue, world));
    }
  }
}

const PLAYS: Record<Step["operation"], (move: Move) => Promise<void>> = {
  async create({ scene, step, side }) {
    const { body, refused } = resolved(scene, step);
    const reply = await side.client.post("/api/products", body);
    const before = emptyProduct();

    if (refused.length > 0 || isMalformed(body, true)) {
      return assertMalformed(reply, refused);
    }
    const errors = errorsOf(body, before, side.catalogue, scene.world);
    if (errors.length > 0) return assertDetails(reply, ...errors);
    assertEquals(reply.status, 201);
    const { id, product_code, created_at, updated_at } = reply.body.data;
    assertEquals(updated_at, created_at);
    before.given = { id, product_code, created_at, updated_at };
    side.created.push(id);
    store(scene, side, before, body, reply);
  },

  async update({ scene, step, side, path, product }) {
    const { body, refused } = resolved(scene, step, product);
    const reply = await side.client.put(path, body);

    if (refused.length > 0 || isMalformed(body, false)) {
      return assertMalformed(reply, refused);
    }
    if (!product) return assertEquals(reply.status, 404);
    const errors = errorsOf(body, product, side.catalogue, scene.world);
    if (errors.length > 0) return assertDetails(reply, ...errors);
    assertEquals(reply.status, 200);
    const { updated_at } = reply.body.data;
    const before = String(product.given.updated_at);
    assert(isEmpty(body) ? updated_at === before : updated_at > before);
    product.given.updated_at = updated_at;
    store(scene, side, product, body, reply);
  },

  async get({ scene, side, path, product }) {
    const { status, body } = await side.client.get(path);

    if (!product) return assertEquals(status, 404);
    assertEquals(body.data, shown(product, side.catalogue, scene.world));
  },

  async delete({ side, id, path, product }) {
    const { products, programmed } = side.catalogue;
    const { status, body } = await side.client.delete(path);

    if (product && programmed.has(id)) return assertEquals(status, 409);
    assertEquals(body.data, { id, deleted: product !== undefined });
    products.delete(id);
  },

  async list({ scene, step, side: { client, catalogue } }) {
    const query = resolved(scene, step).body;
    const { limit = 50, page = 1, search = "", ...filters } = query;
    const found = [...catalogue.products.values()].reverse()
      .map((product) => shown(product, catalogue, scene.world))
      .filter((product) =>
        contains(product, String(search)) &&
        Object.entries(filters).every(([field, id]) => product[field] === id)
      );
    const start = (Number(page) - 1) * Number(limit);

    const { body } = await client.get(
      `/api/products?${new URLSearchParams(query as Record<string, string>)}`,
    );

    const items = found.slice(start, start + Number(limit)).map(inList);
    assertEquals(body.data, items);
    assertEquals(body.meta, {
      page,
      limit,
      total: found.length,
      total_pages: Math.ceil(found.length / Number(limit)),
    });
  },

  async program({ scene: { app }, side: { client, catalogue }, id, product }) {
    if (!product) return;
    const { programmed } = catalogue;
    await app.sql.begin((sql) =>
      programmed.has(id)
        ? sql`
          delete from publishing_program_products
          where organization_id = ${client.id} and product_id = ${id}
        `
        : sql`
          insert into publishing_program_products (organization_id, program_id, product_id)
          values (${client.id}, ${client.program}, ${id})
        `
    );
    if (!programmed.delete(id)) programmed.add(id);
  },
};

/** Compares the response with the model, and stores the ids that the service assigned. */
function store(
  { world }: Scene,
  { catalogue }: Side,
  before: Product,
  body: Entry,
  { body: { data } }: Reply,
): void {
  const product = written(before, body);
  const known = new Set(
    Object.values(before.arrays).flat().map(({ id }) => id),
  );
  for (
    const array of ["product_prices", "packing_configurations", "collateral"]
  ) {
    for (const [i, row] of product.arrays[array]!.entries()) {
      if (row.id) continue;
      row.id = data[array][i]?.id;
      assert(row.id && !known.has(row.id), `${array} ${i} is a new row`);
      known.add(row.id);
    }
  }
  const { format_id } = product.core;
  if ("product_form_id" in body && format_id) {
    catalogue.forms.set(String(format_id), body.product_form_id);
  }
  catalogue.products.set(String(product.given.id), product);
  assertEquals(data, shown(product, catalogue, world));
}

/** Expects a 400 with at least the invalid values among its details. */
function assertMalformed(
  { status, body }: Reply,
  refused: [pointer: string, code: string][],
): void {
  assertEquals(status, 400);
  const details: { pointer: string; code: string }[] = body.error.details;
  for (const error of refused) {
    assert(
      details.some(({ pointer, code }) => `${[pointer, code]}` === `${error}`),
      `${error}`,
    );
  }
  assert(details.length > 0);
}

function inList(product: Entry): Entry {
  return Object.fromEntries(
    Object.entries(product).filter(([field]) => !FULL.includes(field)),
  );
}

const FULL = [...ARRAYS, "product_territories", "product_sales_rights"];

function contains(product: Entry, term: string): boolean {
  const text = keyOf(
    [product.title, product.product_code, product.isbn13, product.isbn10]
      .join("\n"),
  );
  return term.split(" ").every((word) => {
    const bare = /^[\d-]+$/.test(word) ? word.replaceAll("-", "") : word;
    return text.includes(keyOf(word)) || text.includes(keyOf(bare));
  });
}

function keyOf(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
