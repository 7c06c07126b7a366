import type { Requests } from "./wrk.ts";

/** What to ask for; `{n}` in path and body stands for a number. */
export type Wanted = Pick<Requests, "path" | "body" | "client"> & {
  method: string;
  headers?: Record<string, string>;
};

/** Sends one request with this number, and returns the body of the answer. Throws when it fails. */
export async function send(
  wanted: Wanted,
  origin: string,
  number: number,
): Promise<Answer> {
  return (await sendTagged(wanted, origin, number)).answer;
}

/** The same, with the answer's ETag. */
export async function sendTagged(
  { method, path, body, client, headers }: Wanted,
  origin: string,
  number: number,
): Promise<{ answer: Answer; etag: string }> {
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
  const answer = JSON.parse(text) as Answer;
  return { answer, etag: response.headers.get("etag") ?? "" };
}

/** What the service answers (specification, 7.1). */
export interface Answer {
  // deno-lint-ignore no-explicit-any
  data: any;
  // deno-lint-ignore no-explicit-any
  meta?: any;
}
