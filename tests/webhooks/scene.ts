import { assertEquals } from "@std/assert";
import type { NameResolver } from "../../features/webhooks/sender/name_resolver.ts";
import type { Sender } from "../../features/webhooks/sender/sender.ts";
import { TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { openReceiver, type Receiver } from "../support/servers/receiver.ts";
import { SECRETS } from "../support/app/secrets.ts";
import type { Reply } from "../support/client/envelope.ts";

// deno-lint-ignore no-explicit-any
type Data = any;

interface Place {
  path: string;
}

/** A service that sends webhooks, an organization of it, and a receiver. */
export interface Scene extends AsyncDisposable {
  app: App;
  sender: Sender;
  receiver: Receiver;
  org: Organization;
  /** Sends a request of the organization. The sender notices what it writes. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Creates a webhook to the receiver, and returns it with its path. */
  webhook(body?: object): Promise<Data>;
  /** Creates a product, and returns its id. */
  product(title?: string): Promise<string>;
  /** A webhook as it is. */
  state(webhook: Place): Promise<Data>;
  deliveries(webhook: Place, status?: string): Promise<Data[]>;
  /** As `arrived` of the receiver. */
  arrived: Receiver["arrived"];
  /** Waits until the field of a webhook has this value. */
  until(webhook: Place, field: string, value: unknown): Promise<void>;
}

type Test = (scene: Scene, t: Deno.TestContext) => Promise<void>;

/** Adds a test with a scene of its own. */
export function webhookTest(
  name: string,
  test: Test,
  variables: Record<string, string> = {},
  ignore = false,
): void {
  Deno.test(name, { ...TIMED, ignore }, async (t) => {
    await using scene = await openScene(variables);
    await test(scene, t);
  });
}

/**
 * Adds a test of what depends on when a change is sent. Other tests of a server have
 * transactions that hold the feed back in all of its databases.
 */
export function timedWebhookTest(
  name: string,
  test: Test,
  variables?: Record<string, string>,
): void {
  webhookTest(name, test, variables, SETTINGS.url !== undefined);
}

/** Quick retries, and the receiver as a target. */
export const VARIABLES = {
  WEBHOOK_ALLOWED_TARGETS: "127.0.0.1",
  WEBHOOK_RETRY_SECONDS: "1",
};

export async function openScene(
  variables: Record<string, string> = {},
  names?: NameResolver,
): Promise<Scene> {
  // Senders of other tests would send the webhooks of a shared database, too.
  const app = await openOwnApp();
  const receiver = openReceiver();
  const sender = app.sender(
    { ...VARIABLES, ...variables },
    app.database,
    names,
  );
  const handler = app.variant({ sender });
  const org = await app.organization();
  sender.start();

  const scene: Scene = {
    app,
    sender,
    receiver,
    org,
    async ask(method, path, body) {
      const reply = await send(handler, `/api${path}`, {
        method,
        headers: {
          "x-api-key": org.key,
          ...body !== undefined && { "content-type": "application/json" },
        },
        ...body !== undefined && { body: JSON.stringify(body) },
      });
      const secret = reply.body?.data?.secret;
      if (secret) SECRETS.addCredential(secret);
      // As the service does after each write.
      if (method !== "GET") sender.productsChanged();
      return reply;
    },
    async webhook(body = {}) {
      const { status, body: { data } } = await scene.ask("POST", "/webhooks", {
        url: receiver.url,
        ...body,
      });
      assertEquals(status, 201);
      return { ...data, path: `/webhooks/${data.id}` };
    },
    async product(title = "Emma") {
      const { body } = await scene.ask("POST", "/products", { title });
      return body.data.id;
    },
    async state({ path }) {
      return (await scene.ask("GET", path)).body.data;
    },
    async deliveries({ path }, status = "") {
      const query = status && `&status=${status}`;
      const { body } = await scene.ask(
        "GET",
        `${path}/deliveries?limit=100${query}`,
      );
      return body.data;
    },
    arrived: receiver.arrived,
    until: (webhook, field, value) =>
      eventually(value, async () => (await scene.state(webhook))[field]),
    async [Symbol.asyncDispose]() {
      await sender.stop(performance.now() + 10_000);
      await receiver[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
    },
  };
  return scene;
}
