import type { Scenario } from "./scenarios.ts";

/** What to ask for; `{n}` in path and body stands for a number. */
type Asked = Pick<Scenario, "path" | "body" | "client"> & { method: string };

/** Sends one request with this number, and gives the body of the answer. Throws when it fails. */
export async function send(
  { method, path, body, client }: Asked,
  origin: string,
  number: number,
): Promise<Answer> {
  const response = await fetch(
    origin + path.replaceAll("{n}", String(number)),
    {
      method,
      headers: { "x-api-key": client.key, "content-type": "application/json" },
      ...body && { body: body.replaceAll("{n}", String(number)) },
    },
  );
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  return JSON.parse(text) as Answer;
}

/** What the service answers (specification, 7.1). */
export interface Answer {
  // deno-lint-ignore no-explicit-any
  data: any;
}
