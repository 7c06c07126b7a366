import { parseArgs } from "node:util";

/** How to call the benchmark. */
export const USAGE =
  `deno task bench [--products 10000] [--rounds 3] [--seconds 2] [--clients 32] [--seed 1]
                [--peers | --beside DIR] [--only NAME]

  --products  how many products the largest organization has; with --beside 100000 unless said
  --rounds    how many times each scenario is measured; every figure is the median
  --seconds   how long one measurement takes; without --beside, a third of that for one client
  --clients   how many clients read at once
  --seed      other data with other random requests
  --peers     measure alternatives to the service too, and draw peers.svg
  --beside    measure this checkout and the one in DIR in turn
  --only      only scenarios with NAME in their names, and no other tables

BENCH_DATABASE_URL names an empty database to use instead of a temporary PostgreSQL. The data stays there for the next
run. Its role must be one that may set session_replication_role. With --beside it must be able to create databases.`;

const OPTIONS = {
  products: { type: "string" },
  rounds: { type: "string", default: "3" },
  seconds: { type: "string", default: "2" },
  clients: { type: "string", default: "32" },
  seed: { type: "string", default: "1" },
  peers: { type: "boolean", default: false },
  beside: { type: "string" },
  only: { type: "string", default: "" },
  help: { type: "boolean", default: false },
} as const;

export type Options = ReturnType<typeof readOptions>;

/** Reads the arguments. Throws with a line that says what is wrong. */
export function readOptions(args: string[]) {
  const { values } = parseArgs({ args, options: OPTIONS });
  const whole = (
    name: "products" | "rounds" | "seconds" | "clients" | "seed",
    most: number,
  ) => {
    const value = Number(values[name] ?? (values.beside ? 100_000 : 10_000));
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  };
  if (values.peers && values.beside) {
    throw new Error("Either --peers or --beside");
  }
  return {
    ...values,
    products: whole("products", 8_000_000),
    rounds: whole("rounds", 100),
    seconds: whole("seconds", 600),
    clients: whole("clients", 1_000),
    seed: whole("seed", 2_147_483_647),
  };
}
