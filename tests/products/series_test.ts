import { assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { assertDetails, assertHas } from "../support/client/expect.ts";

/*
 * The series of a product is one of its collections (specification, 2.1).
 */

type Body = Record<string, unknown>;

/** Collections of a product, of which the first may be its series. */
const within = (...ids: string[]) => ({
  product_collections: ids.map((collection_id) => ({ collection_id })),
});

const serial = (id: string): Body => ({ series_id: id, ...within(id) });

/** What a product has, what a body changes, and the series that it has then. */
const ACCEPTED: Record<
  string,
  (org: Organization) => [has: Body, sent: Body, series: string | null]
> = {
  "with its collection": ({ series }) => [{}, serial(series), "Novels"],
  "of a collection that is there, of any type and in any case": (
    { collection },
  ) => [
    within(collection),
    { series_id: collection.toUpperCase() },
    "Classics",
  ],
  "in place of another": ({ series, collection }) => [
    serial(series),
    serial(collection),
    "Classics",
  ],
  "by null": ({ series }) => [serial(series), { series_id: null }, null],
  "by null, with the collection": ({ series }) => [
    serial(series),
    { series_id: null, product_collections: [] },
    null,
  ],
};

/** What a product has, bodies that are refused, and the field at fault. */
const REFUSED: [
  pointer: string,
  rows: (
    org: Organization,
    other: Organization,
  ) => [has: Body, ...sent: Body[]],
][] = [
  ["/series_id", ({ series, collection, license }, other) => [
    within(collection),
    ...[series, other.series, license, uuidv7()].flatMap((series_id) => [
      { series_id },
      { series_id, ...within(collection) },
      { series_id, product_collections: [] },
    ]),
  ]],
  ["/series_id", ({ series, collection }) => [
    serial(series),
    { series_id: series, product_collections: [] },
    { series_id: series, ...within(collection) },
  ]],
  ["/product_collections", ({ series, collection }) => [
    serial(series),
    { product_collections: [] },
    within(collection),
  ]],
];

const it = testsOf("The series of a product");

for (const [how, rows] of Object.entries(ACCEPTED)) {
  it(`is set ${how}`, async ({ org }) => {
    const [has, sent, series] = rows(org);
    const { path } = await org.create(has);

    const { status, body: { data } } = await org.put(path, sent);

    assertEquals([status, data.series_name ?? null], [200, series]);
    const { series_id, ...collections } = { ...has, ...sent };
    const id = (series_id as string | null)?.toLowerCase() ?? null;
    assertHas(data, { ...collections, series_id: id });
    // Summaries show the collections with their names.
    assertEquals(
      (data.collections ?? []).map(({ id }: { id: string }) => id),
      data.product_collections.map((
        { collection_id }: { collection_id: string },
      ) => collection_id),
    );
  });
}

for (const [i, [pointer, rows]] of REFUSED.entries()) {
  it(`is refused without its collection, ${i + 1}: ${pointer}`, async ({ org, app }) => {
    const [has, ...bodies] = rows(org, await app.organization());
    const { path, product } = await org.create(has);
    for (const body of bodies) {
      const error = [pointer, "series_not_attached"] as const;
      assertDetails(await org.put(path, body), error);
      if (!("series_id" in body && "product_collections" in body)) continue;
      const created = { title: "x", ...body };
      assertDetails(await org.post("/api/products", created), error);
    }
    assertEquals((await org.get(path)).body.data, product);
  });
}

it("of an unknown collection is reported as an unknown reference", async ({ org }) => {
  const reply = await org.post("/api/products", {
    title: "x",
    ...serial(uuidv7()),
  });

  assertDetails(reply, [
    "/product_collections/0/collection_id",
    "unknown_reference",
  ]);
});
