import { join } from "node:path";
import { PLANNER } from "../../db/connections/connection.ts";
import type { Baseline } from "./baseline.ts";
import { binary } from "../faults/cluster.ts";
import type { Load } from "./load.ts";

/** PostgreSQL plans a prepared statement five times before it may use a generic plan. */
const PLANNED = 6;

/** The planner settings of the service's sessions. */
const SESSION = Object.entries(PLANNER)
  .map(([name, value]) => `-c ${name}=${value}`).join(" ");

/** Runs the baseline with this number of clients for this number of seconds. Throws if a statement fails. */
export async function runPgbench(
  { script, variables, prepared }: Baseline,
  { url, clients, numbers: [first, last], seconds, seed }: {
    url: string;
    clients: number;
    numbers: readonly [number, number];
    seconds: number;
    seed: number;
  },
): Promise<Load> {
  const folder = await Deno.makeTempDir({ prefix: "catalogue-pgbench-" });
  try {
    const file = join(folder, "script.sql");
    const log = join(folder, "log");
    await Deno.writeTextFile(
      file,
      `\\set number random(${first}, ${last})\n${script}`,
    );
    const address = new URL(url);
    const password = decodeURIComponent(address.password);
    // Every user of the machine can read the arguments of a process.
    address.password = "";
    const { success, stderr } = await new Deno.Command(binary("pgbench"), {
      args: [
        ...["-n", "-f", file, "-M", prepared ? "prepared" : "extended"],
        ...["-c", String(clients), "-T", String(seconds)],
        ...["--random-seed", String(seed), "-l", "--log-prefix", log],
        ...Object.entries(variables)
          .flatMap(([name, value]) => ["-D", `${name}=${value}`]),
        address.href,
      ],
      env: { PGPASSWORD: password, PGOPTIONS: SESSION },
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    const [name] = Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => name.startsWith("log"));
    const transactions = readLog(await Deno.readTextFile(join(folder, name!)));
    return loadOf(transactions, prepared ? PLANNED : 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A transaction: its number within its client, and its microseconds. */
interface Transaction {
  number: number;
  took: number;
  ended: number;
}

function readLog(log: string): Transaction[] {
  return log.trimEnd().split("\n").map((line) => {
    // Client, number, time, script, and the second and microsecond of its end.
    const [, number, took, , second, rest] = line.split(" ").map(Number);
    return { number: number!, took: took!, ended: second! * 1e6 + rest! };
  }).sort((a, b) => a.ended - b.ended);
}

/** The transactions after each client's first ones, or all if that leaves too few. */
function loadOf(transactions: Transaction[], first: number): Load {
  const begin = transactions.findLastIndex(({ number }) => number <= first);
  const isEnough = begin < transactions.length / 2;
  const counted = isEnough ? transactions.slice(begin + 1) : transactions;
  const times = counted.map(({ took }) => took / 1e3).sort((a, b) => a - b);
  const from = counted[0]!.ended - counted[0]!.took;
  return {
    requests: transactions.length,
    rate: counted.length / (counted.at(-1)!.ended - from) * 1e6,
    p50: times[Math.floor(times.length * 0.5)]!,
    p99: times[Math.floor(times.length * 0.99)]!,
    max: times.at(-1)!,
  };
}
