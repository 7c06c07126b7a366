import { assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { openDatabase } from "../../db/database.ts";
import { startLoad } from "../faults/load.ts";
import { restarts } from "../faults/restarts.ts";
import { openScene } from "../faults/scene.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import type { Service } from "../support/app/process.ts";
import { servedAt, startDirectly } from "../support/servers/processes.ts";
import { sessionOf } from "../support/sql/script.ts";
import { type Figures, figuresOf } from "./figures.ts";

const CLIENTS = { clients: 6 };

/** Kills one of the service's sessions every 100 ms, for this number of minutes. */
export async function killSessions(minutes: number): Promise<Figures> {
  await using scene = await openScene();
  await using service = restarts(scene);
  await service.start();
  const load = await startLoad(service.app, CLIENTS);

  let killed = 0;
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) {
    await pause(100);
    killed += await scene.killSessions(1);
  }
  await load.stop();

  await scene.assertSound();
  const figures = await figuresOf(load, killed);
  // The process has not restarted, and has logged no uncaught error.
  await service.kill();
  assertEquals(service.logged.match(/Uncaught .*/g), null);
  return figures;
}

/** Kills and restarts the service on PostgreSQL this number of times. */
export async function killProcesses(rounds: number): Promise<Figures> {
  await using scene = await openScene();
  await using service = restarts(scene);
  await service.start();
  const load = await startLoad(service.app, CLIENTS);

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

/** Kills and restarts the service on its embedded database this number of times. */
export async function killEmbedded(rounds: number): Promise<Figures> {
  const dataDir = await preparedFolder();
  const life = () => startDirectly({ DATA_DIR: dataDir });
  let service: Service | undefined;
  const app = servedAt(
    () => service!.origin,
    // Only one process can open the folder, so this runs while the service is down.
    sessionOf({
      async script(work) {
        service?.signal("SIGTERM");
        await service?.ended;
        const database = await openDatabase({
          ...SETTINGS,
          url: undefined,
          dataDir,
        });
        const operations = database.for({
          deadline: performance.now() + 60_000,
        });
        const result = await operations.script(work);
        await database.close();
        service = await life();
        return result;
      },
    }),
  );

  const load = await startLoad(app);
  for (let round = 0; round < rounds; round++) {
    await pause(1_000 + Math.random() * 2_000);
    await service!.kill();
    service = await life();
  }
  await pause(1_000);
  await load.stop();

  const figures = await figuresOf(load, rounds);
  await service![Symbol.asyncDispose]();
  await Deno.remove(dataDir, { recursive: true });
  return figures;
}
