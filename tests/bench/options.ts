import { parseArgs } from "node:util";

/** The usage of the benchmark. */
export const USAGE =
  `deno task bench [--products 10000] [--rounds 3] [--seconds 2] [--clients 32] [--seed 1]
                [--peers | --beside DIR] [--only NAME]

  --products  products of the largest organization (default 10000; with --beside 100000)
  --rounds    measurements per scenario; figures are medians
  --seconds   duration of a measurement; without --beside, a third of it for one client
  --clients   concurrent clients that read
  --seed      seed of the data and the requests
  --peers     also measure the alternatives, and draw peers.svg
  --beside    compare this checkout with the one in DIR
  --only      only scenarios with NAME in their names, without the other tables

BENCH_DATABASE_URL names an empty database to use instead of a temporary PostgreSQL. The data stays there for the next
run. The role must be able to set session_replication_role and, with --beside, to create databases.`;

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

/** Parses the arguments. Throws an error with a message of one line. */
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
    throw new Error("--peers and --beside cannot be combined");
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
