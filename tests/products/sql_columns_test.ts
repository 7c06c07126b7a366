import { assertEquals } from "@std/assert";
import { createFullProduct } from "../support/data/full_product.ts";
import type { App } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { sampleOf } from "../support/app/sample.ts";
import {
  BY_TYPE,
  type Change,
  FIXED,
  TABLES,
  UNSHOWN,
} from "../support/sql/shown_columns.ts";
import { assertShows } from "../support/client/stored.ts";

interface Column {
  table: string;
  name: string;
  type: string;
}

Deno.test("The next response shows an SQL change of a column", async (t) => {
  await using app = await openOwnApp();
  const org = await app.organization();
  const { id } = await createFullProduct(app, org);
  const columns = await columnsOf(app);

  await t.step("of every table that responses show", () => {
    const tables = new Set(columns.map(({ table }) => table));

    assertEquals(
      [...tables].sort(),
      [...Object.keys(TABLES), ...UNSHOWN].sort(),
      "Each table is in TABLES or UNSHOWN of tests/support/sql/shown_columns.ts",
    );
  });

  const changes = columns.flatMap((column) => {
    const change = changeOf(column);
    return TABLES[column.table] && change !== FIXED
      ? [{ ...column, change }]
      : [];
  });
  const kindOf = ({ table, name, type, change }: typeof changes[number]) => {
    const isReference = name.endsWith("_id");
    return table === "products"
      ? `${isReference ? name : type} ${change.isHidden}`
      : `${table} ${change.isHidden}`;
  };
  for (const { table, name, change } of sampleOf(changes, kindOf)) {
    await t.step(`${table}.${name}`, async () => {
      const isOwn = hasProduct(table);
      await assertShows(
        { app, org, id, isOwn, isShown: !change.isHidden },
        () => run(table, change),
        `${table}.${name} needs a case of its own in tests/support/sql/shown_columns.ts`,
      );
    });
  }

  function hasProduct(table: string): boolean {
    return table === "products" ||
      columns.some((column) =>
        column.table === table && column.name === "product_id"
      );
  }

  async function run(table: string, { set, where }: Change): Promise<void> {
    const rows =
      columns.some((column) =>
          column.table === table && column.name === "organization_id"
        )
        ? `t.organization_id = '${org.id}'`
        : "true";
    const { count } = await app.sql.unsafe(
      `update ${table} t set ${set} where ${rows} and ${where ?? "true"}`,
    );
    assertEquals(count > 0, true, `${table}: ${where}`);
  }
});

function changeOf({ table, name, type }: Column): Change | typeof FIXED {
  const change = TABLES[table]?.[name];
  if (change) return change;
  const set = BY_TYPE[type]?.(name);
  if (set && /^(created|updated)_at$/.test(name)) {
    return { set, isHidden: true };
  }
  return set ? { set } : { set: `${name} = default` };
}

async function columnsOf(app: App): Promise<Column[]> {
  return await app.sql<Column[]>`
    select c.table_name as table, c.column_name as name, c.data_type as type
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
    order by c.table_name, c.ordinal_position
  `;
}
