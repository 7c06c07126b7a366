import { parseArgs } from "node:util";
import * as v from "valibot";
import type { Environment } from "../../schema/config.ts";
import { DateTime } from "../../schema/date_time.ts";
import { Uuid } from "../../schema/values.ts";
import type { Queries } from "../database.ts";

/*
 * Defines commands and parses their arguments.
 *
 *     command({ usage: "key revoke PUBLIC_ID [--at TIME]", …, args: { PUBLIC_ID: mandatory, at: timestamp }, run })
 */

/** A command of the service. */
export interface Command {
  usage: string;
  /** What the command does, for the help. */
  does: string;
  /**
   * Parses the arguments, before a database is opened. Returns the function that runs
   * the command. Throws an error with the usage.
   */
  parse(args: string[]): (session: Session) => Promise<Output>;
}

/** The environment of a run. */
export interface Session {
  environment: Environment;
  /** The names of the variables that are set, known or not. */
  variables: readonly string[];
  /** The id of this run, which the history shows as `request_id` of what it writes. */
  runId: string;
  /** Opens the database, and returns its queries for all organizations, or for one, which must exist. */
  connect(organizationId?: string): Promise<Queries>;
  /** Opens the database for an import, which creates an organization that does not exist. */
  connectToImport(organizationId?: string): Promise<Queries>;
}

/** The text to print, which may be empty, and whether the command succeeded. */
export type Output = string | { text: string; ok: boolean };

/**
 * Parsers of the arguments, by their names in the usage. There are options, and one operand in
 * capitals, which may repeat if its name ends with `…`. A parser throws an error whose message
 * follows the name, such as "is missing".
 */
type Parsers<Values> = {
  [Name in keyof Values]: (...given: string[]) => Values[Name];
};

/** Creates a command. `run` gets the parsed arguments. */
export function command<Values extends object>(
  { usage, does, args: parsers, run }: Omit<Command, "parse"> & {
    args: Parsers<Values>;
    run(values: Values, session: Session): Promise<Output>;
  },
): Command {
  function parse(args: string[]) {
    try {
      const values = parseArguments(args, parsers);
      return (session: Session) => run(values, session);
    } catch (error) {
      throw usageError(usage, argumentProblem(error as Error));
    }
  }
  return { usage, does, parse };
}

/** Returns the fault of the arguments. Node's message about an option without a value is misleading. */
function argumentProblem({ message }: Error): string {
  const [, option] = /^Option '(--\w+).*' argument (?:is ambiguous|missing)/.exec(message) ?? [];
  return option ? `${option} needs a value` : message;
}

function parseArguments<Values extends object>(
  args: string[],
  parsers: Parsers<Values>,
): Values {
  const names = Object.keys(parsers) as (keyof Values & string)[];
  const operand = names.find((name) => /^[A-Z]/.test(name));
  const options = names.filter((name) => name !== operand).map((name) => {
    const type = parsers[name] === flag ? "boolean" : "string";
    return [name, { type }] as const;
  });
  const { values, positionals } = parseArgs({
    args,
    options: Object.fromEntries(options),
    allowPositionals: true,
  });
  const most = operand ? operand.endsWith("…") ? Infinity : 1 : 0;
  if (positionals.length > most) {
    throw new Error(`Unexpected "${positionals[most]}"`);
  }
  const read = names.map((name) => {
    const [label, given] = name === operand
      ? [name, positionals]
      : [`--${name}`, name in values ? [String(values[name])] : []];
    try {
      return [name, parsers[name](...given)];
    } catch (error) {
      throw new Error(`${label} ${(error as Error).message}`);
    }
  });
  return Object.fromEntries(read);
}

/** An error with the problem and the correct usage, in one line. */
export function usageError(usage: string, problem: string): Error {
  const [first] = problem.replace(/\.$/, "").split(/\. |\n/);
  return new Error(`${first}; usage: deno task ${usage}`);
}

/** An option without a value. */
export function flag(given?: string): boolean {
  return given !== undefined;
}

/** A value that must be given and not be blank. */
export function mandatory(given?: string): string {
  if (!given?.trim()) throw new Error("is missing");
  return given;
}

/** A value that may be left out, but not be blank. */
export function optional(given?: string): string | undefined {
  return given === undefined ? undefined : mandatory(given);
}

/** A mandatory UUID. */
export function uuid(given?: string): string {
  return parsed(Uuid, mandatory(given), "a UUID");
}

/** Parses an argument by a schema. Throws an error with the expected form. */
export function parsed<T>(
  schema: v.GenericSchema<string, T>,
  given: string,
  expected: string,
): T {
  const read = v.safeParse(schema, given);
  if (read.success) return read.output;
  throw new Error(`must be ${expected}`);
}

/** Creates the parser of an enumeration. The value is required unless it has a default. */
export function choice<T extends string>(allowed: readonly T[], fallback?: T) {
  return (given: string | undefined = fallback): T => {
    const value = mandatory(given);
    const found = allowed.find((option) => option === value);
    if (found) return found;
    throw new Error(`must be ${allowed.join(", ")}`);
  };
}

/** An optional day (midnight UTC) or time with an offset (ISO 8601). */
export function timestamp(given?: string): string | undefined {
  const expected = "a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z";
  return given === undefined ? undefined : parsed(DateTime, given, expected);
}
