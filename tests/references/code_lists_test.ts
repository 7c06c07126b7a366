import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { codesIn } from "../../schema/onix_codes.ts";
import { pathOfTable, SHARED_TABLES } from "../../schema/records.ts";
import { openApp } from "../support/app/harness.ts";

Deno.test("GET code lists", async (t) => {
  await using app = await openApp();

  for (const table of SHARED_TABLES) {
    const path = `/api${pathOfTable(table)}`;
    await t.step(`GET ${path} returns all codes`, async () => {
      const org = await app.organization();
      const [{ count }] = await app.sql((sql) =>
        sql<[{ count: number }]>`select count(*)::int as count from ${
          sql(table)
        }`
      );

      const { status, body } = await org.get(path);
      const [first] = body.data;
      const { body: found } = await org.get(`${path}?code=${first.code}`);
      const one = await org.get(`${path}/${first.id}`);
      const again = await org.get(`${path}/${first.id}`, {
        "if-none-match": one.headers.get("etag")!,
      });

      assertEquals(status, 200);
      assertEquals(body.data.length, count);
      const codes = body.data.map(({ code }: { code: string }) => code);
      assertEquals(codes, codes.toSorted());
      assertEquals(found.data, [first]);
      assertEquals(one.body.data, first);
      assertEquals(again.status, 304);
    });

    await t.step(`POST, PUT and DELETE ${path} return 405`, async () => {
      const org = await app.organization();
      const unknown = `${path}/${uuidv7()}`;

      assertEquals((await org.get(`${path}?code=nothing`)).body.data, []);
      assertEquals((await org.get(`${path}?page=1`)).status, 400);
      assertEquals((await org.get(unknown)).status, 404);
      assertEquals((await org.post(path, { name: "A" })).status, 405);
      assertEquals((await org.put(unknown, { name: "A" })).status, 405);
      assertEquals((await org.delete(unknown)).status, 405);
      assertEquals((await org.get(path, { "x-api-key": "" })).status, 401);
    });
  }

  await t.step(
    "GET /code-lists lists the ONIX lists, and /code-lists/{number} their codes",
    async () => {
      const org = await app.organization();

      const { body } = await org.get("/api/code-lists");
      for (const { number, codes } of body.data) {
        const list = (await org.get(`/api/code-lists/${number}`)).body.data;
        assertEquals(list.length, codes, `${number}`);
      }
      const { body: { data: currencies } } = await org.get(
        "/api/code-lists/96",
      );

      const numbers = body.data.map(({ number }: { number: number }) => number);
      for (
        const number of [34, 46, 49, 57, 58, 61, 62, 64, 65, 68, 91, 93, 96]
      ) {
        assert(numbers.includes(number), `${number}`);
      }
      assertEquals(
        currencies.map(({ code }: { code: string }) => code),
        codesIn(96).toSorted(),
      );
      for (
        const number of ["0", "096", "35", "999", "9999", "x", "-1", "9 6"]
      ) {
        const { status } = await org.get(`/api/code-lists/${number}`);
        assertEquals(status, 404, number);
      }
    },
  );
});
