import { assert } from "@std/assert";
import { type Field, isStored } from "../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../schema/product.ts";
import { testsOf } from "../support/app/harness.ts";

const it = testsOf("The columns of products");

it("are the fields of schema/product.ts", async ({ sql }) => {
  const rows = await sql<{ name: string }[]>`
    select column_name as name
    from information_schema.columns
    where table_schema = current_schema and table_name = 'products' and is_generated = 'NEVER'
      and column_name <> 'change_version'
  `;
  const columns = rows.map(({ name }) => name);
  const fields = Object.entries<Field>({ ...SCALARS, ...ARRAYS })
    .filter(([, field]) => isStored(field) && (field.kind !== "column" || !field.refers?.heldBy))
    .map(([name]) => name);

  for (const column of columns) {
    assert(
      fields.includes(column),
      `products.${column} is not described: add it to schema/product.ts`,
    );
  }
  for (const field of fields) {
    assert(
      columns.includes(field),
      `products.${field} does not exist: add it in a migration`,
    );
  }
});
