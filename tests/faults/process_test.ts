import { assert, assertEquals } from "@std/assert";
import { type App, createOrganization, send } from "../harness.ts";
import { type Service, startService } from "../processes/service.ts";
import { startLoad } from "./load.ts";
import { eventually, FACTOR, isPossible, openScene, pause } from "./scene.ts";

Deno.test(
  { name: "A process of the service", ignore: !isPossible },
  async (t) => {
    await using scene = await openScene();
    const { app: { sql }, cluster, observer } = scene;
    let service: Service;

    /** The service as a client reaches it, whichever process it is at the time. */
    const app: Pick<App, "send" | "sql" | "organization"> = {
      sql,
      send: (path, init) =>
        send(() => ask(`${service.origin}${path}`, init), path, init),
      organization: () => createOrganization(app),
    };

    await t.step("starts before its database does", async () => {
      await cluster.stop("fast");

      const starting = startService(cluster.url);
      await pause(1_000);
      await cluster.start();
      service = await starting;

      assertEquals((await app.send("/health/ready")).status, 200);
    });

    await t.step(
      "is killed, and takes nothing acknowledged with it",
      async () => {
        const load = await startLoad(app);

        for (let round = 0; round < 3 * FACTOR; round++) {
          await pause(300 + Math.random() * 400);
          await service.kill();
          // What it was doing must not keep rows locked.
          await eventually([{ sessions: 0 }], async () => [
            ...await observer`
          select count(*)::int as sessions from pg_stat_activity
          where application_name = 'catalogue' and state like 'idle in transaction%'
        `,
          ]);
          service = await startService(cluster.url);
        }
        await pause(300);
        await load.stop();

        assert(load.answers[201]! > 0);
        await scene.assertSound(load);
      },
    );

    await t.step("keeps nothing of clients that leave", async () => {
      const org = await app.organization();
      const marks = Array.from({ length: 300 * FACTOR }, (_, n) => `left ${n}`);

      for (const title of marks) {
        const signal = AbortSignal.timeout(Math.random() * 20);
        await fetch(`${service.origin}/api/products`, {
          method: "POST",
          headers: { "x-api-key": org.key, "content-type": "application/json" },
          body: JSON.stringify({
            title,
            packing_configurations: [{ unit_of_measure: "outer" }],
          }),
          signal,
        }).then((response) => response.body?.cancel()).catch(() => {});
      }

      const products = await observer`
      select p.title, count(c.id)::int as packings
      from products p
      left join packing_configurations c on c.product_id = p.id
      where p.organization_id = ${org.id}
      group by p.id, p.organization_id
    `;
      for (const { packings } of products) assertEquals(packings, 1);
      assertEquals(
        new Set(products.map(({ title }) => title)).size,
        products.length,
      );
      assertEquals(
        (await org.get("/api/products")).body.meta.total,
        products.length,
      );
      await scene.assertSound();
    });

    await service![Symbol.asyncDispose]();
  },
);

/** What the service has answered; the server adds headers of its own. */
async function ask(address: string, init?: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(address, init);
  const own = [...headers].filter(([name]) =>
    !["date", "content-length"].includes(name)
  );
  return new Response(body, { status, headers: own });
}
