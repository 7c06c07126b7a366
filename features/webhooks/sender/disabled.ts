import type { DisabledReason } from "../schema.ts";
import { hostOf } from "../../../schema/targets.ts";
import { EVENTS } from "../../../middleware/events.ts";

/** Writes a warning to the log. */
export type WarningLog = (
  level: "warn",
  fields: Record<string, unknown>,
) => void;

/** A disabled webhook, as far as the log shows it. */
interface Logged {
  id: string;
  url: string;
  disabled_reason: DisabledReason | null;
}

const ENABLE = 'PUT /webhooks/{id} {"enabled":true}';

/** Advice by the reason for which a webhook was disabled, if not by its organization. */
const REMEDIES: Partial<Record<DisabledReason, string>> = {
  gone: `Once its receiver is back, enable it: ${ENABLE}`,
  failing: `Once its receiver works, enable it: ${ENABLE}`,
  copied: `The database is a copy: enable it if the copy may call it: ${ENABLE}`,
};

/** Logs that a webhook was disabled, with the host of its URL: the path may hold a token. */
export function logDisabled(
  log: WarningLog,
  organizationId: string,
  { id, url, disabled_reason: reason }: Logged,
): void {
  log("warn", {
    message: EVENTS.webhookDisabled,
    webhook_id: id,
    organization_id: organizationId,
    host: hostOf(new URL(url)),
    reason,
    advice: REMEDIES[reason!],
  });
}
