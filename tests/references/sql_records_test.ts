import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { OWN_TABLES } from "../../schema/records.ts";
import { openApp } from "../support/app/harness.ts";
import { createRecord } from "../support/data/records.ts";

Deno.test("An SQL change of a record updates its updated_at", async ({ step: it }) => {
  await using app = await openApp();
  const { sql } = app;
  const org = await app.organization();

  for (const table of app.isDistributed ? [] : OWN_TABLES) {
    await it(`and its ETag: ${table}`, async () => {
      const { id, path } = await createRecord(org, table);
      const before = await org.get(path);

      await sql`update ${sql(table)} set name = name where id = ${id}`;

      const after = await org.get(path);
      assertMoved(before.body.data, after.body.data);
      assertNotEquals(after.headers.get("etag"), before.headers.get("etag"));
      const ifMatch = { "if-match": before.headers.get("etag")! };
      const { status } = await org.put(path, { name: "Quay" }, ifMatch);
      assertEquals(status, 412);
    });

    await it(`by at least a millisecond: ${table}`, async () => {
      const { id, path } = await createRecord(org, table);
      const write = (set: string) =>
        sql`update ${sql(table)} set ${sql.unsafe(set)} where id = ${id}`;

      await write("updated_at = '2100-01-01T00:00:00Z'");
      await write("updated_at = now()");

      const { body } = await org.get(path);
      assertEquals(body.data.updated_at, "2100-01-01T00:00:00.001Z");
    });
  }

  await it("and a write by the service updates it once", async () => {
    const { id, path } = await createRecord(org, "publishers");
    await sql`update publishers set updated_at = '2100-01-01T00:00:00Z' where id = ${id}`;

    const { body } = await org.put(path, { name: "Quay" });

    assertEquals(body.data.updated_at, "2100-01-01T00:00:00.001Z");
  });
});

function assertMoved(
  before: { updated_at: string },
  after: { updated_at: string },
) {
  const [earlier, later] = [before, after].map(({ updated_at }) =>
    Date.parse(updated_at)
  );
  assert(later! >= earlier! + 1, `${before.updated_at} ${after.updated_at}`);
}
