import { migrate, seed } from "../migrate.ts";
import { createOrganization, listOrganizations } from "../access.ts";
import { recount } from "../products/recount.ts";
import { ACCESS_COMMANDS } from "./access_commands.ts";
import { type Command, command, flag, required } from "./arguments.ts";
import { DOCTOR } from "./doctor.ts";
import { format } from "./format_rows.ts";
import { TRANSFER_COMMANDS } from "./transfer.ts";

/** `deno task <name> [<verb>]`, by name and verb. */
export const COMMANDS: Record<string, Command> = {
  "migrate": command({
    usage: "migrate",
    does: "Applies the pending migrations of sql/migrations",
    args: {},
    async run(_, connect) {
      const applied = await migrate(connect());
      return applied.length === 0
        ? "No migration is pending"
        : applied.map((name) => `Applied ${name}`).join("\n");
    },
  }),
  "seed": command({
    usage: "seed [FILE.sql …]",
    does:
      "Fills the code lists, then runs the files (sql/demo.sql creates the demo organization)",
    args: { "FILE.sql …": (...paths) => paths },
    async run({ "FILE.sql …": paths }, connect) {
      await seed(connect(), paths);
      const ran = paths.map((path) => `Ran ${path}`);
      return ["The code lists are filled", ...ran].join("\n");
    },
  }),
  "recount": command({
    usage: "recount",
    does:
      "Recounts all products, invalidates all stored JSON, and expires all cursors of /products/changes, after SQL that ran without triggers; writers wait for it",
    args: {},
    async run(_, connect) {
      await recount(connect());
      return "All products are counted";
    },
  }),
  "organization list": command({
    usage: "organization list [--json]",
    does: "Lists the organizations",
    args: { json: flag },
    run: async ({ json }, connect) =>
      format(await connect().scan(listOrganizations), json),
  }),
  "organization create": command({
    usage: "organization create NAME",
    does: "Creates an organization and prints its id",
    args: { NAME: required },
    async run({ NAME: name }, connect) {
      const [[organization]] = await connect().write(createOrganization(name));
      return organization!.id;
    },
  }),
  ...ACCESS_COMMANDS,
  ...TRANSFER_COMMANDS,
};

/** The usage of the commands with this name. For an unknown name, of all commands. */
export function help(name?: string): string {
  const all = [...Object.values(COMMANDS), DOCTOR];
  const named = all.filter(({ usage }) => usage.split(" ")[0] === name);
  return (named.length > 0 ? named : all)
    .map(({ usage, does }) => `deno task ${usage}\n    ${does}`)
    .join("\n");
}

/** The short usage of the commands with this name, in one line. */
export function calls(name: string): string {
  const calls = [...Object.keys(COMMANDS), "doctor"].map((call) =>
    call.split(" ")
  );
  const verbs = calls.flatMap(([first, verb]) =>
    first === name && verb ? verb : []
  );
  return verbs.length > 0
    ? `${name} ${verbs.join("|")}`
    : [...new Set(calls.map(([first]) => first))].join("|");
}
