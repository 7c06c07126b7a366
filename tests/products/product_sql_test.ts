import { assertEquals } from "@std/assert";
import type { Statement } from "../../db/connections/sql.ts";
import { selectBuilt } from "../../db/products/read.ts";
import { send, testsOf } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";
import { matchesGolden } from "../support/sql/golden.ts";

const TEST = "tests/products/product_sql_test.ts";

const it = testsOf("The SQL that runs");

it("for a product is that of product.sql", async () => {
  await matchesGolden(new URL("product.sql", import.meta.url), TEST, {
    "The SQL that reads a product, $2 of organization $1. It follows from schema/product.ts.":
      selectBuilt("id"),
  });
});

it("for a page of a list is that of list.sql", async ({ app, org }) => {
  const statements: Statement[] = [];
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    scan: (statement) => {
      statements.push(statement);
      return operations.scan(statement);
    },
  }));
  const handler = app.variant({ database });
  for (
    const query of [
      "",
      "?publisher_id=0190a6b5-0000-7000-8000-000000000000&search=emma&sort=title",
    ]
  ) {
    const { status } = await send(handler, `/api/products${query}`, {
      headers: { "x-api-key": org.key },
    });
    assertEquals(status, 200);
  }

  const [first, found] = statements;
  await matchesGolden(new URL("list.sql", import.meta.url), TEST, {
    "GET /products": first!,
    "GET /products?publisher_id=0190a6b5-0000-7000-8000-000000000000&search=emma&sort=title":
      found!,
  });
});
