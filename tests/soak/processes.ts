import { startLoad } from "../faults/load.ts";
import { restarts } from "../faults/restarts.ts";
import { pause } from "../../db/connections/deadline.ts";
import { openScene } from "../faults/scene.ts";
import { type Figures, figuresOf } from "./figures.ts";

/** Kills and restarts the service on PostgreSQL this number of times. */
export async function killProcesses(rounds: number): Promise<Figures> {
  await using scene = await openScene();
  await using service = restarts(scene);
  await service.start();
  const load = await startLoad(service.app, { clients: 6 });

  for (let round = 0; round < rounds; round++) {
    await pause(300 + Math.random() * 700);
    await service.kill();
    await service.start();
  }
  await pause(1_000);
  await load.stop();

  await scene.assertSound();
  return await figuresOf(load, rounds);
}
