import type { Baseline } from "./baseline.ts";
import { worstBeside } from "./beside.ts";
import { costOfCounting } from "./counting.ts";
import { measureEmbedded } from "./embedded.ts";
import { peakMemory } from "./processes.ts";
import { linesOf } from "./report.ts";
import type { Scenarios } from "./scenarios.ts";
import type { Service } from "./service.ts";

const CLIENTS = 30;

/** What no rate shows: the worst answers, what keeping totals costs, memory, and the embedded database. */
export async function measureAsides(
  service: Service,
  { get, heavy, create }: Scenarios,
  { counting, not }: { counting: Baseline; not: Baseline },
  how: { url: string; rounds: number; seconds: number; seed: number },
): Promise<string> {
  const many = { ...get, clients: CLIENTS };
  const worst = await worstBeside(service, { many, heavy }, how);
  const rest = await costOfCounting(create, { counting, not }, how);
  const memory = peakMemory(service.pid);
  const embedded = await measureEmbedded({ ...how, clients: get.clients });
  return linesOf({
    [`Worst GET of ${CLIENTS} clients`]: `${worst.alone.toFixed(0)} ms`,
    [`Worst GET beside "${heavy.name}"`]: `${worst.beside.toFixed(0)} ms`,
    "CREATE that keeps totals / that does not, by pgbench": rest.toFixed(2),
    "Memory of the service at most": `${memory.toFixed(0)} MB`,
    "Embedded, start with a new folder": seconds(embedded.newFolderMs),
    "Embedded, start with its folder": seconds(embedded.oldFolderMs),
    [`Embedded, GET of ${get.clients} clients`]: `${
      embedded.rate.toFixed(0)
    } per second`,
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
