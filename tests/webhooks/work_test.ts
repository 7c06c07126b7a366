import { assert, assertEquals } from "@std/assert";
import { claimDue } from "../../features/webhooks/db/claim.ts";
import type { Webhook } from "../../features/webhooks/db/state.ts";
import { type Place, selectPlace, selectWork } from "../../features/webhooks/db/work.ts";
import { matchesGolden } from "../support/sql/golden.ts";
import { NIL_UUID } from "../../db/uuid.ts";
import { webhookTest } from "./scene.ts";

const PLACE = { origin: NIL_UUID, timeline: 1 };
const LIMITS = { limit: 128, waitingMax: 1_000 };

Deno.test("work.sql shows the SQL that finds work and claims it", async () => {
  await matchesGolden(
    new URL("work.sql", import.meta.url),
    "tests/webhooks/work_test.ts",
    {
      "The enabled webhooks, and $6 of those that have something to send": selectWork(
        PLACE,
        LIMITS,
      ),
      "Claims the messages of a webhook that are due": claimDue(
        { id: "", failures: 0 } as Webhook,
        {
          room: 8,
          inFlight: 8,
          leaseEnd: "",
        },
      ),
    },
  );
});

/** A node of a plan, as EXPLAIN tells it. */
interface Plan {
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** The rows that a plan has read and passed on. */
function rowsOf(plan: Plan): number {
  const rows = (plan["Actual Rows"] ?? 0) +
    (plan["Rows Removed by Filter"] ?? 0);
  return (plan.Plans ?? [])
    .reduce(
      (sum, one) => sum + rowsOf(one),
      rows * (plan["Actual Loops"] ?? 1),
    );
}

webhookTest("Finding work costs what is due, not what waits", async (scene) => {
  const { app: { sql }, org, sender } = scene;
  const { id } = await scene.webhook();
  await sender.stop(performance.now() + 10_000);
  await sql`
    insert into webhook_deliveries (
      organization_id, webhook_id, id, type, body, status, created_at, next_attempt_at
    )
    select
      ${org.id}, ${id}, 'msg_' || n, 'product.changed', '{}', 'waiting', now(),
      now() + interval '1 day'
    from generate_series(1, 20000) n
  `;
  await sql`analyze webhook_deliveries`;
  const [place] = await sql<Place[]>`${selectPlace}`;
  const explain = async () => {
    const [row] = await sql`
      explain (analyze, format json) ${selectWork(place!, LIMITS)}
    `;
    return rowsOf(row!["QUERY PLAN"][0].Plan);
  };
  const idle = await explain();
  await sql`update webhook_deliveries set next_attempt_at = now() where id = 'msg_1'`;
  const due = await explain();
  await sql`update webhook_deliveries set next_attempt_at = now() + interval '1 day' where id = 'msg_1'`;
  await scene.product();
  const full = await explain();

  assert(idle < 100, `${idle} rows`);
  assert(due < 100, `${due} rows`);
  // Whether 1,000 messages wait is asked for a change in the feed alone.
  assert(full < 4_000, `${full} rows`);
  assertEquals(full > due, true);
});
