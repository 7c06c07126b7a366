import { addMember, listMembers, removeMember } from "../organizations.ts";
import {
  type Command,
  oneOf,
  read,
  required,
  UsageError,
  uuid,
} from "./arguments.ts";
import { listCommand } from "./list_command.ts";

/** `deno task member`: the users that Bearer tokens identify. */
export const MEMBER_COMMANDS: Record<string, Command> = {
  "member add": {
    usage:
      "member add --organization ID --user SUB --role viewer|editor|admin|owner",
    does:
      "Lets the subject of a Bearer token act for an organization, or changes its role",
    parse(args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        user: { type: "string" },
        role: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const userId = required(this, "user", values.user);
      const role = oneOf(this, "role", values.role, [
        "viewer",
        "editor",
        "admin",
        "owner",
      ]);
      return async (connect) => {
        await connect(organizationId).transaction((tx) =>
          tx.commit(addMember(userId, role))
        );
        return `${userId} is ${role} of ${organizationId}`;
      };
    },
  },
  "member list": listCommand({
    usage: "member list --organization ID [--json]",
    does: "Lists the members of an organization",
  }, listMembers),
  "member remove": {
    usage: "member remove --organization ID --user SUB",
    does: "Removes a member; running services notice within 5 seconds",
    parse(args) {
      const { values } = read(this, args, {
        organization: { type: "string" },
        user: { type: "string" },
      });
      const organizationId = uuid(this, "organization", values.organization);
      const userId = required(this, "user", values.user);
      return async (connect) => {
        const [removed] = await connect(organizationId).transaction((tx) =>
          tx.commit(removeMember(userId))
        );
        if (removed.length === 0) {
          throw new UsageError(
            `"${userId}" is not a member of ${organizationId}: see member list`,
          );
        }
        return `${userId} is no longer a member of ${organizationId}`;
      };
    },
  },
};
