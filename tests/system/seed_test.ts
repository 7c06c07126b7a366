import { assert, assertEquals, assertMatch } from "@std/assert";
import { seed } from "../../db/migrate.ts";
import { CODE_LISTS } from "../../schema/onix_codes.ts";
import { isbn10CheckDigit, isbn13CheckDigit } from "../../schema/values.ts";
import { inTime } from "../support/app/deadline.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";

const DEMO = await Deno.readTextFile(
  new URL("../../sql/demo.sql", import.meta.url),
);

/** Ids that every installation has had since the first release. */
const IDS: Record<string, Record<string, string>> = {
  contributor_roles: {
    A01: "1841097f-f532-5e84-9966-39e409550fd7",
    Z99: "b43a2e57-c4a1-56ec-add6-c0460d68e93d",
  },
  publishing_statuses: {
    "00": "ec3181c5-8d40-53d3-a229-61db36f7a8c9",
    "18": "172e23ea-3606-529a-b03f-db1bb7e73c66",
  },
  product_availabilities: {
    "01": "d8db8239-4058-5155-859f-3f14c23c57c5",
    "99": "fb4617a1-d15f-5f0e-853b-a00f33891b24",
  },
  product_forms: {
    "00": "b8ab589b-deb3-5e4d-b60b-e9aa5a4ea8e1",
    ZZ: "f685b53f-d929-5d97-98f9-1c99c073f1c4",
  },
  lifecycle_statuses: {
    active: "32a77f6f-d320-5e69-ad14-4ddf65390f41",
    out_of_print: "5e7642f0-7fca-57f5-9635-7030b08ff020",
  },
};

/** The lists that a table of their own shows. */
const TABLES = {
  17: "contributor_roles",
  64: "publishing_statuses",
  65: "product_availabilities",
  150: "product_forms",
};

Deno.test("The code lists in the database", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const rowsOf = (table: string, columns: string, order: string) =>
    sql.unsafe(
      `select ${columns} from ${table} order by ${order} collate "C"`,
    );

  for (const [table, ids] of Object.entries(IDS)) {
    await it(`have their ids: ${table}`, async () => {
      const rows = await rowsOf(table, "code, id", "code") as {
        code: string;
        id: string;
      }[];

      const found = new Map(rows.map(({ code, id }) => [code, id]));
      for (const [code, id] of Object.entries(ids)) {
        assertEquals(found.get(code), id);
      }
    });
  }

  for (const [list, table] of Object.entries(TABLES)) {
    await it(`have the codes of ONIX List ${list}: ${table}`, async () => {
      const rows = await rowsOf(table, "code, name as label", "code");

      assertEquals([...rows], labelled(CODE_LISTS[list as "17"].codes));
    });
  }

  await it("have the labels of all lists", async () => {
    const rows = await rowsOf(
      "onix_codes",
      "list, code, label, deprecated",
      "list, code",
    );

    const expected = Object.entries(CODE_LISTS).flatMap(([list, { codes }]) =>
      sorted(codes).map((code) => ({
        list: Number(list),
        code: code.code,
        label: code.label,
        deprecated: "deprecated" in code,
      }))
    );
    assertEquals([...rows], expected);
  });

  await it("keep the codes that a later issue lacks", async () => {
    const rowsWith = (code: string) =>
      sql`select label from onix_codes where list = 1 and code = ${code}`;
    await sql`insert into onix_codes (list, code, label) values (1, 'OLD', 'Kept')`;

    await seed(app.database.for({ deadline: performance.now() + 60_000 }));

    assertEquals([...await rowsWith("OLD")], [{ label: "Kept" }]);
    await sql`delete from onix_codes where code = 'OLD'`;
  });

  await it({
    name: "are filled while products that refer to them are being written",
    ignore: !SETTINGS.url,
    async fn() {
      for (const table of Object.keys(IDS)) {
        await sql.unsafe(`update ${table} set name = 'Old'`);
      }
      await sql.begin(async (sql) => {
        // As foreign keys do.
        for (const table of Object.keys(IDS)) {
          await sql.unsafe(`select from ${table} for key share`);
        }

        await inTime(
          "the code lists",
          seed(app.database.for({ deadline: performance.now() + 60_000 })),
        );
      });

      for (const table of Object.keys(IDS)) {
        const rows = await sql.unsafe(
          `select from ${table} where name = 'Old'`,
        );
        assertEquals(rows.length, 0, table);
      }
    },
  });
});

interface Code {
  code: string;
  label: string;
}

function labelled(codes: Code[]): Code[] {
  return sorted(codes).map(({ code, label }) => ({ code, label }));
}

function sorted<C extends Code>(codes: C[]): C[] {
  return codes.toSorted((a, b) => a.code < b.code ? -1 : 1);
}

Deno.test("demo.sql has ISBNs with valid check digits", () => {
  const rows = [...DEMO.matchAll(/'(97[89]\d{10})', '(\d{9}[\dX])'/g)];

  assert(rows.length > 20);
  assertEquals(DEMO.match(/'\d{13}'/g)?.length, rows.length);
  assertEquals(DEMO.match(/'\d{9}[\dX]'/g)?.length, rows.length);
  for (const [, isbn13 = "", isbn10 = ""] of rows) {
    const body = isbn10.slice(0, -1);
    assertEquals(isbn10, body + isbn10CheckDigit(body));
    assertEquals(isbn13, `978${body}` + isbn13CheckDigit(isbn13));
  }
});

Deno.test("demo.sql has product codes in the service's form", () => {
  const codes = [...DEMO.matchAll(/'(P-.*?)'/g)];
  assert(codes.length > 20);
  for (const [, code = ""] of codes) {
    assertMatch(code, /^P-[0-9A-HJKMNP-TV-Z]{8}$/);
  }
});
