import { assertEquals } from "@std/assert";
import { openOwnApp } from "../support/app/own_app.ts";

/*
 * A session plans the checks of foreign keys once, perhaps while the tables are empty. The
 * primary keys are created first here, as pg_restore creates them: among indexes that cost
 * the same, the one that was created last is taken.
 */

/** The checks of rows that refer to others, and of rows that others refer to. */
const CHECKS = `
  select
    k.conname as name,
    format('select from only %s x where %s for key share', k.confrelid::regclass, (
      select string_agg(format('x.%I = $%s', a.attname, c.place), ' and ' order by c.place)
      from unnest(k.confkey) with ordinality c (number, place)
      join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.number
    )) as check,
    (
      select string_agg(a.attname, ',' order by a.attname)
      from pg_attribute a
      where a.attrelid = k.confrelid and a.attnum = any (k.confkey)
    ) as columns
  from pg_constraint k
  where k.contype = 'f' and k.connamespace = current_schema()::regnamespace
  order by k.conname
`;

/** The columns of each index in their order. */
const INDEXES = `
  select c.relname as name, (
    select string_agg(pg_get_indexdef(c.oid, place, true), ',' order by place)
    from generate_series(1, i.indnkeyatts) place
  ) as columns
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = current_schema()::regnamespace
`;

Deno.test("The check of a foreign key, planned on empty tables, finds one row by all columns of the key", async () => {
  await using app = await openOwnApp();
  await app.sql.begin(async (sql) => {
    await sql`set local plan_cache_mode = force_generic_plan`;
    type Row = Record<string, string>;
    const rows = async (text: string) => (await sql.unsafe(text)) as unknown as Row[];
    const checks = await rows(CHECKS);
    const indexes = new Map(
      (await rows(INDEXES)).map(({ name, columns }) => [name!, columns!]),
    );
    const partial: string[] = [];
    for (const [i, { name, check, columns }] of checks.entries()) {
      const { length } = columns!.split(",");
      await sql.unsafe(`prepare check_${i} as ${check}`);
      const nulls = Array(length).fill("null").join();
      const plan = (await rows(`explain execute check_${i}(${nulls})`))
        .map((row) => row["QUERY PLAN"]).join("\n");
      const [, index = ""] = / using (\w+) on /.exec(plan) ?? [];
      const first = indexes.get(index!)?.split(",").slice(0, length).sort();
      if (first?.join() !== columns) partial.push(name!);
    }
    assertEquals(partial, []);
  });
});
