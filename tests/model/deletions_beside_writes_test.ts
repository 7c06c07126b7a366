import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { ownReference } from "../../features/onix/schema/mapping/own_reference.ts";
import { message } from "../onix/support.ts";
import { type App, SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { operationsOf } from "../support/app/own_app.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import type { Reply } from "../support/client/envelope.ts";
import { imported, withHeader } from "../support/client/transfer.ts";

/*
 * Deletions and restorations of a product run at the same time as every way to write it. A
 * response shows what its own request wrote, and the history has one entry for it. The response of
 * a request that wrote nothing says so, for example 404.
 *
 * For example, a PUT that runs between a DELETE and a restoration is 404. It is not 200 with the
 * product as the restoration left it.
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** The embedded database has one session: only a server runs transactions at the same time. */
const ROUNDS = !SETTINGS.url ? 2 : IS_WHOLE ? 40 : 6;

/** A request to a product that other requests write at the same time. */
interface Scene {
  app: App;
  org: Organization;
  id: string;
  path: string;
  /** A number that no other request writes. */
  number: number;
  headers: Record<string, string>;
}

/**
 * What a response claims that its request wrote: a product with these fields, a deletion, or
 * nothing.
 */
type Claim = { product: Any } | "deletion" | undefined;

/** Sends a request, and returns what its response claims. Fails for an unexpected response. */
type Way = (scene: Scene) => Promise<Claim>;

function assertStatus({ status, text }: Reply, ...expected: number[]): void {
  assert(expected.includes(status), `${status} ${text.slice(0, 300)}`);
}

/** A way that sends a `PUT` below the product. */
function put(body: (scene: Scene) => unknown, place = ""): Way {
  return async (scene) => {
    const { org, path, headers } = scene;
    const reply = await org.put(`${path}${place}`, body(scene), headers);
    assertStatus(reply, 200, 404);
    return reply.status === 200 ? { product: reply.body.data } : undefined;
  };
}

/** A way that sends one operation in a batch. */
function batch(
  operation: (scene: Scene) => object,
  { refusal = 404, ...options }: { refusal?: number; atomic?: boolean } = {},
): Way {
  return async (scene) => {
    const { org, id, headers } = scene;
    const operations = [{ id, ...operation(scene) }];
    const body = { operations, ...options };
    const reply = await org.post("/api/products/batch", body, headers);
    assertStatus(reply, 200, ...options.atomic ? [refusal] : []);
    if (reply.status !== 200) return;
    const [{ status, data }] = reply.body.data;
    assert([200, refusal].includes(status), reply.text);
    if (status !== 200) return;
    if (data.deleted === undefined) return { product: data };
    return data.deleted ? "deletion" : undefined;
  };
}

const remove: Way = async ({ org, path, headers }) => {
  const reply = await org.delete(path, headers);
  assertStatus(reply, 200);
  return reply.body.data.deleted ? "deletion" : undefined;
};

/** Restores the product if it is deleted. */
const restore: Way = async ({ org, path, headers }) => {
  const reply = await org.post(`${path}/restore`, {}, headers);
  assertStatus(reply, 200, 400);
  return reply.status === 200 ? { product: reply.body.data.product } : undefined;
};

const COUNTRIES = ["AT", "BE", "DE", "DK", "ES", "FR", "GB", "IE", "IT", "NL"];

/** A territory that no other request writes. */
const territory = ({ number }: Scene) => ({
  countries_included: COUNTRIES.filter((_, bit) => number & 1 << bit),
});

const WRITES: Record<string, Way> = {
  "a PUT": put(({ number }) => ({ page_count: number })),
  "a PUT of fields that are counted": put(({ org, number }) => ({
    page_count: number,
    imprint_id: number % 2 ? org.imprint : null,
  })),
  "a PUT of rows": put(({ org, number }) => ({
    page_count: number,
    contributors: [{ contributor_id: org.contributor, contributor_role_code: "A01" }],
  })),
  // The statement that writes it returns no long product.
  "a PUT of a long product": put(({ number }) => ({
    page_count: number,
    collateral: [1, 2].map(() => ({
      collateral_type: "text_content",
      text: "x".repeat(100_000),
    })),
  })),
  "a conditional PUT": (scene) => {
    const headers = { ...scene.headers, "if-match": "*" };
    return put(({ number }) => ({ page_count: number }))({ ...scene, headers });
  },
  "a PUT of territories": put(
    (scene) => [{ markets: [{ territory: territory(scene) }] }],
    "/territories",
  ),
  "a PUT of sales rights": put(
    (scene) => [{ sales_rights_type: "01", territory: territory(scene) }],
    "/sales-rights",
  ),
  "a batch": batch(({ number }) => ({ method: "update", body: { page_count: number } })),
  "an atomic batch": batch(
    ({ number }) => ({ method: "update", body: { page_count: number } }),
    { atomic: true },
  ),
  "a batch that deletes": batch(() => ({ method: "delete" })),
  "a batch that restores": batch(() => ({ method: "restore" }), { refusal: 400 }),
  "a batch that stores its response": (scene) => {
    const headers = { ...scene.headers, "idempotency-key": uuidv7() };
    return WRITES["a batch"]!({ ...scene, headers });
  },
  "a sheet": async ({ app, org, id, number, headers }) => {
    const reply = await app.send("/api/csv/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/csv", ...headers },
      body: `id,page_count\n${id},${number}\n`,
    });
    assertStatus(reply, 200);
    const { updated, refused, outcomes } = reply.body.data;
    assertEquals(updated + refused, 1, reply.text);
    if (refused) assertEquals(outcomes[0].messages[0].code, "not_found");
    return updated ? { product: { page_count: number } } : undefined;
  },
  "a message of ONIX": async ({ app, org, id, number, headers }) => {
    const reply = await app.send("/api/onix/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/xml", ...headers },
      body: message(`<Product>
        <RecordReference>${
        ownReference(id)
      }</RecordReference><NotificationType>03</NotificationType>
        <ProductIdentifier><ProductIDType>01</ProductIDType><IDTypeName>Ours</IDTypeName><IDValue>${id}</IDValue></ProductIdentifier>
        <DescriptiveDetail><ProductComposition>00</ProductComposition><ProductForm>BC</ProductForm>
          <TitleDetail><TitleType>01</TitleType><TitleElement><TitleElementLevel>01</TitleElementLevel><TitleText>Emma</TitleText></TitleElement></TitleDetail>
          <Extent><ExtentType>00</ExtentType><ExtentValue>${number}</ExtentValue><ExtentUnit>03</ExtentUnit></Extent>
        </DescriptiveDetail></Product>`),
    });
    assertStatus(reply, 200);
    const [outcome] = reply.body.data.outcomes;
    // Without the product, the message creates another one, which nothing else writes.
    return outcome?.outcome === "updated" && outcome.id === id
      ? { product: { page_count: number } }
      : undefined;
  },
};

const it = testsOf("Beside deletions and restorations");

for (const [name, write] of Object.entries(WRITES)) {
  it(`the response to ${name} shows what it wrote`, async ({ app, org }) => {
    const { id, path } = await org.create({ page_count: 1 });
    const claims = new Map<string, Claim>();
    let number = 1;
    const send = async (way: Way) => {
      const request = `q-${uuidv7()}`;
      const headers = { "x-request-id": request };
      claims.set(request, await way({ app, org, id, path, number: ++number, headers }));
    };
    for (let round = 0; round < ROUNDS; round++) {
      const ways = round % 2
        ? [write, remove, write, restore, write, remove, restore, write]
        : [remove, write, restore, write, write, restore, remove, write];
      await Promise.all(ways.map(send));
      await restore({ app, org, id, path, number, headers: {} });
    }
    await assertInHistory(org, path, claims);
  });
}

it("an import of lines writes what it reports", async ({ app, org }) => {
  const { id, path } = await org.create({ page_count: 1 });
  const operations = operationsOf(app, org);
  const claims = new Map<string, Claim>();
  const send = async (way: Way) => {
    const request = `q-${uuidv7()}`;
    const headers = { "x-request-id": request };
    claims.set(request, await way({ app, org, id, path, number: 1, headers }));
  };
  const numbers = Array.from({ length: 4 * ROUNDS }, (_, i) => i + 2);

  await Promise.all([
    (async () => {
      for (const page_count of numbers) {
        const line = { kind: "product", id, title: "Emma", page_count };
        assertEquals(await imported(operations, withHeader(JSON.stringify(line))), []);
      }
    })(),
    (async () => {
      for (const _ of numbers) {
        await send(remove);
        await send(restore);
      }
    })(),
    (async () => {
      for (const _ of numbers) await send(remove);
    })(),
  ]);

  const states = await assertInHistory(org, path, claims);
  const found = states.flatMap(({ product }) => product?.page_count ?? []);
  assertEquals(numbers.filter((number) => !found.includes(number)), []);
});

/** An entry of the history, with the product after it, or null after a deletion. */
interface State {
  request_id: string | null;
  product: Any;
}

/** Expects one entry of the history for each claim, with what it claims, and no other entries of requests. */
async function assertInHistory(
  org: Organization,
  path: string,
  claims: ReadonlyMap<string, Claim>,
): Promise<State[]> {
  const states: State[] = [];
  for (let after = "";;) {
    const { body } = await org.get(`${path}/history?limit=100${after}`);
    for (const { version, event, request_id } of body.data) {
      const product = event === "deleted"
        ? null
        : (await org.get(`${path}?version=${version}`)).body.data;
      states.push({ request_id, product });
    }
    if (!body.meta.more) break;
    after = `&after=${body.meta.cursor}`;
  }
  for (const [request, claim] of claims) {
    const entries = states.filter(({ request_id }) => request_id === request);
    if (!claim) assertEquals(entries, [], "A request that claims nothing has written");
    else {
      assertEquals(entries.length, 1, `${request} claims ${shortened(claim)}`);
      const [{ product }] = entries as [State];
      const shown = claim === "deletion" ? null : { ...product, ...claim.product };
      assertEquals(shown, product);
    }
  }
  return states;
}

function shortened(claim: Claim): string {
  return JSON.stringify(claim).slice(0, 300);
}
