import { assertEquals } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("The series of a product");

it("is accepted if the request attaches it (specification, 2.1)", async ({ org }) => {
  const { path } = await org.create();

  const { status, body: { data } } = await org.put(path, {
    series_id: org.series,
    product_collections: [{ collection_id: org.series }],
  });

  assertEquals(status, 200);
  assertHas(data, { series_id: org.series, series_name: "Novels" });
  assertEquals(data.collections, [
    { id: org.series, name: "Novels", collection_type: "series" },
  ]);
});

it("may be any collection that is already attached", async ({ org }) => {
  const { path } = await org.create({
    product_collections: [{ collection_id: org.collection }],
  });

  const { status, body: { data } } = await org.put(path, {
    series_id: org.collection.toUpperCase(),
  });

  assertEquals(status, 200);
  assertHas(data, { series_id: org.collection, series_name: "Classics" });
});

it("is refused if it is not attached", async ({ org, app }) => {
  const other = await app.organization();
  const { path, product } = await org.create({
    product_collections: [{ collection_id: org.collection }],
  });
  const error = ["/series_id", "series_not_attached"] as const;

  for (
    const series_id of [
      org.series,
      other.series,
      org.license,
      crypto.randomUUID(),
    ]
  ) {
    const created = await org.post("/api/products", {
      title: "x",
      series_id,
      product_collections: [{ collection_id: org.collection }],
    });
    const updated = await org.put(path, { series_id });
    const emptied = await org.put(path, { series_id, product_collections: [] });

    for (const reply of [created, updated, emptied]) {
      assertDetails(reply, error);
    }
  }
  assertEquals((await org.get(path)).body.data, product);
});

it("cannot be detached while it is set", async ({ org }) => {
  const { path, product } = await org.create({
    series_id: org.series,
    product_collections: [{ collection_id: org.series }],
  });

  for (
    const product_collections of [[], [{ collection_id: org.collection }]]
  ) {
    const kept = await org.put(path, { product_collections });
    const given = await org.put(path, {
      series_id: org.series,
      product_collections,
    });

    assertDetails(kept, ["/product_collections", "series_not_attached"]);
    assertDetails(given, ["/series_id", "series_not_attached"]);
  }
  assertEquals((await org.get(path)).body.data, product);
});

it("changes together with the collections", async ({ org }) => {
  const { path } = await org.create({
    series_id: org.series,
    product_collections: [{ collection_id: org.series }],
  });

  const { status, body: { data } } = await org.put(path, {
    series_id: org.collection,
    product_collections: [{ collection_id: org.collection }],
  });

  assertEquals(status, 200);
  assertHas(data, {
    series_id: org.collection,
    series_name: "Classics",
    product_collections: [{ collection_id: org.collection }],
  });
});

it("is cleared by null, with or without the collections", async ({ org }) => {
  const attached = {
    series_id: org.series,
    product_collections: [{ collection_id: org.series }],
  };
  const { path } = await org.create(attached);

  const alone = await org.put(path, { series_id: null });
  await org.put(path, attached);
  const both = await org.put(path, {
    series_id: null,
    product_collections: [],
  });

  assertEquals([alone.status, both.status], [200, 200]);
  assertHas(alone.body.data, { ...attached, series_id: null });
  assertHas(both.body.data, { series_id: null, product_collections: [] });
  assertEquals("series_name" in alone.body.data, false);
  assertEquals("collections" in both.body.data, false);
});

it("of an unknown collection is reported as an unknown reference", async ({ org }) => {
  const series_id = crypto.randomUUID();

  const reply = await org.post("/api/products", {
    title: "x",
    series_id,
    product_collections: [{ collection_id: series_id }],
  });

  assertDetails(reply, [
    "/product_collections/0/collection_id",
    "unknown_reference",
  ]);
});
