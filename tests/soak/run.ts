import { parseArgs } from "node:util";
import { type Figures, HEAD, rowOf } from "./figures.ts";
import { besideHostile } from "./hostile.ts";
import { killEmbedded, killProcesses, killSessions } from "./kills.ts";

const USAGE =
  `deno task soak [sessions|processes|embedded|hostile …] [--share 1]

Clients of two organizations create, update, read, list and delete without a pause. Meanwhile:

  sessions   kills one of the service's sessions every 100 ms, for 5 minutes
  processes  kills (kill -9) and restarts the service on PostgreSQL, 100 times
  embedded   kills (kill -9) and restarts the service on the embedded database, 20 times
  hostile    sends what takes memory and processor, from a third organization, for 5 minutes

Then every acknowledged write must be stored completely, in its own organization. Beside a hostile
neighbour, no request may fail either, and the process may take 400 MB at most. --share 0.1 runs a tenth of each.
The soaks start a temporary PostgreSQL from Debian's packages.`;

const RUNS: Record<string, (share: number) => Promise<Figures>> = {
  sessions: (share) => killSessions(5 * share),
  processes: (share) => killProcesses(Math.ceil(100 * share)),
  embedded: (share) => killEmbedded(Math.ceil(20 * share)),
  hostile: (share) => besideHostile(5 * share),
};

/** Runs the named soaks, or all, and prints a row of figures for each. Throws at the first lost write. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      share: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  const share = Number(values.share);
  const names = positionals.length > 0 ? positionals : Object.keys(RUNS);
  if (values.help || !(share > 0) || !names.every((name) => RUNS[name])) {
    return console.log(USAGE);
  }
  console.log(HEAD);
  for (const name of names) {
    const started = performance.now();
    const figures = await RUNS[name]!(share);
    console.log(rowOf(name, (performance.now() - started) / 1_000, figures));
  }
}

await main();
