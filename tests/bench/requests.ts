import type { How, Load, Scenario } from "./contest.ts";
import type { Data } from "./data.ts";

/** A kind of request. In path and body, a random line of `rows` replaces `{1}`, `{2}` … by its words. */
export interface Requests {
  method: "GET" | "POST" | "PUT";
  /** The path after `/api`. */
  path: string;
  key: string;
  rows: Rows;
  body?: object;
}

/** Lines of words, also as a file for wrk. */
export interface Rows {
  file: string;
  lines: string[];
}

/** A scenario that sends one kind of request. */
export interface RequestScenario extends Scenario {
  requestsOf(data: Data): Requests;
}

/**
 * A scenario whose clients each send a request after the response to the last. `beside`
 * sends its own at the same time.
 */
export function requests(
  name: string,
  clients: number,
  requestsOf: RequestScenario["requestsOf"],
  beside?: RequestScenario,
): RequestScenario {
  return {
    name,
    clients,
    requestsOf,
    // Plans the statements of every connection, and compiles what is called often.
    async warmUp({ origin, data }) {
      const how = { seconds: 1, seed: 0, round: 0 };
      await runWrk(origin, clients, requestsOf(data), how);
    },
    async run(contestant, how) {
      const { origin, data } = contestant;
      const [load] = await Promise.all([
        runWrk(origin, clients, requestsOf(data), how),
        beside?.run(contestant, how),
      ]);
      return load;
    },
  };
}

const SCRIPT = new URL("wrk.lua", import.meta.url).pathname;

/** Throws if a request fails. */
async function runWrk(
  origin: string,
  clients: number,
  { method, path, key, rows, body }: Requests,
  { seconds, seed }: How,
): Promise<Load> {
  const { success, stdout, stderr } = await new Deno.Command("wrk", {
    args: [
      ...["-t", "1", "-c", String(clients), "-d", `${seconds}s`],
      ...["--timeout", "30s", "-s", SCRIPT, origin, "--"],
      ...[method, `/api${path}`, key, String(seed), rows.file],
      ...body ? [JSON.stringify(body)] : [],
    ],
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (!success) throw new Error(new TextDecoder().decode(stderr) || text);
  const { failed, ...load }: Load & { failed: number } = JSON.parse(
    text.trimEnd().split("\n").at(-1)!,
  );
  if (failed === 0) return load;
  throw new Error(`${failed} of ${load.count} failed: ${method} ${path}`);
}

/** One of the requests, with the words of a line, and its body as text. */
export function filled({ rows, body, ...requests }: Requests, i: number) {
  const words = rows.lines[i % rows.lines.length]!.split(" ");
  const fill = (text: string) => text.replace(/\{(\d)\}/g, (_, n) => words[Number(n) - 1]!);
  return {
    ...requests,
    path: fill(requests.path),
    body: body === undefined ? undefined : fill(JSON.stringify(body)),
  };
}

/** Sends one of the requests, and returns the response body. Throws if it fails. */
export async function send(
  origin: string,
  requests: Requests,
  i: number,
): Promise<Envelope> {
  const { method, path, key, body } = filled(requests, i);
  return await call(origin, key, method, path, body && JSON.parse(body));
}

/** Sends a request, and returns the response body. Throws if it fails. */
export async function call(
  origin: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Envelope> {
  const response = await fetch(`${origin}/api${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok) {
    return text.startsWith("{") ? JSON.parse(text) : { data: text };
  }
  throw new Error(`${method} ${path}: ${response.status} ${text}`);
}

/** The envelope of responses (specification, 7.1). */
export interface Envelope {
  // deno-lint-ignore no-explicit-any
  data: any;
  // deno-lint-ignore no-explicit-any
  meta?: any;
}
