import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { startLoad } from "./load.ts";
import { restarts } from "./restarts.ts";
import { pause } from "../../db/connections/deadline.ts";
import { faultTest } from "./scene.ts";

faultTest("A process of the service", async (scene, { step: it }) => {
  const { cluster, observer } = scene;
  await using service = restarts(scene);
  const { app } = service;

  await it("starts before its database does", async () => {
    await cluster.stop("fast");

    const starting = service.start();
    await pause(1_000);
    await cluster.start();
    await starting;

    assertEquals((await app.send("/health/ready")).status, 200);
  });

  await it("loses no acknowledged write when killed", async () => {
    const load = await startLoad(app);

    for (let round = 0; round < 3; round++) {
      await pause(300 + Math.random() * 400);
      await service.kill();
      await service.start();
    }
    await pause(300);
    await load.stop();

    assert(load.responses[201]! > 0);
    await scene.assertSound(load);
  });

  await it("frees the resources of clients that leave", async () => {
    const org = await app.organization();
    const marks = Array.from({ length: 300 }, (_, n) => `left ${n}`);

    for (const title of marks) {
      const signal = AbortSignal.timeout(Math.random() * 20);
      await app.send("/api/products", {
        method: "POST",
        headers: { "x-api-key": org.key, "content-type": "application/json" },
        body: JSON.stringify({
          title,
          packing_configurations: [{ unit_of_measure: "outer" }],
        }),
        signal,
      }).catch(() => {});
    }

    const stored = () =>
      observer`
          select p.title, count(c.id)::int as packings
          from products p
          left join packing_configurations c on c.product_id = p.id
          where p.organization_id = ${org.id}
          group by p.id, p.organization_id
        `;
    // The requests of the departed clients are still running.
    await eventually(true, async () => {
      const { body: { meta } } = await org.get("/api/products");
      return meta.total === (await stored()).length;
    });
    const products = await stored();
    for (const { packings } of products) assertEquals(packings, 1);
    assertEquals(
      new Set(products.map(({ title }) => title)).size,
      products.length,
    );
    await scene.assertSound();
  });
});
