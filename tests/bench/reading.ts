import type postgres from "postgres";
import {
  type Baseline,
  type Example,
  Variables,
  withParameters,
} from "./baseline.ts";
import { describe } from "./describe.ts";

/**
 * The statements of a read request, as sent. If an id contains the number, the
 * database builds the id, because pgbench cannot. That costs 1 % of the time of
 * one product.
 */
export async function readingBaseline(
  sql: postgres.Sql,
  { sent, number }: Example,
): Promise<Baseline> {
  const variables = new Variables();
  let script = "";
  for (const { text, parameters } of sent) {
    const { types } = await describe(sql, text);
    const statement = withParameters(withoutColons(text), (n) => {
      const value = parameters[n];
      if (value == null) return `null::${types[n]}`;
      const [before, after] = value.split(String(number));
      return after === undefined
        ? `:${variables.nameOf(value)}`
        : `('${before}' || :number || '${after}')::${types[n]}`;
    });
    script += `${statement.trim()};\n`;
  }
  return {
    script,
    variables: variables.values,
    prepared: sent.every(({ prepared }) => prepared),
  };
}

/** pgbench treats a word after a colon as a variable, even in a string. */
function withoutColons(text: string): string {
  return text.replace(
    /'(?:[^']|'')*'/g,
    (string) =>
      /:\w/.test(string)
        ? `U&${string.replaceAll("\\", "\\\\").replaceAll(":", "\\003A")}`
        : string,
  );
}
