import { parseArgs, type ParseArgsConfig } from "node:util";
import * as v from "valibot";
import { DateTime } from "../../schema/date_time.ts";
import { Uuid } from "../../schema/values.ts";
import type { Operations } from "../database.ts";

/** A wrong call of a command; the message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** How a command is called, and what it does. */
export interface Described {
  usage: string;
  does: string;
}

/** One command of the service. */
export interface Command extends Described {
  /**
   * Understands the arguments, before any database is opened for them: gives
   * what is to be done there, which gives what is printed. Throws `UsageError`.
   */
  parse(args: string[]): (connect: Connect) => Promise<string>;
}

/** Gives the database for an organization, or for all of it. */
export type Connect = (organizationId?: string) => Operations;

/** The options and at most so many other arguments. Throws `UsageError`. */
export function read<O extends NonNullable<ParseArgsConfig["options"]>>(
  command: Described,
  args: string[],
  options: O,
  most = 0,
) {
  try {
    const parsed = parseArgs({
      args,
      options,
      allowPositionals: true,
      strict: true,
    });
    if (parsed.positionals.length > most) {
      throw new Error(`Unexpected "${parsed.positionals[most]}"`);
    }
    return parsed;
  } catch (error) {
    throw usage(command, (error as Error).message);
  }
}

/** What is wrong, in one line with how it would be right. */
export function usage(
  { usage }: Pick<Described, "usage">,
  fault: string,
): UsageError {
  return new UsageError(
    `${fault.replace(/\.$/, "").split(/\. |\n/)[0]}; usage: deno task ${usage}`,
  );
}

/** The value of an option that must be there. Throws `UsageError`. */
export function needed(
  command: Described,
  option: string,
  value: string | undefined,
): string {
  if (!value?.trim()) throw usage(command, `--${option} is missing`);
  return value;
}

/** The same, of an option that is a UUID. */
export function uuid(
  command: Described,
  option: string,
  value: string | undefined,
): string {
  const read = v.safeParse(Uuid, needed(command, option, value));
  if (read.success) return read.output;
  throw usage(command, `--${option} must be a UUID`);
}

/** The same, of an option that is one of these. */
export function oneOf<T extends string>(
  command: Described,
  option: string,
  value: string | undefined,
  allowed: readonly T[],
): T {
  const given = needed(command, option, value);
  const one = allowed.find((one) => one === given);
  if (one) return one;
  throw usage(command, `--${option} must be ${allowed.join(", ")}`);
}

/** A day, whose beginning in UTC is meant, or a time with its offset (ISO 8601); nothing if left out. */
export function time(
  command: Described,
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
