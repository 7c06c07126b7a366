import { hostOf } from "../../schema/targets.ts";
import { sql, type Statement } from "../connections/sql.ts";
import { rfc3339 } from "../times.ts";
import { backlog, behind } from "../webhooks/work.ts";
import { command, flag, uuid } from "./arguments.ts";
import { format } from "./output.ts";

interface ListedWebhook {
  organization_id: string;
  id: string;
  url: string;
  [column: string]: unknown;
}

/** `deno task webhook list`: the state of webhooks. It shows hosts only: a path may hold a token. */
export const LIST_WEBHOOKS = command({
  usage: "webhook list [--organization ID] [--json]",
  does:
    "Lists the webhooks of an organization or of all: state, backlog, failures and hosts, without secrets",
  args: {
    organization: (given?: string) => given === undefined ? given : uuid(given),
    json: flag,
  },
  async run({ organization, json }, { connect }) {
    const database = await connect();
    const rows = await database.scan(webhooksOf(organization));
    const shown = rows.map(({ organization_id, id, url, ...state }) => (
      { organization_id, id, host: hostOf(new URL(url)), ...state }
    ));
    return format(shown, json);
  },
});

function webhooksOf(
  organizationId: string | undefined,
): Statement<ListedWebhook> {
  return sql`
    select
      w.organization_id, w.id, w.url,
      case
        when not w.enabled then w.disabled_reason
        when greatest(w.resumes_at, w.paused_until) > now() then 'resting'
        when w.failures > 0 then 'failing'
        else 'sending'
      end as state,
      array_to_string(w.events, ',') as events,
      ${behind(sql`w.organization_id`)} as behind,
      b.waiting,
      ${rfc3339("w.failing_since")} as failing_since,
      ${rfc3339("greatest(w.resumes_at, w.paused_until)")} as resumes_at,
      ${rfc3339("w.last_success_at")} as last_success_at,
      ${rfc3339("w.disabled_at")} as disabled_at
    from webhooks w
    cross join lateral (${backlog(sql`w.organization_id`)}) b
    ${organizationId ? sql`where w.organization_id = ${organizationId}` : []}
    order by w.organization_id, w.created_at, w.id
  `;
}
