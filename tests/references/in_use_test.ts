import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { bodyUsing, createRecord, createUse, USED_TABLES } from "../support/data/records.ts";

const it = testsOf("A record that products refer to");

for (const table of USED_TABLES) {
  it(`DELETE returns 409 with the number of products: ${table}`, async ({ org, app }) => {
    const record = await createRecord(org, table);
    const uses = [
      await createUse(app, org, table, record),
      await createUse(app, org, table, record),
    ];

    const counted = (await org.get(record.path)).body.data.products;
    const refused = await org.delete(record.path);
    await free(uses[0]!.id);
    const [{ count }] = (await org.delete(record.path)).body.error.details;
    await free(uses[1]!.id);
    const deleted = await org.delete(record.path);

    assertEquals(counted, 2);
    assertEquals(refused.status, 409);
    assertEquals(refused.body.error.code, "CONFLICT");
    assertEquals(refused.body.error.details, [
      { code: "in_use", count: 2, message: "2 products refer to it" },
    ]);
    assertEquals(count, 1);
    assertEquals(deleted.body.data, { id: record.id, deleted: true });

    async function free(id: string) {
      if (table === "publishing_programs") {
        await org.delete(`${record.path}/products/${id}`);
      } else {
        const { status } = await org.delete(`/api/products/${id}`);
        assertEquals(status, 200);
      }
    }
  });

  it(`has another ETag for each number: ${table}`, async ({ org, app }) => {
    const record = await createRecord(org, table);
    const unused = (await org.get(record.path)).headers.get("etag")!;
    await createUse(app, org, table, record);

    const used = await org.get(record.path, { "if-none-match": unused });
    const etag = used.headers.get("etag")!;
    const same = await org.get(record.path, { "if-none-match": etag });
    const put = await org.put(record.path, { name: "B" }, { "if-match": etag });
    const late = await org.put(record.path, { name: "C" }, {
      "if-match": etag,
    });

    assertEquals(used.status, 200);
    assertEquals(used.body.data.products, 1);
    assertEquals(
      [same, put, late].map(({ status }) => status),
      [304, 200, 412],
    );
  });

  it(`is either referenced or deleted by concurrent requests: ${table}`, async ({ org, app }) => {
    for (let round = 0; round < 6; round++) {
      const record = await createRecord(org, table);
      const product = await org.create();
      const body = await bodyUsing(app, table, record.id);
      const use = () =>
        table === "publishing_programs"
          ? org.put(`${record.path}/products/${product.id}`, {})
          : org.put(product.path, body);

      const early = round % 2 ? org.delete(record.path) : undefined;
      const [used, deleted] = await Promise.all([
        use(),
        early ?? org.delete(record.path),
      ]);

      const isDeleted = deleted.status === 200;
      if (!isDeleted) assertEquals(deleted.status, 409);
      const missing = table === "publishing_programs" ? 404 : 400;
      const done = table === "publishing_programs" ? 204 : 200;
      assertEquals(used.status, isDeleted ? missing : done);
      const { status, body: after } = await org.get(record.path);
      assertEquals(status, isDeleted ? 404 : 200);
      if (!isDeleted) assertEquals(after.data.products, 1);
    }
  });
}
