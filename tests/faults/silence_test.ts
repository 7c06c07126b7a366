import { assert, assertEquals } from "@std/assert";
import { startLoad } from "./load.ts";
import { pause } from "../../db/connections/deadline.ts";
import { DEADLINE_MS, faultTest } from "./scene.ts";

const POOL_SIZE = 4;

/** A slot opens at most four connections per second. */
const MOST_PER_SECOND = 4 * POOL_SIZE;

faultTest("A network that fails", async (scene, { step: it }) => {
  const { app, proxy } = scene;

  const faults: [string, () => void][] = [
    ["that goes silent in the midst of statements", () => proxy.silence()],
    ["that is silent from the first byte", () => {
      proxy.behaviour = "hold";
      proxy.cut();
    }],
    ["that hangs up at start-up", () => {
      proxy.behaviour = "hang up";
      proxy.cut();
    }],
  ];
  for (const [what, begin] of faults) {
    await it(`${what}, delays no request indefinitely`, async () => {
      const load = await startLoad(app);
      await pause(300);

      const began = performance.now();
      begin();
      await pause(DEADLINE_MS + 1_000);
      const opened = proxy.opened.filter((at) => at > began).length;
      const seconds = (performance.now() - began) / 1000;
      proxy.behaviour = "forward";
      await load.stop();

      assert(load.slowestMs < DEADLINE_MS + 10_000, `${load.slowestMs} ms`);
      assert(opened < MOST_PER_SECOND * (seconds + 1), `${opened} connections`);
      await scene.assertSound(load);
    });
  }

  await it("that is slow loses no request", async () => {
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
}, { poolSize: POOL_SIZE });
