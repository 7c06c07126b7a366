import { openApp } from "../support/app/harness.ts";
import { compareLists, compareProducts, play } from "./play.ts";
import { openScene } from "./scene.ts";
import { STEPS } from "./steps.ts";
import { codes } from "./world.ts";
import { fc } from "../support/app/packages.ts";

const RUNS = 30;

Deno.test("Any sequence of requests gives the same results as the model", async () => {
  await using app = await openApp();
  const lists = await codes(app);
  // `deno task test tests/model/model_test.ts -- 123` repeats the run with this seed.
  const seed = Number(Deno.args[0] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`Seed: ${seed}`);

  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const scene = await openScene(app, lists);
      for (const step of steps) {
        await play(scene, step);
        await compareLists(scene);
      }
      await compareProducts(scene);
    }),
    { seed, numRuns: RUNS },
  );
});
