import { assertEquals } from "@std/assert";
import { type App, openApp } from "../support/app/harness.ts";
import { idOfCode, type Organization } from "../support/app/organization.ts";
import { assertHas } from "../support/client/expect.ts";
import type { Reply } from "../support/client/envelope.ts";
import { errorsOf } from "../support/client/writing.ts";
import {
  equalEntries,
  type Errors,
  type Faulty,
  faultyChanges,
  faultyIds,
  faultyShapes,
  faultyValues,
  pathsOf,
  pathsOfArray,
  type Place,
  placesOf,
  placesOfArray,
  type Records,
  unknownReferences,
  type Valid,
  validObjects,
  valueAt,
  wholeArray,
  wholeObject,
} from "../support/data/faults.ts";
import { writableFields } from "../support/data/filled_fields.ts";
import { PRODUCT, TREES } from "../support/data/fields.ts";

/*
 * Sends each kind of value to every field that bodies have, at every depth and
 * through every operation that takes such a body. What a single field does beyond its
 * kind has tests of its own.
 */

/** An operation that takes a body. */
interface Operation {
  name: string;
  kind: "create" | "update";
  /** Returns the errors of each body. */
  send(bodies: unknown[]): Promise<Errors[]>;
}

/** A kind of body. */
interface Body {
  name: string;
  /** Its name in the OpenAPI document. */
  schema: string;
  /** The paths of its fields. */
  paths: string[];
  places: Place[];
  operations: Operation[];
  /** Creates a product with such a body. */
  create(body: unknown): Promise<Reply>;
  update(path: string, body: unknown): Promise<Reply>;
  /** The part of a product that is such a body. */
  shown(product: unknown): unknown;
}

Deno.test("The fields of a body", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const other = await app.organization();
  const records = await recordsOf(app, org);
  const own = await createWhole(org, records);
  const sibling = await createWhole(org, records);
  const foreign = await createWhole(other, await recordsOf(app, other));

  const bodies = bodiesOf(org, own, records);

  await it("are those of the OpenAPI document", () => {
    for (const { schema, paths } of bodies) {
      assertEquals(new Set(paths), new Set(writableFields(schema)));
    }
  });

  for (const { name, places, operations, shown } of bodies) {
    const faults: Record<string, Faulty[]> = {
      "refuse every other value": places.flatMap((place) => [
        ...faultyValues(place, records),
      ]),
      "refuse every other change": places.flatMap((place) => [
        ...faultyChanges(place, shown(own.product)),
      ]),
      "refuse other types, missing fields and unknown ones": places.flatMap((
        place,
      ) => [...faultyShapes(place, records)]),
      "refuse what the organization does not have": places.flatMap((place) => [
        ...unknownReferences(place, records, privateRecords(other)),
      ]),
      "refuse equal entries": places.flatMap((place) => [
        ...equalEntries(place, records),
      ]),
      "refuse ids of no entry": places.flatMap((place) => [
        ...faultyIds(
          place,
          records,
          shown(own.product),
          [sibling, foreign].map(({ product }) => shown(product)),
        ),
      ]),
    };
    for (const [behaviour, all] of Object.entries(faults)) {
      for (const { name: operation, kind, send } of operations) {
        await it(`of ${name} ${behaviour}: ${operation}`, async () => {
          const sent = all.filter(({ onlyOn = kind }) => onlyOn === kind);

          const errors = await send(sent.map(({ body }) => body));

          for (const [i, { body, errors: expected }] of sent.entries()) {
            const message = JSON.stringify(body).slice(0, 500);
            assertEquals(errors[i]!.sort(), expected.sort(), message);
          }
          assertEquals((await org.get(own.path)).body.data, own.product);
          assertEquals(Reflect.get({}, "polluted"), undefined);
        });
      }
    }
  }

  await it("come back as sent", async () => {
    for (const { places, create, update, shown } of bodies) {
      for (const place of places) {
        const { at, bodyWith, array } = place;
        const withIds = array?.hasIds;
        for (const valid of validObjects(place, records)) {
          const assertStored = (reply: Reply, valid: Valid[]) => {
            assertEquals(reply.body.error, null);
            valid.forEach(({ stored }, i) =>
              assertHas(valueAt(shown(reply.body.data), at(i)), stored, at(i))
            );
          };
          const created = await create(
            bodyWith(valid.map(({ object }) => object)),
          );
          assertStored(created, valid);

          // Each row gets the values of another.
          const reversed = valid.toReversed();
          const changed = bodyWith(reversed.map(({ object }, i) => ({
            ...withIds &&
              { id: valueAt(shown(created.body.data), `${at(i)}/id`) },
            ...object,
          })));
          const path = withIds ? `/api/products/${created.body.data.id}` : own.path;
          assertStored(await update(path, changed), reversed);
        }
      }
    }
  });
});

/** A product with an entry of each type in each array. */
interface Whole {
  id: string;
  path: string;
  // deno-lint-ignore no-explicit-any
  product: any;
}

async function createWhole(
  org: Organization,
  records: Records,
): Promise<Whole> {
  const { id, path } = await org.create(wholeObject(PRODUCT, records));
  for (const tree of TREES) {
    await org.put(`${path}/${tree.path}`, wholeArray(tree.array, records));
  }
  return { id, path, product: (await org.get(path)).body.data };
}

/** The schemas of the arrays that have paths of their own. */
const SCHEMAS: Record<string, string> = {
  product_territories: "ReplaceTerritories",
  product_sales_rights: "ReplaceSalesRights",
};

function bodiesOf(org: Organization, own: Whole, records: Records): Body[] {
  const { id, path } = own;
  const create = (body: unknown) => org.post("/api/products", body);
  const update = (body: unknown) => org.put(path, body);
  return [
    {
      name: "a product",
      schema: "CreateProduct",
      paths: pathsOf(PRODUCT),
      places: placesOf(PRODUCT, records),
      operations: [
        alone("POST", "create", create),
        alone("PUT", "update", update),
        inBatches(org, "create", {}),
        inBatches(org, "update", { id }),
      ],
      create,
      update: (path, body) => org.put(path, body),
      shown: (product) => product,
    },
    ...TREES.map((tree): Body => {
      const { name, array } = tree;
      const at = (path: string) => `${path}/${tree.path}`;
      return {
        name,
        schema: SCHEMAS[name]!,
        paths: ["", ...pathsOfArray(array)],
        places: placesOfArray(array, records),
        operations: [
          alone("PUT", "update", (body) => org.put(at(path), body)),
        ],
        async create(body) {
          const { path } = await org.create();
          return await org.put(at(path), body);
        },
        update: (path, body) => org.put(at(path), body),
        shown: (product) => valueAt(product, `/${name}`),
      };
    }),
  ];
}

/** Sends each body in a request of its own. */
function alone(
  name: string,
  kind: Operation["kind"],
  write: (body: unknown) => Promise<Reply>,
): Operation {
  return {
    name,
    kind,
    async send(bodies) {
      const errors = [];
      for (const body of bodies) {
        errors.push(errorsIn((await write(body)).body));
      }
      return errors;
    },
  };
}

/** The largest batch, in characters and in operations. */
const BATCH = { length: 500_000, operations: 100 };

/** Sends many bodies as operations of a batch. */
function inBatches(
  org: Organization,
  method: Operation["kind"],
  target: object,
): Operation {
  return {
    name: `${method} in a batch`,
    kind: method,
    async send(bodies) {
      const errors: Errors[] = [];
      let operations: string[] = [];
      async function flush() {
        const body = `{"operations":[${operations}]}`;
        const reply = await org.post("/api/products/batch", body);
        errors.push(...reply.body.data.map(errorsIn));
        operations = [];
      }
      for (const body of bodies) {
        const operation = JSON.stringify({ method, ...target, body });
        const length = operations.join().length + operation.length;
        if (
          length > BATCH.length || operations.length === BATCH.operations
        ) await flush();
        operations.push(operation);
      }
      if (operations.length > 0) await flush();
      return errors;
    },
  };
}

/** The errors in a response, or in the result of an operation of a batch. */
function errorsIn(result: Reply["body"]): Errors {
  return result.error ? errorsOf(result) : [];
}

/** A record of the organization in every table that bodies refer to. */
async function recordsOf(app: App, org: Organization): Promise<Records> {
  return {
    ...privateRecords(org),
    contributor_roles: await idOfCode(app, "contributor_roles", "A01"),
    publishing_statuses: await idOfCode(app, "publishing_statuses", "04"),
    product_availabilities: await idOfCode(app, "product_availabilities", "21"),
    lifecycle_statuses: await idOfCode(app, "lifecycle_statuses", "active"),
    product_forms: await idOfCode(app, "product_forms", "BC"),
  };
}

/** The records that other organizations cannot use. */
function privateRecords(org: Organization): Records {
  return {
    formats: org.format,
    titles: org.title,
    licenses: org.license,
    seasons: org.season,
    publishers: org.publisher,
    divisions: org.division,
    imprints: org.imprint,
    contributors: org.contributor,
    collections: org.collection,
    custom_fields: org.customField,
  };
}
