import { hostOf } from "../../schema/targets.ts";
import { sql } from "../connections/sql.ts";
import { rfc3339 } from "../times.ts";
import { backlog, behind } from "../webhooks/work.ts";
import { command, flag, uuid } from "./arguments.ts";
import { format } from "./output.ts";

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
    const database = await connect(organization);
    const rows = await database.scan(sql<{ host: string }>`
      select
        w.organization_id, w.id, w.url as host,
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
      ${organization ? sql`where w.organization_id = ${organization}` : []}
      order by w.organization_id, w.created_at, w.id
    `);
    const shown = rows.map((row) => (
      { ...row, host: hostOf(new URL(row.host)) }
    ));
    return format(shown, json);
  },
});
