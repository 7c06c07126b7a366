import { pause } from "../db/connections/deadline.ts";
import type { Queries } from "../db/database.ts";
import {
  listDeliveries,
  messageId,
  payload,
  takeMessage,
} from "../db/webhooks/deliveries.ts";
import { deliveryAfter, storeOutcomes } from "../db/webhooks/outcomes.ts";
import {
  createWebhook,
  deleteWebhook,
  endRest,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from "../db/webhooks/webhooks.ts";
import { findWebhook, REST_AFTER } from "../db/webhooks/work.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import type { Admitted } from "../middleware/guard.ts";
import { success } from "../middleware/respond.ts";
import { attempt } from "../middleware/sender/attempt.ts";
import { resolve } from "../middleware/sender/post.ts";
import { detailAt, invalid } from "../schema/errors.ts";
import { faultsOf } from "../schema/targets.ts";
import type {
  DeliveryQuery,
  NewWebhook,
  Rotation,
  WebhookChange,
} from "../schema/webhooks.ts";
import { deletion, locationOf, ok, page } from "./responses.ts";

/* The handlers of webhooks. */

export async function list({ database }: Admitted): Promise<HandlerResponse> {
  return ok(JSON.stringify(await listWebhooks(database)));
}

export async function create(
  context: Admitted<unknown, NewWebhook>,
): Promise<HandlerResponse> {
  const { services: { sender }, database, body } = context;
  await checkTarget(context, body.url);
  const webhook = await createWebhook(database, body);
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

export async function get(
  { database, params }: Admitted,
): Promise<HandlerResponse> {
  return ok(JSON.stringify(await getWebhook(database, params.id)));
}

export async function update(
  context: Admitted<unknown, WebhookChange>,
): Promise<HandlerResponse> {
  const { services: { sender }, caller, database, params, body } = context;
  if (body.url !== undefined) await checkTarget(context, body.url);
  const { webhook, disabled } = await updateWebhook(database, params.id, body);
  if (disabled) sender.logDisabled(caller.organizationId, disabled);
  sender.notice();
  return ok(JSON.stringify(webhook));
}

export async function remove(
  { database, params: { id } }: Admitted,
): Promise<HandlerResponse> {
  return deletion(id, await deleteWebhook(database, id));
}

export async function rotate(
  { database, params, body }: Admitted<unknown, Rotation>,
): Promise<HandlerResponse> {
  const webhook = await rotateSecret(database, params.id, body);
  return ok(JSON.stringify(webhook));
}

/** Sends a message that counts for nothing, except that its success ends a rest. */
export async function test(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender }, caller, params: { id } } = context;
  using _ = sender.reserve(caller.organizationId);
  const webhook = await findWebhook(context.database, id);
  const type = "webhook.test";
  const outcome = await attempt(webhook, {
    id: messageId(id, crypto.randomUUID()),
    type,
    body: payload(type, {}),
    product_id: null,
    attempts: 0,
    created_at: new Date().toISOString(),
  }, sender.config);
  if (outcome.error === null && webhook.failures >= REST_AFTER) {
    await endRest(queriesAfter(context), id);
    sender.notice();
  }
  const delivery = deliveryAfter(outcome, webhook, sender.config);
  return ok(JSON.stringify({
    ...delivery,
    ...outcome.error && { status: "failed", next_attempt_at: null },
  }));
}

/** Sends a message once more. Unless it waits, no other attempt follows. */
export async function retry(context: Admitted): Promise<HandlerResponse> {
  const { services: { sender }, caller, database, params } = context;
  const { id, delivery_id: deliveryId } = params;
  const { config } = sender;
  using _ = sender.reserve(caller.organizationId);
  const webhook = await findWebhook(database, id);
  const message = await takeMessage(database, id, deliveryId, config);
  const outcome = await attempt(webhook, message, config);
  const { deliveries: [delivery], disabled } = await storeOutcomes(
    queriesAfter(context),
    id,
    { outcomes: [outcome] },
    config,
  );
  if (disabled) sender.logDisabled(caller.organizationId, disabled);
  sender.notice();
  return ok(JSON.stringify(delivery));
}

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

const FAULTS = {
  https_required: "https_required: Expected an https URL",
  forbidden_target:
    "forbidden_target: The host is not public, nor allowed by WEBHOOK_ALLOWED_TARGETS",
};

/** Throws `VALIDATION_ERROR` if the URL may not be called. */
async function checkTarget(
  { services: { sender } }: Admitted,
  url: string,
): Promise<void> {
  const target = new URL(url);
  const addresses = await Promise.race([
    resolve(target).catch(() => []),
    pause(RESOLVE_MS).then(() => []),
  ]);
  const faults = faultsOf(
    target,
    addresses.map(({ address }) => address),
    sender.config.allowedTargets,
  );
  if (faults.length === 0) return;
  throw invalid(
    "The body",
    faults.map((fault) => detailAt("/url", FAULTS[fault])),
  );
}
