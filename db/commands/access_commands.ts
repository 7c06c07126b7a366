import { Scope } from "../../schema/api_key.ts";
import { isFuture } from "../../schema/date_time.ts";
import {
  addMember,
  endOfKey,
  listKeys,
  listMembers,
  newKey,
  removeMember,
  revokeKey,
} from "../access.ts";
import {
  type Command,
  command,
  flag,
  oneOf,
  required,
  time,
  uuid,
} from "./arguments.ts";
import { format } from "./format_rows.ts";

const scope = oneOf(Scope.options, "write");

const role = oneOf(["viewer", "editor", "admin", "owner"]);

/** `deno task key` and `deno task member`: access to an organization. */
export const ACCESS_COMMANDS: Record<string, Command> = {
  "key create": command({
    usage:
      "key create --organization ID --name NAME [--scope read|write] [--expires 2027-01-31]",
    does: "Creates an API key and prints it once: only its hash is stored",
    args: { organization: uuid, name: required, scope, expires: future },
    async run({ organization, name, scope, expires }, connect) {
      const { key, statement } = newKey({
        organizationId: organization,
        name,
        scope,
        expiresAt: expires,
      });
      await connect().write(statement);
      return key;
    },
  }),
  "key list": command({
    usage: "key list --organization ID [--json]",
    does: "Lists the keys of an organization, without the keys themselves",
    args: { organization: uuid, json: flag },
    run: async ({ organization, json }, connect) =>
      format(await connect(organization).scan(listKeys), json),
  }),
  "key revoke": command({
    usage: "key revoke PUBLIC_ID [--at 2027-01-31T12:00:00Z]",
    does:
      "Revokes a key by its public id (the 12 characters after cat_), now or at a time",
    args: { PUBLIC_ID: publicId, at: time },
    async run({ PUBLIC_ID: id, at }, connect) {
      const [, [end]] = await connect().write(
        revokeKey(id, at),
        endOfKey(id),
      );
      if (!end) {
        throw new Error(`No key has the public id "${id}": see key list`);
      }
      return `The key ${id} is revoked at ${end.revoked_at}; running services notice within 5 seconds`;
    },
  }),
  "member add": command({
    usage:
      "member add --organization ID --user SUB --role viewer|editor|admin|owner",
    does:
      "Lets the subject of a Bearer token act for an organization, or changes its role",
    args: { organization: uuid, user: required, role },
    async run({ organization, user, role }, connect) {
      await connect(organization).write(addMember(user, role));
      return `${user} is ${role} of ${organization}`;
    },
  }),
  "member list": command({
    usage: "member list --organization ID [--json]",
    does: "Lists the members of an organization",
    args: { organization: uuid, json: flag },
    run: async ({ organization, json }, connect) =>
      format(await connect(organization).scan(listMembers), json),
  }),
  "member remove": command({
    usage: "member remove --organization ID --user SUB",
    does: "Removes a member; running services notice within 5 seconds",
    args: { organization: uuid, user: required },
    async run({ organization, user }, connect) {
      const [removed] = await connect(organization).write(removeMember(user));
      if (removed.length === 0) {
        throw new Error(
          `"${user}" is not a member of ${organization}: see member list`,
        );
      }
      return `${user} is no longer a member of ${organization}`;
    },
  }),
};

function future(given?: string): string | undefined {
  const at = time(given);
  if (at === undefined || isFuture(at)) return at;
  throw new Error("must be in the future");
}

function publicId(given = ""): string {
  if (/^[0-9a-z]{12}$/.test(given)) return given;
  throw new Error("must be the 12 characters between cat_ and the next _");
}
