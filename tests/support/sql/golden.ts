import { assertEquals } from "@std/assert";
import { parametersOf, type Statement } from "../../../db/connections/sql.ts";

/**
 * Expects the file to have these statements, by what they do, as the database gets them.
 * With UPDATE_GOLDEN it writes the file instead.
 */
export async function matchesGolden(
  file: URL,
  renewal: string,
  statements: Record<string, Statement>,
): Promise<void> {
  const texts = Object.entries(statements).map(([title, statement]) => {
    const { text } = parametersOf(statement, "organization");
    return `-- ${title}\n${format(text)}\n`;
  });
  const current = `-- To renew this file: UPDATE_GOLDEN=1 deno task test ${renewal}\n\n${
    texts.join("\n")
  }`;
  if (Deno.env.get("UPDATE_GOLDEN")) await Deno.writeTextFile(file, current);
  assertEquals(
    current,
    await Deno.readTextFile(file),
    `The SQL has changed. If that is intended, run UPDATE_GOLDEN=1 deno task test ${renewal}, and read the difference`,
  );
}

const CLAUSE = /^(?:select|from|where|order by|limit|union all|(?:(?:left|full|cross) )?join)$/;

const TOKENS = /'[^']*'|\(|\)|,|\b(?:order by|union all|(?:left|full|cross) join)\b|[^'(),\s]+|\s/g;

/** The statement without comments, with a line for each column and clause, indented by subselects. */
function format(sql: string): string {
  const tokens = sql.replace(/--.*/g, "").replace(/\s+/g, " ").trim()
    .match(TOKENS)!;
  /** Whether each open parenthesis has a subselect. */
  const subselects: boolean[] = [];
  let text = "";
  const newLine = () => {
    const indent = subselects.filter((isSelect) => isSelect).length;
    text = `${text.trimEnd()}\n${"  ".repeat(indent)}`;
  };
  for (const [i, token] of tokens.entries()) {
    const isInSelect = subselects.at(-1) ?? true;
    if (token === "(") {
      const next = tokens.slice(i + 1).find((next) => next !== " ");
      subselects.push(next === "select");
      text += token;
    } else if (token === ")") {
      if (subselects.pop()) newLine();
      text += token;
    } else if (CLAUSE.test(token) && isInSelect) {
      newLine();
      text += token;
    } else if (token === ",") {
      text = text.trimEnd() + token;
      if (isInSelect) {
        newLine();
        text += " ";
      }
    } else if (token !== " " || !/[\s(]$/.test(text)) text += token;
  }
  return text.trim();
}
