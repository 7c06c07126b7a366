import type { Load } from "./load.ts";
import type { Scenario } from "./scenarios.ts";

const SCRIPT = new URL("wrk.lua", import.meta.url).pathname;

/** A kind of request, and the number of its clients. */
export type Requests =
  & Pick<Scenario, "clients" | "method" | "path" | "numbers" | "body">
  & { client: { key: string } };

/** Sends the requests to `origin` for this number of seconds. Throws if one fails. */
export async function runWrk(
  { clients, method, path, client, numbers, body }: Requests,
  { origin, seconds, seed }: { origin: string; seconds: number; seed: number },
): Promise<Load> {
  const { success, stdout, stderr } = await new Deno.Command("wrk", {
    args: [
      ...["-t", "1", "-c", String(clients)],
      ...["-d", `${seconds}s`, "--timeout", "30s"],
      ...["-s", SCRIPT, origin, "--", method, path, client.key],
      ...[...numbers, seed].map(String),
      ...body ? [body] : [],
    ],
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (!success) throw new Error(new TextDecoder().decode(stderr) || text);
  const { failed, ...load } = JSON.parse(
    text.trimEnd().split("\n").at(-1)!,
  ) as Load & { failed: number };
  if (failed > 0) {
    throw new Error(
      `${failed} of ${load.requests} requests failed: ${method} ${path}`,
    );
  }
  return load;
}
