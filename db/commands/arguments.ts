import { parseArgs } from "node:util";
import * as v from "valibot";
import { DateTime } from "../../schema/date_time.ts";
import { Uuid } from "../../schema/values.ts";
import type { Operations } from "../database.ts";

/** A wrong call of a command. The message says how to correct it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One command of the service, with its usage and its purpose. */
export interface Command {
  usage: string;
  does: string;
  /**
   * Checks the arguments before any database is opened. Gives the function that
   * does the work there and gives the text to print, if any. Throws `UsageError`.
   */
  parse(args: string[]): (connect: Connect) => Promise<string>;
}

/** Returns operations for an organization, or for the whole database. */
type Connect = (organizationId?: string) => Operations;

/**
 * Readers of values by their names in the usage: of options, and of one operand in
 * capitals, which may be repeated if its name ends with `…`. A reader throws a
 * problem that follows the name, such as "is missing".
 */
type Readers<Values> = {
  [Name in keyof Values]: (...given: string[]) => Values[Name];
};

/** Makes a command that runs with the values of its arguments. */
export function command<Values extends object>(
  { usage, does, reads, run }: Omit<Command, "parse"> & {
    reads: Readers<Values>;
    run(values: Values, connect: Connect): Promise<string>;
  },
): Command {
  return {
    usage,
    does,
    parse(args) {
      const values = readArguments(usage, args, reads);
      return (connect) => run(values, connect);
    },
  };
}

/** The values of the arguments. Throws `UsageError`. */
export function readArguments<Values extends object>(
  usage: string,
  args: string[],
  readers: Readers<Values>,
): Values {
  const names = Object.keys(readers) as (keyof Values & string)[];
  const operand = names.find((name) => /^[A-Z]/.test(name));
  const options = names.filter((name) => name !== operand).map((name) => {
    const type = readers[name] === flag ? "boolean" : "string";
    return [name, { type }] as const;
  });
  try {
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
        return [name, readers[name](...given)];
      } catch (error) {
        throw new Error(`${label} ${(error as Error).message}`);
      }
    });
    return Object.fromEntries(read);
  } catch (error) {
    throw wrongCall(usage, (error as Error).message);
  }
}

/** The problem and the correct usage, in one line. */
export function wrongCall(usage: string, problem: string): UsageError {
  const [first] = problem.replace(/\.$/, "").split(/\. |\n/);
  return new UsageError(`${first}; usage: deno task ${usage}`);
}

/** An option without a value. */
export function flag(given?: string): boolean {
  return given !== undefined;
}

export function required(given?: string): string {
  if (!given?.trim()) throw new Error("is missing");
  return given;
}

export function uuid(given?: string): string {
  const read = v.safeParse(Uuid, required(given));
  if (read.success) return read.output;
  throw new Error("must be a UUID");
}

/** Makes the reader of a value that must be one of these; without a default it is required. */
export function oneOf<T extends string>(allowed: readonly T[], preset?: T) {
  return (given: string | undefined = preset): T => {
    const value = required(given);
    const one = allowed.find((one) => one === value);
    if (one) return one;
    throw new Error(`must be ${allowed.join(", ")}`);
  };
}

/** A day (midnight UTC) or a time with an offset (ISO 8601), if one is given. */
export function time(given?: string): string | undefined {
  if (given === undefined) return undefined;
  const read = v.safeParse(DateTime, given);
  if (read.success) return read.output;
  throw new Error(
    "must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z",
  );
}
