import { assertEquals, assertNotEquals } from "@std/assert";
import { OWN_TABLES } from "../../schema/records.ts";
import { openApp } from "../support/app/harness.ts";
import { createRecord } from "../support/data/records.ts";

Deno.test("An SQL change of a record updates its updated_at", async ({ step: it }) => {
  await using app = await openApp();
  const { sql } = app;
  const org = await app.organization();

  for (const table of app.isDistributed ? [] : OWN_TABLES) {
    await it(`by at least a millisecond, and its ETag: ${table}`, async () => {
      const { id, path } = await createRecord(org, table);
      const write = (set: string) =>
        sql`update ${sql(table)} set ${sql.unsafe(set)} where id = ${id}`;
      await write("updated_at = '2100-01-01T00:00:00Z'");
      const before = await org.get(path);

      await write("name = name");
      const after = await org.get(path);
      await write("updated_at = now()");
      const later = await org.get(path);

      assertEquals(
        [before, after, later].map(({ body }) => body.data.updated_at),
        ["000", "001", "002"].map((ms) => `2100-01-01T00:00:00.${ms}Z`),
      );
      assertNotEquals(after.headers.get("etag"), before.headers.get("etag"));
      const ifMatch = { "if-match": before.headers.get("etag")! };
      const { status } = await org.put(path, { name: "Quay" }, ifMatch);
      assertEquals(status, 412);
    });
  }

  await it("and a write by the service updates it once", async () => {
    const { id, path } = await createRecord(org, "publishers");
    await sql`update publishers set updated_at = '2100-01-01T00:00:00Z' where id = ${id}`;

    const { body } = await org.put(path, { name: "Quay" });

    assertEquals(body.data.updated_at, "2100-01-01T00:00:00.001Z");
  });
});
