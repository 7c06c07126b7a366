import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Message } from "../db/deliveries.ts";
import type { Attempt } from "../db/outcomes.ts";
import { signing } from "../db/requests.ts";
import type { Webhook } from "../db/state.ts";
import type { WebhookConfig } from "../../../schema/config.ts";
import { VERSION } from "../../../schema/version.ts";
import { type Post, post } from "./post.ts";

/** Sends a message, signed with all secrets (Standard Webhooks 1.0.0). Never throws. */
export async function attempt(
  { url, secrets }: Webhook,
  { id, body }: Message,
  { timeoutMs, allowedTargets: allowed }: WebhookConfig,
  resolve: Post["resolve"],
): Promise<Attempt> {
  const start = performance.now();
  const now = Date.now();
  const timestamp = String(Math.floor(now / 1_000));
  const headers = {
    "content-type": "application/json",
    "user-agent": `product-catalogue/${VERSION}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signing(secrets)
      .map(({ secret }) => signature(secret, `${id}.${timestamp}.${body}`))
      .join(" "),
  };
  const { retryAfter, ...answer } = await post({
    url,
    headers,
    body,
    timeoutMs,
    allowed,
    resolve,
  });
  const result = {
    attempted_at: new Date(now).toISOString(),
    duration_ms: Math.round(performance.now() - start),
    ...answer,
  };
  return { id, url, retryAfter, result };
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}
