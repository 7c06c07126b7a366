import { assertEquals } from "@std/assert";
import { startLoad } from "../faults/load.ts";
import { restarts } from "../faults/restarts.ts";
import { pause } from "../../db/connections/deadline.ts";
import { openScene } from "../faults/scene.ts";
import { type Figures, figuresOf } from "./figures.ts";

const PAUSE_MS = 100;

/** Kills one of the service's sessions every 100 ms, for this number of minutes. */
export async function killSessions(minutes: number): Promise<Figures> {
  await using scene = await openScene();
  await using service = restarts(scene);
  await service.start();
  const load = await startLoad(service.app, { clients: 6 });

  let killed = 0;
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) {
    await pause(PAUSE_MS);
    const { count } = await scene.observer`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where application_name = 'catalogue'
      order by random()
      limit 1
    `;
    killed += count;
  }
  await load.stop();

  await scene.assertSound();
  const figures = await figuresOf(load, killed);
  // The process has not restarted, and has logged no uncaught error.
  await service.kill();
  assertEquals(service.logged.match(/Uncaught .*/g), null);
  return figures;
}
