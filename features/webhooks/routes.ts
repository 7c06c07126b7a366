import { type ManualSending, retryMessage, sendTest } from "./db/manual.ts";
import { listDeliveries } from "./db/deliveries.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from "./db/requests.ts";
import type { HandlerResponse } from "../../middleware/context.ts";
import type { Admitted } from "../../middleware/guard.ts";
import { logDisabled } from "./sender/disabled.ts";
import { detailAt, invalid } from "../../schema/errors.ts";
import { faultsOf } from "../../schema/targets.ts";
import type { PageQuery } from "../../schema/record_query.ts";
import type { DeliveryQuery, NewWebhook, Rotation, WebhookChange } from "./schema.ts";
import { deletion, issued, ok, page } from "../../middleware/responses.ts";

/* The handlers of webhooks. */

/** `GET /webhooks`. */
export async function list(
  context: Admitted<PageQuery>,
): Promise<HandlerResponse> {
  const { database, query } = context;
  return page(context, await listWebhooks(database, query));
}

/** `POST /webhooks`. */
export async function create(
  context: Admitted<unknown, NewWebhook>,
): Promise<HandlerResponse> {
  const { services: { sender }, database, body } = context;
  const webhook = await createWebhook(
    database,
    body,
    () => checkTarget(context, body.url),
  );
  sender.webhooksChanged();
  return issued(context, webhook.id, webhook);
}

/** `GET /webhooks/{id}`. */
export async function get(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  return ok(JSON.stringify(await getWebhook(database, params.id)));
}

/** `PUT /webhooks/{id}`. */
export async function update(
  context: Admitted<unknown, WebhookChange>,
): Promise<HandlerResponse> {
  const { services: { sender, log }, caller, database, params, body } = context;
  const { webhook, isDisabled } = await updateWebhook(
    database,
    params.id,
    body,
    (url) => checkTarget(context, url),
  );
  if (isDisabled) logDisabled(log, caller.organizationId, webhook);
  sender.webhooksChanged();
  return ok(JSON.stringify(webhook));
}

/** `DELETE /webhooks/{id}`. */
export async function remove(
  { database, params: { id } }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteWebhook(database, id));
}

/** `POST /webhooks/{id}/secret`. */
export async function rotate(
  { database, params, body }: Admitted<unknown, Rotation>,
): Promise<HandlerResponse> {
  const webhook = await rotateSecret(database, params.id, body);
  return ok(JSON.stringify(webhook), { "cache-control": "no-store" });
}

/** `POST /webhooks/{id}/test`. */
export async function test(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender }, caller, params: { id } } = context;
  using _ = sender.throttle.manual(caller.organizationId);
  const delivery = await sendTest(manualSending(context), id);
  sender.webhooksChanged();
  return ok(JSON.stringify(delivery));
}

/** `POST /webhooks/{id}/deliveries/{delivery_id}/retry`. */
export async function retry(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender, log }, caller, params } = context;
  using _ = sender.throttle.manual(caller.organizationId);
  const { id, delivery_id } = params;
  const retried = await retryMessage(manualSending(context), id, delivery_id);
  const { delivery, webhook, isDisabled } = retried;
  if (isDisabled) logDisabled(log, caller.organizationId, webhook);
  sender.webhooksChanged();
  return ok(JSON.stringify(delivery));
}

function manualSending({ services, caller }: Admitted): ManualSending {
  const { sender, database, deadlineMs } = services;
  return {
    config: sender.config,
    queries: () => database.for({ deadline: performance.now() + deadlineMs, caller }),
    attempt: (webhook, message) => sender.attempt(caller.organizationId, webhook, message),
  };
}

/** `GET /webhooks/{id}/deliveries`. */
export async function listAttempts(
  context: Admitted<DeliveryQuery>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  return page(context, await listDeliveries(database, params.id, query));
}

/**
 * The time limit to resolve a name. One that does not resolve is accepted, since its receiver may
 * come later.
 */
const RESOLVE_MS = 3_000;

const TARGET_FAULTS = {
  https_required: "https_required: Expected an https URL",
  forbidden_target:
    "forbidden_target: The host is not public, nor allowed by WEBHOOK_ALLOWED_TARGETS",
};

/**
 * Throws `VALIDATION_ERROR` if the URL may not be called. The error names hosts with private
 * addresses: a caller who registers a receiver needs the reason.
 */
async function checkTarget(
  { services: { sender }, caller }: Admitted,
  url: string,
): Promise<void> {
  const target = new URL(url);
  const deadline = performance.now() + RESOLVE_MS;
  const addresses = await sender.names
    .resolve(caller.organizationId, target, deadline)
    .catch(() => []);
  const faults = faultsOf(
    target,
    addresses.map(({ address }) => address),
    sender.config.allowedTargets,
  );
  if (faults.length === 0) return;
  throw invalid(
    "The body",
    faults.map((fault) => detailAt("/url", TARGET_FAULTS[fault])),
  );
}
