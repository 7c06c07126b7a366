import { endOfKey, listKeys, newKey, revokeKey } from "../api_keys.ts";
import {
  type Command,
  oneOf,
  read,
  required,
  time,
  usage,
  UsageError,
  uuid,
} from "./arguments.ts";
import { listCommand } from "./list_command.ts";

/** `deno task key`: API keys. */
export const KEY_COMMANDS: Record<string, Command> = {
  "key create": {
    usage:
      "key create --organization ID --name NAME [--scope read|write] [--expires 2027-01-31]",
    does: "Creates an API key and prints it once: only its hash is stored",
    parse(args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        name: { type: "string" },
        scope: { type: "string", default: "write" },
        expires: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const name = required(this, "name", values.name);
      const scope = oneOf(this, "scope", values.scope, [
        "read",
        "write",
      ]);
      const expiresAt = time(this, "expires", values.expires);
      const { key, statement } = newKey({
        organizationId,
        name,
        scope,
        expiresAt,
      });
      return async (connect) => {
        await connect().transaction((tx) => tx.commit(statement));
        return key;
      };
    },
  },
  "key list": listCommand({
    usage: "key list --organization ID [--json]",
    does: "Lists the keys of an organization, without the keys themselves",
  }, listKeys),
  "key revoke": {
    usage: "key revoke PUBLIC_ID [--at 2027-01-31T12:00:00Z]",
    does:
      "Revokes a key by its public id (the 12 characters after cat_), now or at a time",
    parse(args) {
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
      return async (connect) => {
        const [, [end]] = await connect().transaction((tx) =>
          tx.commit(revokeKey(id, at), endOfKey(id))
        );
        if (!end) {
          throw new UsageError(
            `No key has the public id "${id}": see key list`,
          );
        }
        return `The key ${id} is revoked at ${end.revoked_at}; running services notice within 5 seconds`;
      };
    },
  },
};
