import { hostOf } from "../../schema/targets.ts";
import { sql } from "../../db/connections/sql.ts";
import { rfc3339 } from "../../db/times.ts";
import { backlog } from "./db/requests.ts";
import { command, flag, uuid } from "../../db/command_line/arguments.ts";
import { format } from "../../db/command_line/output.ts";

/** `deno task webhook list`: the state of webhooks. It shows hosts only: a path may hold a token. */
export const LIST_WEBHOOKS = command({
  usage: "webhook list [--organization ID] [--json]",
  does:
    "Lists the webhooks of one organization or of all, with state, backlog, failures and hosts, without secrets",
  args: {
    organization: (given?: string) => given === undefined ? given : uuid(given),
    json: flag,
  },
  async run({ organization, json }, { connect }) {
    const database = await connect(organization);
    const rows = await database.scan(sql<{ host: string }>`
      select
        webhook.organization_id, webhook.id, webhook.url as host,
        case
          when not webhook.enabled then webhook.disabled_reason
          when greatest(webhook.resumes_at, webhook.paused_until) > now() then 'resting'
          when webhook.failures > 0 then 'failing'
          else 'sending'
        end as state,
        array_to_string(webhook.events, ',') as events,
        backlog.behind,
        backlog.waiting,
        ${rfc3339("webhook.failing_since")} as failing_since,
        ${rfc3339("greatest(webhook.resumes_at, webhook.paused_until)")} as resumes_at,
        ${rfc3339("webhook.last_success_at")} as last_success_at,
        ${rfc3339("webhook.disabled_at")} as disabled_at
      from webhooks webhook
      cross join lateral (${backlog(sql`webhook.organization_id`)}) backlog
      ${organization ? sql`where webhook.organization_id = ${organization}` : []}
      order by webhook.organization_id, webhook.created_at, webhook.id
    `);
    const shown = rows.map((row) => (
      { ...row, host: hostOf(new URL(row.host)) }
    ));
    return format(shown, json);
  },
});
