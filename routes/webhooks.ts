import type { Queries } from "../db/database.ts";
import {
  deliveryNotFound,
  listDeliveries,
  messageId,
  payload,
  takeMessage,
} from "../db/webhooks/deliveries.ts";
import { claimMessages } from "../db/webhooks/claim.ts";
import { BACK_OFF_AFTER } from "../db/webhooks/webhook.ts";
import {
  createWebhook,
  deleteWebhook,
  endBackOff,
  getWebhook,
  listWebhooks,
  readWebhook,
  rotateSecret,
  updateWebhook,
} from "../db/webhooks/webhooks.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { success } from "../middleware/respond.ts";
import { logDisabled } from "../middleware/sender/disabled.ts";
import { detailAt, invalid } from "../schema/errors.ts";
import { faultsOf } from "../schema/targets.ts";
import type { PageQuery } from "../schema/record_query.ts";
import type {
  Delivery,
  DeliveryQuery,
  NewWebhook,
  Rotation,
  WebhookChange,
} from "../schema/webhooks.ts";
import { deletion, locationOf, ok, page } from "./responses.ts";

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
  sender.notice();
  return {
    status: 201,
    body: success(JSON.stringify(webhook)),
    headers: {
      location: locationOf(context, webhook.id),
      "cache-control": "no-store",
    },
  };
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
  sender.notice();
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

/** `POST /webhooks/{id}/test`: sends a test message. Its failure changes nothing; its success ends the pause after failures. */
export async function test(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender }, caller, database, params: { id } } = context;
  using _ = sender.throttle.byHand(caller.organizationId);
  const { webhook } = await readWebhook(database, id);
  const type = "webhook.test";
  const message = {
    id: messageId(id, crypto.randomUUID()),
    body: payload(type, {}),
  };
  const { result } = await sender.attempt(
    caller.organizationId,
    webhook,
    message,
  );
  const isSuccess = result.error === null;
  if (isSuccess && webhook.failures >= BACK_OFF_AFTER) {
    await endBackOff(queriesAfter(context), id);
    sender.notice();
  }
  const delivery: Delivery = {
    id: message.id,
    type,
    product_id: null,
    status: isSuccess ? "succeeded" : "failed",
    attempts: 1,
    created_at: result.attempted_at!,
    next_attempt_at: null,
    ...result,
  };
  return ok(JSON.stringify(delivery));
}

/** `POST /webhooks/{id}/deliveries/{delivery_id}/retry`: no other attempt follows unless the message waits. */
export async function retry(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender, log }, caller, database, params } = context;
  const { id, delivery_id: deliveryId } = params;
  const { config } = sender;
  using _ = sender.throttle.byHand(caller.organizationId);
  const taken = await takeMessage(database, id, deliveryId, config);
  const made = await sender.attempt(
    caller.organizationId,
    taken.webhook,
    taken.message,
  );
  const { webhook, isDisabled, deliveries: [delivery] } = await claimMessages(
    queriesAfter(context),
    id,
    { attempts: [made], room: 0 },
    config,
  );
  if (isDisabled) logDisabled(log, caller.organizationId, webhook);
  sender.notice();
  // The webhook was set to another position meanwhile.
  if (!delivery) throw deliveryNotFound(deliveryId);
  return ok(JSON.stringify(delivery));
}

/** `GET /webhooks/{id}/deliveries`. */
export async function listAttempts(
  context: Admitted<DeliveryQuery>,
): Promise<HandlerResponse> {
  const { database, params, query } = context;
  return page(context, await listDeliveries(database, params.id, query));
}

/** Queries after an attempt, which may take longer than a request has. */
function queriesAfter({ services, caller }: Admitted): Queries {
  const deadline = performance.now() + services.deadlineMs;
  return services.database.for({ deadline, caller });
}

/** How long a name may take to resolve. One that does not resolve is accepted: its receiver may come later. */
const RESOLVE_MS = 3_000;

const TARGET_FAULTS = {
  https_required: "https_required: Expected an https URL",
  forbidden_target:
    "forbidden_target: The host is not public, nor allowed by WEBHOOK_ALLOWED_TARGETS",
};

/**
 * Throws `VALIDATION_ERROR` if the URL may not be called. It tells a writer which names
 * have addresses that are not public: whoever registers a receiver needs the reason.
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
