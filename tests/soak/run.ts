import { assert, assertEquals } from "@std/assert";
import { parseArgs } from "node:util";
import { pause } from "../../db/connections/deadline.ts";
import { type Load, startLoad } from "../faults/load.ts";
import { restarts } from "../faults/restarts.ts";
import { openScene } from "../faults/scene.ts";
import { besideHostile } from "./hostile.ts";

const USAGE = `deno task soak [sessions|processes|hostile …] [--minutes 5]

Clients of two organizations create, update, read, list and delete without a pause. Meanwhile:

  sessions   kills one of the service's sessions every 100 ms
  processes  kills (kill -9) and restarts the service every second
  hostile    sends what takes memory and processor, from a third organization

Then every acknowledged write must be stored completely, in its own organization. Beside a hostile
neighbour, no request may fail either, and the process may take 400 MB at most.
The soaks start a temporary PostgreSQL from Debian's packages.`;

const RUNS: Record<string, (minutes: number) => Promise<Load>> = {
  sessions: (minutes) =>
    whileKilling(minutes, async ({ killSessions }) => {
      await pause(100);
      await killSessions(1);
    }),
  processes: (minutes) =>
    whileKilling(minutes, async (_, service) => {
      await pause(300 + Math.random() * 700);
      await service.kill();
      await service.start();
    }),
  hostile: besideHostile,
};

/** Repeats this under load, for this number of minutes. */
async function whileKilling(
  minutes: number,
  kill: (
    scene: Awaited<ReturnType<typeof openScene>>,
    service: ReturnType<typeof restarts>,
  ) => Promise<void>,
): Promise<Load> {
  await using scene = await openScene();
  await using service = restarts(scene);
  await service.start();
  const load = await startLoad(service.app, { clients: 6 });
  const end = performance.now() + minutes * 60_000;
  while (performance.now() < end) await kill(scene, service);
  await pause(1_000);
  await load.stop();
  await scene.assertSound(load);
  await service.kill();
  assertEquals(service.logged.match(/Uncaught .*/g), null);
  return load;
}

/** Runs the named soaks, or all, and prints the figures of each. Throws at the first lost write. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string", default: "5" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const minutes = Number(values.minutes);
  const names = positionals.length > 0 ? positionals : Object.keys(RUNS);
  assert(minutes > 0 && names.every((name) => RUNS[name]), USAGE);
  for (const name of names) {
    const { responses, acknowledged, slowestMs } = await RUNS[name]!(minutes);
    console.log(name, { responses, acknowledged, slowestMs });
  }
}

await main();
