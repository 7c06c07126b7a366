import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { eventually } from "../app/eventually.ts";

/** A request that a receiver got. */
export interface Received {
  id: string;
  type: string;
  /** The parsed body. */
  // deno-lint-ignore no-explicit-any
  message: any;
  body: string;
  headers: Headers;
  /** In milliseconds since 1970. */
  at: number;
}

/** A receiver of webhooks on 127.0.0.1. */
export interface Receiver extends AsyncDisposable {
  url: string;
  received: Received[];
  /** Answers the next requests. The default is 204. */
  answer(respond: (received: Received) => Response | Promise<Response>): void;
  /** Waits until this number of messages has arrived, or more. */
  arrived(count: number): Promise<void>;
}

export function openReceiver(): Receiver {
  const received: Received[] = [];
  let respond: (received: Received) => Response | Promise<Response> = ok;
  const stop = new AbortController();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    signal: stop.signal,
    onListen() {},
  }, async (request) => {
    const { headers } = request;
    const body = await request.text();
    const message = JSON.parse(body);
    const one = {
      id: headers.get("webhook-id")!,
      type: message.type,
      message,
      body,
      headers,
      at: Date.now(),
    };
    received.push(one);
    return await respond(one);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook?token=of-the-receiver`,
    received,
    answer(change) {
      respond = change;
    },
    arrived: (count) => eventually(count, () => Math.min(count, received.length)),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.finished.catch(() => {});
    },
  };
}

function ok(): Response {
  return new Response(null, { status: 204 });
}

/** The signatures that the secrets make of a message. */
export function signaturesOf(
  { id, body, headers }: Received,
  ...secrets: string[]
): string {
  const content = `${id}.${headers.get("webhook-timestamp")}.${body}`;
  return secrets.map((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  }).join(" ");
}
