import { assertEquals } from "@std/assert";
import type { Database } from "../../db/database.ts";
import { claimMessages } from "../../features/webhooks/db/claim.ts";
import type { Attempt } from "../../features/webhooks/db/outcomes.ts";
import { findWork } from "../../features/webhooks/db/work.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

const URL = "http://127.0.0.1:9/";

/**
 * Claims the messages of webhooks as the sender does. The answers of receivers are made
 * here, so that nothing depends on time.
 */
export async function askForWebhooks(
  app: App,
  database: Database,
  org: Organization,
): Promise<void> {
  const attempt = (id: string, url: string, status: number): Attempt => ({
    id,
    url,
    result: {
      attempted_at: new Date().toISOString(),
      duration_ms: 1,
      response_status: status,
      response_body: "",
      error: status < 300 ? null : "status",
    },
  });
  const sender = {
    ...app.sender({ WEBHOOK_ALLOWED_TARGETS: "127.0.0.1", WEBHOOK_RETRY_SECONDS: "1" }, database),
    attempt: (_: string, { url }: { url: string }, { id }: { id: string }) =>
      Promise.resolve(attempt(id, url, 204)),
  };
  const handler = app.variant({ database, sender });
  const headers = { "x-api-key": org.key, "content-type": "application/json" };
  const ask = async (method: string, path: string, body?: unknown) => {
    const reply = await send(handler, `/api${path}`, {
      method,
      headers,
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    assertEquals(reply.status < 300, true, `${method} ${path}: ${reply.text}`);
    return reply.body.data;
  };
  const create = async (body: object): Promise<string> =>
    (await ask("POST", "/webhooks", { url: URL, ...body })).id;
  const queries = () =>
    database.for({
      deadline: performance.now() + 60_000,
      caller: { organizationId: org.id, name: "webhooks" },
    });
  const claim = (id: string, attempts: Attempt[] = []) =>
    claimMessages(queries(), id, { attempts, room: 8 }, sender.config);

  const next = new Map<string, Awaited<ReturnType<typeof claim>>>();

  /** Sends the messages that may be sent now, and stores the answers. That claims the next ones. */
  async function deliver(id: string, status: number): Promise<void> {
    let claimed = next.get(id) ?? await claim(id);
    // The feed waits for older transactions of the server.
    await eventually(true, async () => {
      if (claimed.messages.length === 0) claimed = await claim(id);
      return claimed.messages.length > 0;
    });
    const { webhook: { url }, messages } = claimed;
    next.set(id, await claim(id, messages.map(({ id }) => attempt(id, url, status))));
  }

  const id = await create({ after: "start" });
  const burst = await create({ events: ["feed.advanced"], after: "start" });
  await findWork(queries(), { limit: 8, waitingMax: sender.config.waitingMax });
  await deliver(burst, 204);
  // So many failures that the webhook pauses. A success by hand ends this: the others are due.
  await deliver(id, 500);
  const [{ id: failed }] = await ask(
    "GET",
    `/webhooks/${id}/deliveries?status=waiting`,
  );
  await ask("POST", `/webhooks/${id}/deliveries/${failed}/retry`);
  await deliver(id, 204);
  // A cursor of another origin.
  await app
    .sql`update webhooks set cursor = jsonb_set(cursor, '{origin}', to_jsonb(id))`;
  await deliver(id, 204);
  await deliver(id, 410);
  for (const each of [id, burst]) await ask("DELETE", `/webhooks/${each}`);
}
