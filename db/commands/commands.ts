import { Scope } from "../../schema/api_key.ts";
import { isFuture } from "../../schema/date_time.ts";
import {
  addMember,
  createOrganization,
  endOfKey,
  keepRecipient,
  listKeys,
  listMembers,
  listOrganizations,
  newKey,
  removeMember,
  revokeKey,
} from "../access.ts";
import { migrate, seed } from "../migrate.ts";
import { recount } from "../doctor/recount.ts";
import {
  choice,
  type Command,
  command,
  flag,
  mandatory,
  optional,
  timestamp,
  uuid,
} from "../command_line/arguments.ts";
import { DOCTOR } from "../doctor/doctor.ts";
import { format } from "../command_line/output.ts";
import { HISTORY_COMMANDS } from "../../features/history/commands.ts";
import { recipientNamed } from "../../features/recipients/db/recipients.ts";
import { READINESS } from "../../features/readiness/commands.ts";
import { TRANSFER_COMMANDS } from "../../features/transfer/commands/transfer.ts";
import { LIST_WEBHOOKS } from "../../features/webhooks/commands.ts";

/* The commands of `deno task`. Those of features are in their folders. */

const scope = choice(Scope.options, "write");

const role = choice(["viewer", "editor", "admin", "owner"]);

/** `deno task <name> [<verb>]`, by name and verb. */
export const COMMANDS: Record<string, Command> = {
  "migrate": command({
    usage: "migrate",
    does:
      "Applies the pending files of sql/migrations, and sql/functions.sql if it has changed. Run it after a backup, when the old processes have stopped and before the new ones start. A start does the same, unless MIGRATE_ON_START is false",
    args: {},
    async run(_, { connect }) {
      const { wasEmpty, applied, disabled } = await migrate(await connect());
      const names = applied.join(" and ");
      return [
        wasEmpty
          ? `The database was empty: applied ${names}. Next, deno task seed fills the code lists`
          : applied.length > 0
          ? `The database was behind: applied ${names}. Now start the service`
          : "The database is up to date",
        ...disabled.map(({ organization_id, id }) =>
          `Disabled webhook ${id} of organization ${organization_id}, since the database is a copy: PUT /webhooks/${id} {"enabled":true} enables it`
        ),
      ].join("\n");
    },
  }),
  "seed": command({
    usage: "seed [FILE.sql …]",
    does: "Fills the code lists, then runs the files (sql/demo.sql creates the demo organization)",
    args: { "FILE.sql …": (...paths) => paths },
    async run({ "FILE.sql …": paths }, { connect }) {
      await seed(await connect(), paths);
      const ran = paths.map((path) => `Ran ${path}`);
      return ["The code lists are filled", ...ran].join("\n");
    },
  }),
  "recount": command({
    usage: "recount",
    does:
      "Recounts all products, invalidates all stored JSON, and expires all cursors of /products/changes, after SQL that ran without triggers; writers wait for it",
    args: {},
    async run(_, { connect }) {
      await recount(await connect());
      return "All products are counted";
    },
  }),
  "organization list": command({
    usage: "organization list [--json]",
    does: "Lists the organizations",
    args: { json: flag },
    async run({ json }, { connect }) {
      const database = await connect();
      return format(await database.scan(listOrganizations), json);
    },
  }),
  "organization create": command({
    usage: "organization create NAME",
    does: "Creates an organization and prints its id",
    args: { NAME: mandatory },
    async run({ NAME: name }, { connect }) {
      const database = await connect();
      const [[organization]] = await database.write(
        createOrganization(name),
      );
      return organization!.id;
    },
  }),
  "key create": command({
    usage:
      "key create --organization ID --name NAME [--scope read|write] [--expires 2027-01-31] [--recipient NAME]",
    does:
      "Creates an API key and prints it once: only its hash is stored. With --scope read --recipient, the key sees what that recipient sees",
    args: { organization: uuid, name: mandatory, scope, expires: future, recipient: optional },
    async run({ organization, name, scope, expires, recipient }, { connect }) {
      if (recipient !== undefined && scope !== "read") {
        throw new Error("A key of a recipient reads: add --scope read");
      }
      const database = await connect(organization);
      const bound = recipient === undefined ? null : await recipientNamed(database, recipient);
      const { key, statement } = newKey({ name, scope, expiresAt: expires, recipient: bound });
      await database.write(...bound ? [keepRecipient(bound)] : [], statement);
      return key;
    },
  }),
  "key list": command({
    usage: "key list --organization ID [--json]",
    does: "Lists the keys of an organization, without the keys themselves",
    args: { organization: uuid, json: flag },
    async run({ organization, json }, { connect }) {
      const database = await connect(organization);
      return format(await database.scan(listKeys), json);
    },
  }),
  "key revoke": command({
    usage: "key revoke PUBLIC_ID [--at 2027-01-31T12:00:00Z]",
    does: "Revokes a key by its public id (the 12 characters after cat_), now or at a time",
    args: { PUBLIC_ID: publicId, at: timestamp },
    async run({ PUBLIC_ID: id, at }, { connect }) {
      const database = await connect();
      const [, [end]] = await database.write(
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
    usage: "member add --organization ID --user SUB --role viewer|editor|admin|owner",
    does: "Lets the subject of a Bearer token act for an organization, or changes its role",
    args: { organization: uuid, user: mandatory, role },
    async run({ organization, user, role }, { connect }) {
      const database = await connect(organization);
      await database.write(addMember(user, role));
      return `${user} is ${role} of ${organization}`;
    },
  }),
  "member list": command({
    usage: "member list --organization ID [--json]",
    does: "Lists the members of an organization",
    args: { organization: uuid, json: flag },
    async run({ organization, json }, { connect }) {
      const database = await connect(organization);
      return format(await database.scan(listMembers), json);
    },
  }),
  "member remove": command({
    usage: "member remove --organization ID --user SUB",
    does: "Removes a member; running services notice within 5 seconds",
    args: { organization: uuid, user: mandatory },
    async run({ organization, user }, { connect }) {
      const database = await connect(organization);
      const [removed] = await database.write(removeMember(user));
      if (removed.length === 0) {
        throw new Error(
          `"${user}" is not a member of ${organization}: see member list`,
        );
      }
      return `${user} is no longer a member of ${organization}`;
    },
  }),
  "webhook list": LIST_WEBHOOKS,
  "readiness": READINESS,
  ...HISTORY_COMMANDS,
  ...TRANSFER_COMMANDS,
  "doctor": DOCTOR,
};

function future(given?: string): string | undefined {
  const at = timestamp(given);
  if (at === undefined || isFuture(at)) return at;
  throw new Error("must be in the future");
}

function publicId(given = ""): string {
  if (/^[0-9a-z]{12}$/.test(given)) return given;
  throw new Error("must be the 12 characters between cat_ and the next _");
}
