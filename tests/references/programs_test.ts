import { assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("/publishing-programs/{id}/products");

it("PUT prevents the deletion of a product, DELETE allows it", async ({ org }) => {
  const products = `/api/publishing-programs/${org.program}/products`;
  const { id, path } = await org.create();

  const added = await org.put(`${products}/${id}`, undefined);
  const again = await org.put(`${products}/${id}`, undefined);
  const refused = await org.delete(path);
  const removed = await org.delete(`${products}/${id}`);
  const removedAgain = await org.delete(`${products}/${id}`);
  const deleted = await org.delete(path);

  assertEquals(
    [added, again, refused, removed, removedAgain, deleted]
      .map(({ status }) => status),
    [204, 204, 409, 204, 204, 200],
  );
  assertEquals(refused.body.error.code, "CONFLICT");
});

it("GET lists ids and titles in pages", async ({ org }) => {
  const products = `/api/publishing-programs/${org.program}/products`;
  const ids: Record<string, string> = {};
  for (const title of ["Emma", "émigré", "Dracula"]) {
    ids[title] = (await org.create({ title })).id;
    await org.put(`${products}/${ids[title]}`, undefined);
  }

  const first = await org.get(`${products}?limit=2`);
  const second = await org.get(`${products}?limit=2&page=2`);

  assertEquals(first.body.data, [
    { id: ids.Dracula, title: "Dracula" },
    { id: ids["émigré"], title: "émigré" },
  ]);
  assertEquals(second.body.data, [{ id: ids.Emma, title: "Emma" }]);
  assertEquals(second.body.meta, {
    page: 2,
    limit: 2,
    total: 3,
    total_pages: 2,
  });
  assertEquals((await org.get(`${products}?search=emma`)).status, 400);
});

it("returns 404 for an unknown program, and for products of another organization", async ({ org, app }) => {
  const { id } = await org.create();
  const foreign = await (await app.organization()).create();
  const products = `/api/publishing-programs/${org.program}/products`;
  const unknown = uuidv7();

  const { status, body } = await org.put(
    `/api/publishing-programs/${unknown}/products/${id}`,
    undefined,
  );

  assertEquals(status, 404);
  assertEquals(
    body.error.message,
    `No publishing program with id "${unknown}"`,
  );
  for (const product of [foreign.id, uuidv7()]) {
    assertEquals(
      (await org.put(`${products}/${product}`, undefined)).status,
      404,
    );
    assertEquals((await org.delete(`${products}/${product}`)).status, 204);
  }
  assertEquals((await org.get(products)).body.data, []);
});
