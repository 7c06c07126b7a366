import { type Environment, readConfig, VARIABLE_NAMES } from "../../schema/config.ts";
import { escapeControls, escapeLines } from "../../schema/control_characters.ts";
import { type Defect, DEFECTS } from "../../schema/defects.ts";
import { connectionAdvice, isOfUnknownOrganization } from "../connections/errors.ts";
import { openDatabase } from "../database.ts";
import { selectOrganization } from "../records/organization.ts";
import { DAY_MS } from "../times.ts";
import { uuidv7 } from "../uuid.ts";
import { type Output, type Session, usageError } from "../command_line/arguments.ts";
import { COMMANDS } from "./commands.ts";
import { ReaderGone } from "../command_line/output.ts";

/*
 * Runs the commands of `deno task`: finds the command, parses its arguments, opens the database,
 * prints the result.
 */

/** Advice for the operator, by SQLSTATE. */
const ADVICE: Record<string, string> = {
  "40P01": "stop the older processes, and repeat the command",
  "42703": "run deno task migrate first",
  "42P01": "run deno task migrate and deno task seed first",
};

/** Runs a command, prints its output and sets the exit status. `variables` are the names of those that are set. */
export async function run(args: string[], variables: readonly string[]): Promise<void> {
  DEFECTS.subscribe((published) => {
    const { error, product } = published as Defect;
    const where = product ? `Product ${product}: ` : "";
    console.error(
      escapeControls(where + ((error as Error).stack ?? String(error))),
    );
  });
  try {
    const output = await perform(args, variables);
    const { text, ok } = typeof output === "string" ? { text: output, ok: true } : output;
    if (text) console.log(escapeLines(text));
    Deno.exitCode = ok ? 0 : 1;
  } catch (error) {
    Deno.exitCode = 1;
    // A reader that closes a pipe early, such as head, wants no message.
    if (error instanceof ReaderGone) return;
    console.error(escapeLines(problemOf(error as Error)));
  }
}

async function perform(args: string[], variables: readonly string[]): Promise<Output> {
  const [name = ""] = args;
  if (args.includes("--help") || args.length === 0) {
    return help(...args.filter((word) => !word.startsWith("-")));
  }
  const hasVerb = Object.hasOwn(COMMANDS, args.slice(0, 2).join(" "));
  const words = hasVerb || !Object.hasOwn(COMMANDS, name) ? 2 : 1;
  const call = args.slice(0, words).join(" ");
  if (!Object.hasOwn(COMMANDS, call)) {
    throw usageError(calls(name), "Unknown command");
  }
  const work = COMMANDS[call]!.parse(args.slice(words));

  await using open = new AsyncDisposableStack();
  const runId = uuidv7();
  const environment = (name: string) => Deno.env.get(name);
  return await work(sessionOf(
    environment,
    async (organizationId) => {
      const { database: settings } = readConfig(environment, variables);
      const database = open.use(await openDatabase(settings));
      return database.for({
        deadline: performance.now() + DAY_MS,
        caller: organizationId ? { organizationId, name: "command" } : undefined,
        author: { by: null, operation: call, requestId: runId },
      });
    },
    variables,
    runId,
  ));
}

const UNKNOWN_ORGANIZATION = "No organization has this id";

/** A session whose databases `open` opens. */
export function sessionOf(
  environment: Environment,
  open: Session["connectToImport"],
  variables: readonly string[] = [],
  runId: string = uuidv7(),
): Session {
  return {
    environment,
    variables,
    runId,
    connectToImport: open,
    async connect(organizationId) {
      const database = await open(organizationId);
      if (!organizationId) return database;
      const [found] = await database.lookUp(selectOrganization);
      if (!found) throw new Error(UNKNOWN_ORGANIZATION);
      return database;
    },
  };
}

/** Describes the error of a command, with advice. */
export function problemOf(error: Error & { code?: string }): string {
  if (isOfUnknownOrganization(error)) {
    return UNKNOWN_ORGANIZATION;
  }
  const advice = ADVICE[error.code ?? ""] ?? connectionAdvice(error);
  return advice ? `${error.message}: ${advice}` : error.message;
}

/** The service itself, which `main.ts` runs. */
const START = {
  usage: "start",
  does:
    `Serves the catalogue until SIGTERM or Ctrl-C. Standard output is the log. These variables configure it (README.md): ${
      VARIABLE_NAMES.join(", ")
    }`,
};

/**
 * Returns the usage of the command that these words begin with, or of all with its name. For an
 * unknown name, it returns that of all commands.
 */
export function help(...words: string[]): string {
  const all = [START, ...Object.values(COMMANDS)];
  const beginsWith = (call: string[]) =>
    all.filter(({ usage }) => call.every((word, i) => usage.split(" ")[i] === word));
  const found = [words.slice(0, 2), words.slice(0, 1), []]
    .map(beginsWith)
    .find(({ length }) => length > 0)!;
  return found
    .map(({ usage, does }) => `deno task ${usage}\n    ${does}`)
    .join("\n");
}

/** The short usage of the commands with this name, in one line. */
function calls(name: string): string {
  const calls = Object.keys(COMMANDS).map((call) => call.split(" "));
  const verbs = calls.flatMap(([first, verb]) => first === name && verb ? verb : []);
  return verbs.length > 0
    ? `${name} ${verbs.join("|")}`
    : [...new Set(calls.map(([first]) => first))].join("|");
}

if (import.meta.main) await run(Deno.args, Object.keys(Deno.env.toObject()));
