import { type Time, TIMES_FILE } from "./times.ts";

/*
 * Runs all tests, and writes `seconds.json` from the times of their files, by which the shards
 * divide them. Run it on a machine that does nothing else:
 *
 *     deno task balance
 */

/** The seconds from which a file is listed. `shard.ts` takes one second for all others. */
const LONG = 1.5;

const path = await Deno.makeTempFile({ prefix: "catalogue-times-" });
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["task", "-q", "test"],
  env: { [TIMES_FILE]: path },
}).spawn().status;
const times: Time[] = (await Deno.readTextFile(path)).split("\n").filter(Boolean)
  .map((line) => JSON.parse(line));
await Deno.remove(path);
if (code > 0) Deno.exit(code);

const totals = new Map<string, number>();
for (const [file, seconds] of times) totals.set(file, (totals.get(file) ?? 0) + seconds);
const long = [...totals].filter(([, seconds]) => seconds >= LONG)
  .map(([file, seconds]) => [file, Math.round(seconds)])
  .sort();
const written = JSON.stringify(Object.fromEntries(long), null, 2);
await Deno.writeTextFile(new URL("seconds.json", import.meta.url), `${written}\n`);
