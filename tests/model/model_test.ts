import { openApp } from "../support/app/harness.ts";
import { compareLists, compareProducts, play } from "./play.ts";
import { openScene } from "./scene.ts";
import { STEPS } from "./steps.ts";
import { codes } from "./world.ts";
import { readParameters } from "./parameters.ts";
import { fc } from "../support/app/packages.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test({
  ...TIMED,
  name: "Any sequence of requests gives the same results as the model",
}, async () => {
  await using app = await openApp();
  const lists = await codes(app);

  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const scene = await openScene(app, lists);
      for (const step of steps) {
        await play(scene, step);
        await compareLists(scene);
      }
      await compareProducts(scene);
    }),
    readParameters(),
  );
});
