import { readConfig } from "../../schema/config.ts";
import { connectionAdvice } from "../connections/errors.ts";
import { isOfUnknownOrganization } from "../connections/errors.ts";
import { openDatabase } from "../database.ts";
import { usageError } from "./arguments.ts";
import { calls, COMMANDS, help } from "./commands.ts";
import { DOCTOR } from "./doctor.ts";

/** Advice for the operator, by SQLSTATE. */
const ADVICE: Record<string, string> = {
  "40P01": "stop the older processes, and repeat the command",
  "42501": "deno task doctor says which right the role lacks",
  "42P01": "run deno task migrate and deno task seed first",
};

const DAY_MS = 86_400_000;

/** Runs a command, prints its output and sets the exit status. */
export async function run(args: string[]): Promise<void> {
  await perform(args).catch((error) => {
    console.error(explain(error));
    Deno.exitCode = 1;
  });
}

async function perform(args: string[]): Promise<void> {
  const [name = ""] = args;
  if (args.includes("--help") || args.length === 0) {
    return console.log(help(name));
  }
  const environment = (name: string) => Deno.env.get(name);
  if (name === "doctor") {
    const { report, ok } = await DOCTOR.run(environment, args.slice(1));
    Deno.exitCode = ok ? 0 : 1;
    return console.log(report);
  }
  const words = Object.hasOwn(COMMANDS, name) ? 1 : 2;
  const call = args.slice(0, words).join(" ");
  if (!Object.hasOwn(COMMANDS, call)) {
    throw usageError(calls(name), "Unknown command");
  }
  const work = COMMANDS[call]!.parse(args.slice(words));

  await using database = await openDatabase(readConfig(environment).database);
  const deadline = performance.now() + DAY_MS;
  const result = await work((organizationId) =>
    database.for({
      deadline,
      caller: organizationId ? { organizationId, name: "command" } : undefined,
    })
  );
  if (result) console.log(result);
}

/** The error message of a failed command, in one line. */
export function explain(error: Error & { code?: string }): string {
  if (isOfUnknownOrganization(error)) {
    return "No organization has this id";
  }
  const advice = ADVICE[error.code ?? ""] ?? connectionAdvice(error);
  return advice ? `${error.message}: ${advice}` : error.message;
}

if (import.meta.main) await run(Deno.args);
