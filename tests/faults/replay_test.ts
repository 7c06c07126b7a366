import { assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import type { Reply } from "../support/client/envelope.ts";
import { eventually } from "../support/app/eventually.ts";
import { through } from "../support/servers/proxy.ts";
import { restarts } from "./restarts.ts";
import { faultTest } from "./scene.ts";

faultTest(
  "A service killed between COMMIT and response",
  async (scene, { step: it }) => {
    const { cluster, observer, proxy } = scene;
    await using service = restarts(scene);
    await service.start(through(cluster.url, proxy));
    const org = await service.app.organization();
    await org.get("/api/products");
    // The first request's background write would be held instead of the tested one.
    await eventually([{ uses: 1 }], async () => [
      ...await observer`select count(*)::int as uses from api_key_uses`,
    ]);

    /**
     * Sends the request, kills the service before the answer to this SQL, and sends the request
     * again. `isThere` waits until the database has what the request has written so far.
     */
    async function cutOff(
      request: () => Promise<Reply>,
      sql: string,
      isThere: (isUnfinished: () => void) => Promise<void>,
    ): Promise<Reply> {
      let outcome = "unfinished";
      const end = (async () => {
        let reply: Reply;
        // On a busy machine, a new process may miss its deadline. Nothing is written then.
        do reply = await request(); while (reply.status === 503);
        outcome = `${reply.status} ${reply.text}`;
      })().catch(() => {
        outcome = "cut off";
      });
      proxy.holdAnswersTo = sql;
      await isThere(() => assertEquals(outcome, "unfinished"));
      await service.kill();
      proxy.holdAnswersTo = undefined;
      await service.start(through(cluster.url, proxy));
      const reply = await request();
      await end;
      assertEquals(outcome, "cut off");
      return reply;
    }

    /** Waits for what the observer finds, as long as the request is unfinished. */
    const until = <T>(expected: T, look: () => Promise<T>) => (isUnfinished: () => void) =>
      eventually(expected, async () => {
        isUnfinished();
        return await look();
      });

    await it("created one product for one Idempotency-Key", async () => {
      const create = () =>
        org.post("/api/products", { title: "Emma" }, {
          "idempotency-key": "order-1",
        });
      const stored = async () => [
        ...await observer`
        select p.title, k.record_id is not null as remembered
        from products p
        left join idempotency_keys k on k.record_id = p.id
        where p.organization_id = ${org.id}
      `,
      ];

      const { status, headers, body } = await cutOff(
        create,
        "commit\0",
        until([{ title: "Emma", remembered: true }], stored),
      );

      assertEquals(status, 201);
      assertEquals(headers.get("idempotent-replayed"), "true");
      assertEquals((await org.get(headers.get("location")!)).body, body);
      assertEquals((await stored()).length, 1);
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
      await scene.assertSound();
    });

    await it("has executed one batch once", async () => {
      const batch = {
        operations: [
          { method: "create", body: { title: "Sanditon" } },
          { method: "create", body: { title: "Sanditon", license_id: org.id } },
          { method: "create", body: { title: "Sanditon" } },
        ],
      };
      const write = () => org.post("/api/products/batch", batch, { "idempotency-key": "b-1" });
      const stored = async () => [
        ...await observer`
          select p.title, k.key is not null as remembered
          from products p
          left join idempotency_keys k
            on k.organization_id = p.organization_id and k.key = 'b-1'
          where p.organization_id = ${org.id} and p.title = 'Sanditon'
        `,
      ];
      const both = Array(2).fill({ title: "Sanditon", remembered: true });

      const { headers, body } = await cutOff(
        write,
        "commit\0",
        until(both, stored),
      );

      assertEquals(headers.get("idempotent-replayed"), "true");
      assertEquals(
        body.data.map(({ status }: { status: number }) => status),
        [201, 400, 201],
      );
      assertEquals(await stored(), both);
      await scene.assertSound();
    });

    await it("has stored nothing of an interrupted batch", async () => {
      const batch = {
        operations: Array(20).fill({
          method: "create",
          body: { title: "Lost" },
        }),
      };
      const write = () => org.post("/api/products/batch", batch, { "idempotency-key": "b-2" });

      const { headers, body } = await cutOff(
        write,
        "savepoint",
        () => pause(300),
      );

      assertEquals(headers.get("idempotent-replayed"), null);
      assertEquals(body.data.length, 20);
      const [{ count }] = await observer<[{ count: number }]>`
        select count(*)::int as count from products p where p.title = 'Lost'
      `;
      assertEquals(count, 20);
      await scene.assertSound();
    });
  },
);
