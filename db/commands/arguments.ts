import { parseArgs, type ParseArgsConfig } from "node:util";
import * as v from "valibot";
import { DateTime } from "../../schema/date_time.ts";
import { Uuid } from "../../schema/values.ts";
import type { Operations } from "../database.ts";

/** A wrong call of a command. The message says how to correct it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Usage of a command, and its purpose. */
export interface CommandHelp {
  usage: string;
  does: string;
}

/** One command of the service. */
export interface Command extends CommandHelp {
  /**
   * Checks the arguments before any database is opened. Gives the function that
   * does the work there and gives the text to print, if any. Throws `UsageError`.
   */
  parse(args: string[]): (connect: Connect) => Promise<string>;
}

/** Returns operations for an organization, or for the whole database. */
export type Connect = (organizationId?: string) => Operations;

/** Reads the options and at most `max` other arguments. Throws `UsageError`. */
export function read<O extends NonNullable<ParseArgsConfig["options"]>>(
  command: CommandHelp,
  args: string[],
  options: O,
  max = 0,
) {
  try {
    const parsed = parseArgs({
      args,
      options,
      allowPositionals: true,
      strict: true,
    });
    if (parsed.positionals.length > max) {
      throw new Error(`Unexpected "${parsed.positionals[max]}"`);
    }
    return parsed;
  } catch (error) {
    throw usage(command, (error as Error).message);
  }
}

/** The problem and the correct usage, in one line. */
export function usage(
  { usage }: Pick<CommandHelp, "usage">,
  problem: string,
): UsageError {
  return new UsageError(
    `${
      problem.replace(/\.$/, "").split(/\. |\n/)[0]
    }; usage: deno task ${usage}`,
  );
}

/** The value of a required option. Throws `UsageError`. */
export function required(
  command: CommandHelp,
  option: string,
  value: string | undefined,
): string {
  if (!value?.trim()) throw usage(command, `--${option} is missing`);
  return value;
}

/** The value of a required option that is a UUID. Throws `UsageError`. */
export function uuid(
  command: CommandHelp,
  option: string,
  value: string | undefined,
): string {
  const read = v.safeParse(Uuid, required(command, option, value));
  if (read.success) return read.output;
  throw usage(command, `--${option} must be a UUID`);
}

/** The value of a required option that allows only these values. Throws `UsageError`. */
export function oneOf<T extends string>(
  command: CommandHelp,
  option: string,
  value: string | undefined,
  allowed: readonly T[],
): T {
  const given = required(command, option, value);
  const one = allowed.find((one) => one === given);
  if (one) return one;
  throw usage(command, `--${option} must be ${allowed.join(", ")}`);
}

/** The value of an optional option that is a day (midnight UTC) or a time with an offset (ISO 8601). Throws `UsageError`. */
export function time(
  command: CommandHelp,
  option: string,
  value: string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  const read = v.safeParse(DateTime, value);
  if (read.success) return read.output;
  throw usage(
    command,
    `--${option} must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z`,
  );
}
