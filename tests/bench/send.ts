import type { Requests } from "./wrk.ts";

/** A request. `{n}` in path and body stands for a number. */
export type Wanted = Pick<Requests, "path" | "body" | "client"> & {
  method: string;
  headers?: Record<string, string>;
};

/** Sends one request with this number, and returns the response body. Throws if it fails. */
export async function send(
  wanted: Wanted,
  origin: string,
  number: number,
): Promise<Envelope> {
  return (await sendTagged(wanted, origin, number)).envelope;
}

/** Sends a request, and returns the response body with its ETag. */
export async function sendTagged(
  { method, path, body, client, headers }: Wanted,
  origin: string,
  number: number,
): Promise<{ envelope: Envelope; etag: string }> {
  const response = await fetch(
    origin + path.replaceAll("{n}", String(number)),
    {
      method,
      headers: {
        "x-api-key": client.key,
        "content-type": "application/json",
        ...headers,
      },
      ...body && { body: body.replaceAll("{n}", String(number)) },
    },
  );
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  const envelope = JSON.parse(text) as Envelope;
  return { envelope, etag: response.headers.get("etag") ?? "" };
}

/** The envelope of responses (specification, 7.1). */
export interface Envelope {
  // deno-lint-ignore no-explicit-any
  data: any;
  // deno-lint-ignore no-explicit-any
  meta?: any;
}
