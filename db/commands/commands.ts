import { createOrganization, listOrganizations } from "../organizations.ts";
import { type Command, read, usage } from "./arguments.ts";
import { DOCTOR } from "./doctor.ts";
import { KEY_COMMANDS } from "./key_commands.ts";
import { format } from "./list_command.ts";
import { MEMBER_COMMANDS } from "./member_commands.ts";
import { TRANSFER_COMMANDS } from "./transfer_commands.ts";
import { migrate, seed } from "../migrate.ts";
import { recount } from "../products/recount.ts";

/** `deno task <name> [<verb>]`, by name and verb. */
export const COMMANDS: Record<string, Command> = {
  "migrate": {
    usage: "migrate",
    does: "Applies the pending migrations of sql/migrations",
    parse(args) {
      read(this, args, {});
      return async (connect) => {
        const applied = await migrate(connect());
        return applied.length === 0
          ? "No migration is pending"
          : applied.map((name) => `Applied ${name}`).join("\n");
      };
    },
  },
  "seed": {
    usage: "seed [FILE.sql …]",
    does:
      "Fills the code lists, then runs the files (sql/demo.sql creates the demo organization)",
    parse(args) {
      const { positionals } = read(this, args, {}, Infinity);
      return async (connect) => {
        await seed(connect(), positionals);
        return [
          "The code lists are filled",
          ...positionals.map((file) => `Ran ${file}`),
        ].join("\n");
      };
    },
  },
  "recount": {
    usage: "recount",
    does:
      "Recounts all products and invalidates all stored answers, after SQL that ran without triggers; writers wait for it",
    parse(args) {
      read(this, args, {});
      return async (connect) => {
        await recount(connect());
        return "All products are counted";
      };
    },
  },
  "organization list": {
    usage: "organization list [--json]",
    does: "Lists the organizations",
    parse(args) {
      const { values } = read(this, args, { json: { type: "boolean" } });
      return async (connect) =>
        format(await connect().scan(listOrganizations), values.json);
    },
  },
  "organization create": {
    usage: "organization create NAME",
    does: "Creates an organization and prints its id",
    parse(args) {
      const { positionals: [name] } = read(this, args, {}, 1);
      if (!name?.trim()) throw usage(this, "NAME is missing");
      return async (connect) => {
        const [[organization]] = await connect().transaction((tx) =>
          tx.commit(createOrganization(name))
        );
        return organization!.id;
      };
    },
  },
  ...KEY_COMMANDS,
  ...MEMBER_COMMANDS,
  ...TRANSFER_COMMANDS,
};

/** The usage of the commands with this name, or of all commands if the name is unknown. */
export function help(name?: string): string {
  const all = [...Object.values(COMMANDS), DOCTOR];
  const named = all.filter(({ usage }) => usage.split(" ")[0] === name);
  return (named.length > 0 ? named : all)
    .map(({ usage, does }) => `deno task ${usage}\n    ${does}`)
    .join("\n");
}

/** The short usage of the commands with this name, in one line. */
export function calls(name: string): string {
  const names = [...Object.keys(COMMANDS), "doctor"];
  const verbs = names.filter((call) => call.startsWith(`${name} `))
    .map((call) => call.slice(name.length + 1));
  return verbs.length > 0
    ? `${name} ${verbs.join("|")}`
    : [...new Set(names.map((call) => call.split(" ")[0]))].join("|");
}
