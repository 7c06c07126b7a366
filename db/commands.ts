import { parseArgs, type ParseArgsConfig } from "node:util";
import {
  addMember,
  createOrganization,
  issueKey,
  listKeys,
  listMembers,
  removeMember,
  revokeKey,
  type Role,
  type Scope,
} from "./access.ts";
import type { Operations } from "./database.ts";
import type { Sql } from "./sql.ts";
import { migrate, seed } from "./migrate.ts";

/** A wrong call of a command; the message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

interface Command {
  usage: string;
  does: string;
  /** What it prints, to people or (`json`) to scripts. */
  run(database: Operations, args: string[]): Promise<unknown>;
}

/** `deno task <name> [<verb>]`, by name and verb. */
export const COMMANDS: Record<string, Command> = {
  "migrate": {
    usage: "migrate",
    does:
      "Applies what is pending in sql/migrations, and counts products that were loaded by SQL",
    async run(database, args) {
      read(this, args, {});
      const applied = await migrate(database);
      return applied.length === 0
        ? "Nothing is pending"
        : applied.map((name) => `Applied ${name}`).join("\n");
    },
  },
  "seed": {
    usage: "seed [FILE.sql …]",
    does:
      "Fills the code lists, and runs the files after them (sql/demo.sql is the demo organization)",
    async run(database, args) {
      const { positionals } = read(this, args, {}, Infinity);
      await seed(database, positionals);
      return [
        "The code lists are filled",
        ...positionals.map((file) => `Ran ${file}`),
      ].join("\n");
    },
  },
  "organization create": {
    usage: "organization create NAME",
    does: "Makes an organization and prints its id",
    async run(database, args) {
      const { positionals: [name] } = read(this, args, {}, 1);
      if (!name?.trim()) throw usage(this, "NAME is missing");
      return await one(database, (sql) => createOrganization(sql, name));
    },
  },
  "key create": {
    usage:
      "key create --organization ID --name NAME [--scope read|write] [--expires 2027-01-31]",
    does:
      "Makes an API key and prints it: this once, for only its hash is kept",
    async run(database, args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        name: { type: "string" },
        scope: { type: "string", default: "write" },
        expires: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const name = needed(this, "name", values.name);
      const scope = oneOf(this, "scope", values.scope, [
        "read",
        "write",
      ]) as Scope;
      const expiresAt = time(this, "expires", values.expires);
      return await one(
        database,
        (sql) => issueKey(sql, { organizationId, name, scope, expiresAt }),
      );
    },
  },
  "key list": {
    usage: "key list --organization ID [--json]",
    does: "Lists the keys of an organization, without the keys themselves",
    async run(database, args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        json: { type: "boolean" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      return listing(
        await one(database, (sql) => listKeys(sql, organizationId)),
        values.json,
      );
    },
  },
  "key revoke": {
    usage: "key revoke PUBLIC_ID [--at 2027-01-31T12:00:00Z]",
    does:
      "Revokes a key by its public id (the 12 characters after cat_), now or at a time",
    async run(database, args) {
      const { values, positionals: [id] } = read(this, args, {
        at: { type: "string" },
      }, 1);
      if (!id || !/^[0-9a-z]{12}$/.test(id)) {
        throw usage(
          this,
          "PUBLIC_ID must be the 12 characters between cat_ and the next _",
        );
      }
      const at = time(this, "at", values.at);
      const revokedAt = await one(database, (sql) => revokeKey(sql, id, at));
      if (!revokedAt) {
        throw new UsageError(
          `There is no key with the public id "${id}": see key list`,
        );
      }
      return `The key ${id} is revoked from ${revokedAt}; running services notice within 5 seconds`;
    },
  },
  "member add": {
    usage:
      "member add --organization ID --user SUB --role viewer|editor|admin|owner",
    does:
      "Lets the subject of a Bearer token act for an organization, or changes its role",
    async run(database, args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        user: { type: "string" },
        role: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const userId = needed(this, "user", values.user);
      const role = oneOf(this, "role", values.role, [
        "viewer",
        "editor",
        "admin",
        "owner",
      ]) as Role;
      await one(
        database,
        (sql) => addMember(sql, organizationId, userId, role),
      );
      return `${userId} is ${role} of ${organizationId}`;
    },
  },
  "member list": {
    usage: "member list --organization ID [--json]",
    does: "Lists the members of an organization",
    async run(database, args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        json: { type: "boolean" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      return listing(
        await one(database, (sql) => listMembers(sql, organizationId)),
        values.json,
      );
    },
  },
  "member remove": {
    usage: "member remove --organization ID --user SUB",
    does: "Ends a membership; running services notice within 5 seconds",
    async run(database, args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        user: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const userId = needed(this, "user", values.user);
      if (
        !await one(database, (sql) => removeMember(sql, organizationId, userId))
      ) {
        throw new UsageError(
          `"${userId}" is no member of ${organizationId}: see member list`,
        );
      }
      return `${userId} is no member of ${organizationId} any more`;
    },
  },
};

/** How the commands are called: all of them, or those of one name. */
export function help(name?: string): string {
  const commands = Object.entries(COMMANDS).filter(([key]) =>
    !name || key.split(" ")[0] === name
  );
  return commands.map(([, { usage, does }]) =>
    `deno task ${usage}\n    ${does}`
  ).join("\n");
}

/** One unit of work, so that a command leaves everything or nothing. */
async function one<T>(
  database: Operations,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return await database.transaction(work);
}

function read<O extends NonNullable<ParseArgsConfig["options"]>>(
  command: Command,
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

function usage({ usage }: Command, fault: string): UsageError {
  return new UsageError(
    `${fault.replace(/\.$/, "").split(/\. |\n/)[0]}; usage: deno task ${usage}`,
  );
}

function needed(
  command: Command,
  option: string,
  value: string | undefined,
): string {
  if (!value?.trim()) throw usage(command, `--${option} is missing`);
  return value;
}

function uuid(
  command: Command,
  option: string,
  value: string | undefined,
): string {
  const given = needed(command, option, value);
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given)) {
    return given.toLowerCase();
  }
  throw usage(command, `--${option} must be a UUID`);
}

function oneOf(
  command: Command,
  option: string,
  value: string | undefined,
  allowed: string[],
): string {
  const given = needed(command, option, value);
  if (allowed.includes(given)) return given;
  throw usage(command, `--${option} must be ${allowed.join(", ")}`);
}

/** A day, whose beginning in UTC is meant, or a time with its offset (ISO 8601). */
function time(
  command: Command,
  option: string,
  value: string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  const iso =
    /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;
  const date = new Date(value);
  if (!iso.test(value) || Number.isNaN(date.valueOf())) {
    throw usage(
      command,
      `--${option} must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z`,
    );
  }
  return date.toISOString();
}

function listing(rows: Record<string, unknown>[], json?: boolean): string {
  if (json) return JSON.stringify(rows, null, 2);
  const [first] = rows;
  if (!first) return "None";
  const columns = Object.keys(first);
  const lines = [
    columns,
    ...rows.map((row) => columns.map((column) => String(row[column] ?? "-"))),
  ];
  const widths = columns.map((_, i) =>
    Math.max(...lines.map((line) => line[i]!.length))
  );
  return lines.map((line) =>
    line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()
  ).join("\n");
}
