import { assertEquals } from "@std/assert";
import { parametersOf } from "../../db/connections/sql.ts";
import { selectBuilt } from "../../db/products/documents.ts";

const GOLDEN = new URL("product.sql", import.meta.url);

Deno.test("product.sql shows the SQL that reads a product", async () => {
  const { text } = parametersOf(selectBuilt("id"), "organization");

  const current = `-- The SQL that reads a product, $2 of organization $1.
-- It follows from schema/product.ts. To renew this file: UPDATE_GOLDEN=1 deno task test tests/products/product_sql_test.ts
${format(text)}
`;

  if (Deno.env.get("UPDATE_GOLDEN")) {
    await Deno.writeTextFile(GOLDEN, current);
  }
  assertEquals(await Deno.readTextFile(GOLDEN), current);
});

/** The statement with a line for each column and clause, indented by subselects. */
function format(sql: string): string {
  const tokens = sql.replace(/\s+/g, " ").trim()
    .match(
      /'[^']*'|\(|\)|,|\b(?:select|from|where|order by|join)\b|[^'(),\s]+|\s/g,
    )!;
  const depths: boolean[] = [];
  let text = "";
  const newLine = () => {
    const indent = depths.filter((isSelect) => isSelect).length;
    text = `${text.trimEnd()}\n${"  ".repeat(indent)}`;
  };
  for (const [i, token] of tokens.entries()) {
    if (token === "(") {
      const isSelect = tokens.slice(i + 1).find((next) => next !== " ") ===
        "select";
      depths.push(isSelect);
      text += token;
    } else if (token === ")") {
      if (depths.pop()) newLine();
      text += token;
    } else if (/^(select|from|where|order by|join)$/.test(token)) {
      const isFunction = token === "from" && /trim\([^()]*$/.test(text);
      if (isFunction) text += token;
      else {
        newLine();
        text += token;
      }
    } else if (token === ",") {
      text += token;
      if (depths.at(-1) ?? true) {
        newLine();
        text += " ";
      }
    } else if (token !== " " || !/[\s(]$/.test(text)) text += token;
  }
  return text.trim();
}
