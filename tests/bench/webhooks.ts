import { MAX_WEBHOOKS } from "../../schema/webhooks.ts";
import { compete, type Contestant, type Rules, serving } from "./contest.ts";
import type { Result } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import { send } from "./send.ts";
import type { Service } from "./service.ts";
import type { Subject } from "./subject.ts";

/** The variables of a service that may call the receiver. */
export const ALLOWS_RECEIVER = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1" };

/**
 * Compares writes whose changes ten webhooks send with the same writes, in the same
 * service, while the webhooks are disabled. Ratios are relative to the latter.
 */
export async function measureWebhooks(
  { service, scenarios: { put, create } }: Subject,
  rules: Rules,
  only: string,
): Promise<Result[]> {
  const chosen = [put, create].filter(({ name }) =>
    nameOf(name).includes(only)
  );
  if (chosen.length === 0) return [];
  await using receiver = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 204 }),
  );
  const url = `http://127.0.0.1:${receiver.addr.port}/`;
  const paths: string[] = [];
  for (let i = 0; i < MAX_WEBHOOKS; i++) {
    const body = JSON.stringify({ url, enabled: false });
    const request = { method: "POST", path: "/api/webhooks", body } as const;
    const { data } = await send({ ...put, ...request }, service.origin, 0);
    paths.push(`/api/webhooks/${data.id}`);
  }
  const results: Result[] = [];
  for (const scenario of chosen) {
    const without = serving(service, scenario);
    results.push(
      ...await compete(nameOf(scenario.name), [
        { ...sending(service, scenario, paths), name: "ten webhooks" },
        { ...without, name: "none enabled" },
      ], rules),
    );
  }
  for (const path of paths) {
    const request = { method: "DELETE", path } as const;
    await send({ client: put.client, ...request }, service.origin, 0);
  }
  return results;
}

function nameOf(scenario: string): string {
  return `${scenario} with webhooks`;
}

/** A service that sends the changes of each run, from its beginning to its end. */
function sending(
  service: Service,
  scenario: Scenario,
  paths: readonly string[],
): Contestant {
  const contestant = serving(service, scenario);
  async function enable(body: object): Promise<void> {
    for (const path of paths) {
      const request = {
        method: "PUT",
        path,
        body: JSON.stringify(body),
      } as const;
      await send({ ...scenario, ...request }, service.origin, 0);
    }
  }
  return {
    ...contestant,
    async run(how) {
      await enable({ enabled: true, after: "now" });
      const load = await contestant.run(how);
      await enable({ enabled: false });
      return load;
    },
  };
}
