import { openDatabase } from "../../db/database.ts";
import { sessionOf } from "../support/sql/script.ts";
import { startLoad } from "../faults/load.ts";
import { pause } from "../../db/connections/deadline.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import type { Service } from "../support/app/process.ts";
import { servedAt, startDirectly } from "../support/servers/processes.ts";
import { type Figures, figuresOf } from "./figures.ts";

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
