import { median } from "./load.ts";
import type { Service } from "./service.ts";
import { type Requests, runWrk } from "./wrk.ts";

/** Milliseconds, without and with heavy requests. */
export interface Worst {
  alone: number;
  beside: number;
}

/** The median of many clients' slowest responses, alone and while another client sends heavy requests. */
export async function worstBeside(
  { origin }: Service,
  { many, heavy }: { many: Requests; heavy: Requests },
  { rounds, seconds, seed }: { rounds: number; seconds: number; seed: number },
): Promise<Worst> {
  const worst = { alone: [] as number[], beside: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const how = { origin, seconds, seed: seed + round };
    const alone = await runWrk(many, how);
    const [beside] = await Promise.all([
      runWrk(many, how),
      runWrk(heavy, how),
    ]);
    worst.alone.push(alone.max);
    worst.beside.push(beside.max);
  }
  return { alone: median(worst.alone), beside: median(worst.beside) };
}
