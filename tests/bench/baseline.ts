import type postgres from "postgres";
import { pause } from "../../db/connections/deadline.ts";
import { HERE } from "./checkout.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import { startService } from "./service.ts";
import { type Sent, tapWire } from "./wiretap.ts";

/** The script that pgbench runs instead of a request. */
export interface Baseline {
  script: string;
  /** The values of the script's variables. `number` differs for each transaction. */
  variables: Record<string, string>;
  /** Whether the statements are prepared, as in the service. */
  prepared: boolean;
}

/** A recorded request. */
export interface Example {
  /** The statements that the service sent. */
  sent: Sent[];
  /** The number in the request's ids. Other requests have other numbers. */
  number: number;
  /** The id of the created product. */
  created?: string | undefined;
}

/** Assigns a variable name to each value in a script. */
export class Variables {
  readonly #names = new Map<string, string>();

  nameOf(value: string): string {
    const name = this.#names.get(value) ?? `v${this.#names.size}`;
    this.#names.set(value, name);
    return name;
  }

  get values(): Record<string, string> {
    return Object.fromEntries(
      [...this.#names].map(([value, name]) => [name, value]),
    );
  }
}

/** The text with each parameter replaced, by its index. */
export function withParameters(
  text: string,
  replace: (index: number) => string,
) {
  return text.replace(/\$(\d+)/g, (_, number) => replace(number - 1));
}

/** A recorded scenario. */
export interface Watched extends Example {
  /** The same statements for pgbench. */
  baseline: Baseline;
}

/** The time after a response in which the service may store its JSON. */
const SETTLE_MS = 100;

/**
 * Runs the scenarios on a private service, and records the statements of each. Each
 * runs twice, because the first request may build and store JSON.
 */
export async function watchScenarios(
  url: string,
  sql: postgres.Sql,
  scenarios: Scenario[],
): Promise<Map<Scenario, Watched>> {
  using tap = tapWire(url);
  await using service = await startService(HERE, tap.url);
  const watched = new Map<Scenario, Watched>();
  for (const scenario of scenarios) {
    const [first, last] = scenario.numbers;
    const number = Math.floor((first + last) / 2);
    await send(scenario, service.origin, number);
    await pause(SETTLE_MS);
    tap.take();
    const { data } = await send(scenario, service.origin, number);
    const sent = tap.take();
    const created = scenario.method === "POST" ? data.id : undefined;
    const example = { sent, number, created };
    const baseline = scenario.method === "GET"
      ? await readingBaseline(sql, example)
      : await writingBaseline(sql, `write_${watched.size}`, example);
    watched.set(scenario, { ...example, baseline });
  }
  return watched;
}

/** The types of a statement's parameters, and the names of its columns. */
export async function describe(
  sql: postgres.Sql,
  text: string,
): Promise<{ types: string[]; columns: string[] }> {
  const { types, columns } = await sql.unsafe(text).describe();
  const names = await sql<{ name: string }[]>`
    select format_type(oid, null) as name
    from unnest(${`{${types}}`}::oid[]) with ordinality as type (oid, position)
    order by position
  `;
  return {
    types: names.map(({ name }) => name),
    columns: columns.map(({ name }) => name),
  };
}

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
  // BEGIN comes with a setting in one text.
  const statements = sent.flatMap((one) =>
    one.text.split(/;\n/).map((text) => ({ ...one, text: text.trim() }))
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
