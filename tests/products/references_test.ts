import { assert, assertEquals } from "@std/assert";
import type { Field } from "../../schema/fields.ts";
import { RECORDS } from "../../schema/records.ts";
import { REFERENCES } from "../../schema/references.ts";
import { openApp } from "../support/app/harness.ts";

Deno.test("The references of products", async ({ step: it }) => {
  await using app = await openApp();
  const { sql } = app;

  await it("are the foreign keys to tables of records", async () => {
    const keys = await sql<{ constraint: string; table: string }[]>`
      select c.conname as constraint, c.confrelid::regclass::text as table
      from pg_constraint c
      where c.contype = 'f' and c.connamespace = current_schema::regnamespace
    `;
    const tables = new Map(keys.map((key) => [key.constraint, key.table]));

    for (const { constraint, table, isSeries } of REFERENCES) {
      assertEquals(
        tables.get(constraint),
        isSeries ? "product_collections" : table,
        constraint,
      );
    }
    for (const [constraint, table] of tables) {
      assert(
        !Object.hasOwn(RECORDS, table) ||
          constraint === "publishing_program_products_program" ||
          REFERENCES.some((reference) => reference.constraint === constraint),
        `${constraint} is not in REFERENCES of schema/references.ts`,
      );
    }
  });

  await it("have the columns of schema/records.ts", async () => {
    for (const [table, { fields }] of Object.entries(RECORDS)) {
      const [row] = await sql<{ names: string[] }[]>`
        select json_agg(c.column_name) as names
        from information_schema.columns c
        where c.table_schema = current_schema and c.table_name = ${table}
      `;
      for (const [column, { kind }] of Object.entries<Field>(fields)) {
        if (kind === "shown") continue;
        assert(
          row!.names.includes(column),
          `${table}.${column} does not exist`,
        );
      }
    }
  });
});
