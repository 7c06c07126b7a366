import { assertEquals } from "@std/assert";
import { through } from "./proxy.ts";
import { restarts } from "./restarts.ts";
import { eventually, isPossible, openScene } from "./scene.ts";

Deno.test(
  { name: "A service killed between commit and answer", ignore: !isPossible },
  async (t) => {
    await using scene = await openScene();
    const { cluster, observer, proxy } = scene;
    await using service = restarts(scene);
    await service.start(through(cluster.url, proxy));
    const org = await service.app.organization();
    await org.get("/api/products");

    await t.step(
      "created one product for one Idempotency-Key",
      async () => {
        const create = () =>
          org.post("/api/products", { title: "Emma" }, {
            "idempotency-key": "order-1",
          });
        const stored = async () => [
          ...await observer`
          select p.title, k.product_id is not null as remembered
          from products p
          left join idempotency_keys k on k.product_id = p.id
          where p.organization_id = ${org.id}
        `,
        ];

        proxy.holdAnswersTo = "commit";
        const unanswered = create().then(() => "answered", () => "cut off");
        await eventually([{ title: "Emma", remembered: true }], stored);
        await service.kill();
        proxy.holdAnswersTo = undefined;
        await service.start(through(cluster.url, proxy));
        const { status, headers, body } = await create();

        assertEquals(await unanswered, "cut off");
        assertEquals(status, 201);
        assertEquals(headers.get("idempotent-replayed"), "true");
        assertEquals((await org.get(headers.get("location")!)).body, body);
        assertEquals((await stored()).length, 1);
        assertEquals((await org.get("/api/products")).body.meta.total, 1);
        await scene.assertSound();
      },
    );
  },
);
