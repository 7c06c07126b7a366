import type postgres from "postgres";
import {
  type Baseline,
  type Example,
  Variables,
  withParameters,
} from "./baseline.ts";
import { splitStatements } from "../../db/split_statements.ts";
import { describe } from "./describe.ts";

/** A generated product code, which must be unique. */
const PRODUCT_CODE = /^P-[0-9A-Z]{8}$/;

/**
 * One call of a database function that executes a write request: the same statements
 * in one transaction, with the same parameters.
 */
export async function writingBaseline(
  sql: postgres.Sql,
  name: string,
  { sent, number, created }: Example,
): Promise<Baseline> {
  const variables = new Variables();
  const declarations = new Map<string, string>();
  let body = "";
  let last = "null";
  // A text without parameters may contain several statements.
  const statements = sent.flatMap((one) =>
    splitStatements(one.text).map((text) => ({ ...one, text }))
  );
  for (const { text, parameters } of statements) {
    // The function already runs in a transaction.
    if (/^(begin|commit)\b/.test(text)) continue;
    const { types, columns } = await describe(sql, text);
    const statement = withParameters(text, (n) => {
      const value = parameters[n];
      if (value == null) return `null::${types[n]}`;
      const argument = variables.nameOf(value);
      const variable = `${argument}_${types[n]!.replace(/\W/g, "_")}`;
      declarations.set(
        variable,
        `${variable} ${types[n]} := ${renewed(argument, value)}::${types[n]};`,
      );
      return variable;
    });
    const returnsRows = /^\s*select\b/.test(text) || columns.length > 0;
    body += `${statement}${returnsRows ? " into result" : ""};\n`;
    if (columns.length > 0) last = `result.${columns.at(-1)}`;
  }

  function renewed(argument: string, value: string): string {
    if (PRODUCT_CODE.test(value)) return "'P-' || right(created, 12)";
    let expression = argument;
    if (value.includes(String(number))) {
      expression = `replace(${expression}, '${number}', number::text)`;
    }
    if (created && value.includes(created)) {
      expression = `replace(${expression}, '${created}', created)`;
    }
    return expression;
  }

  const values = variables.values;
  const call = ["number", ...Object.keys(values)];
  await sql.unsafe(`
    create or replace function benchmark.${name}(${
    call.map((name) => `${name} text`)
  }) returns text
    language plpgsql as $function$
    #variable_conflict use_column
    declare
      result record;
      created text := benchmark.uuidv7();
      ${[...declarations.values()].join("\n")}
    begin
      ${body}
      return ${last};
    end $function$
  `);
  return {
    script: `select benchmark.${name}(${call.map((name) => `:${name}`)});\n`,
    variables: values,
    prepared: true,
  };
}
