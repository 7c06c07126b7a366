import type { Tx } from "../connections/sql.ts";
import { createOrganization } from "../organizations.ts";
import { type Command, read, usage } from "./arguments.ts";
import { DOCTOR } from "./doctor.ts";
import { KEY_COMMANDS } from "./key_commands.ts";
import { format } from "./list_command.ts";
import { MEMBER_COMMANDS } from "./member_commands.ts";
import { migrate, seed } from "../migrate.ts";
import { recount } from "../products/recount.ts";

/** `deno task <name> [<verb>]`, by name and verb. */
export const COMMANDS: Record<string, Command> = {
  "migrate": {
    usage: "migrate",
    does:
      "Applies what is pending in sql/migrations, and counts products that were loaded by SQL",
    parse(args) {
      read(this, args, {});
      return async (database) => {
        const applied = await migrate(database);
        return applied.length === 0
          ? "Nothing is pending"
          : applied.map((name) => `Applied ${name}`).join("\n");
      };
    },
  },
  "seed": {
    usage: "seed [FILE.sql …]",
    does:
      "Fills the code lists, and runs the files after them (sql/demo.sql is the demo organization)",
    parse(args) {
      const { positionals } = read(this, args, {}, Infinity);
      return async (database) => {
        await seed(database, positionals);
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
      "Counts all products anew, which is needed after changes by SQL; writes wait for it",
    parse(args) {
      read(this, args, {});
      return async (database) => {
        await recount(database);
        return "All products are counted";
      };
    },
  },
  "organization list": {
    usage: "organization list [--json]",
    does: "Lists the organizations",
    parse(args) {
      const { values } = read(this, args, { json: { type: "boolean" } });
      return async (database) =>
        format(await database.transaction(listOrganizations), values.json);
    },
  },
  "organization create": {
    usage: "organization create NAME",
    does: "Makes an organization and prints its id",
    parse(args) {
      const { positionals: [name] } = read(this, args, {}, 1);
      if (!name?.trim()) throw usage(this, "NAME is missing");
      return (database) =>
        database.transaction((sql) => createOrganization(sql, name));
    },
  },
  ...KEY_COMMANDS,
  ...MEMBER_COMMANDS,
};

/** The usage of the commands of one name, or of all commands when there is no such name. */
export function help(name?: string): string {
  const all = [...Object.values(COMMANDS), DOCTOR];
  const named = all.filter(({ usage }) => usage.split(" ")[0] === name);
  return (named.length > 0 ? named : all)
    .map(({ usage, does }) => `deno task ${usage}\n    ${does}`)
    .join("\n");
}

/** The usage of those commands in short, on one line. */
export function calls(name: string): string {
  const names = [...Object.keys(COMMANDS), "doctor"];
  const verbs = names.filter((call) => call.startsWith(`${name} `))
    .map((call) => call.slice(name.length + 1));
  return verbs.length > 0
    ? `${name} ${verbs.join("|")}`
    : [...new Set(names.map((call) => call.split(" ")[0]))].join("|");
}

async function listOrganizations(sql: Tx): Promise<Record<string, unknown>[]> {
  return await sql`select id, name from organizations order by name, id`;
}
