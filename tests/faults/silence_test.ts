import { assert, assertEquals } from "@std/assert";
import { startLoad } from "./load.ts";
import type { Behaviour } from "./proxy.ts";
import { DEADLINE_MS, FACTOR, isPossible, openScene, pause } from "./scene.ts";

const POOL_SIZE = 4;

/** What a place may open, and those that were opened just before. */
const MOST_PER_SECOND = 4 * POOL_SIZE;

Deno.test({ name: "A network that fails", ignore: !isPossible }, async (t) => {
  await using scene = await openScene({ poolSize: POOL_SIZE });
  const { app, proxy } = scene;

  const faults: [string, { behaviour: Behaviour; isCut: boolean }][] = [
    ["that goes silent in the midst of statements", {
      behaviour: "hold",
      isCut: false,
    }],
    ["that is silent from the first byte", { behaviour: "hold", isCut: true }],
    ["that hangs up at start-up", { behaviour: "hang up", isCut: true }],
  ];
  for (const [what, { behaviour, isCut }] of faults) {
    await t.step(
      `${what}, keeps nobody waiting beyond the deadline`,
      async () => {
        const load = await startLoad(app);
        await pause(300);
        const opened = proxy.opened.length;

        proxy.behaviour = behaviour;
        if (isCut) proxy.cut();
        await pause((DEADLINE_MS + 500) * FACTOR);
        const perSecond = (proxy.opened.length - opened) * 1000 /
          ((DEADLINE_MS + 500) * FACTOR);
        proxy.behaviour = "forward";
        await load.stop();

        assert(load.slowestMs < DEADLINE_MS + 2_000, `${load.slowestMs} ms`);
        assert(perSecond < 1.5 * MOST_PER_SECOND, `${perSecond} connections/s`);
        await scene.assertSound(load);
      },
    );
  }

  await t.step("that is slow, is waited for", async () => {
    const org = await app.organization();
    const { path, product } = await org.create();

    proxy.delayMs = 100;
    const late = await org.get(path);
    proxy.delayMs = 0;
    proxy.pieceBytes = 1;
    const piecemeal = await org.get(path);
    proxy.pieceBytes = Infinity;

    assertEquals(late.body.data, product);
    assertEquals(piecemeal.body.data, product);
    await scene.assertSound();
  });
});
