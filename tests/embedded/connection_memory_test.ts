import { assert, assertRejects } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openConnection } from "../../db/connections/connection.ts";
import { openEmbedded } from "../../db/connections/embedded.ts";
import { raw, sql, unprepared } from "../../db/connections/sql.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { emptyFolder } from "../support/app/prepared_folder.ts";

const MB = 1_000_000;
const TIMES = 50;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Fails if the memory in use grows by about a megabyte each time. */
async function assertNothingKept(work: () => Promise<unknown>): Promise<void> {
  const before = memoryInUse();
  for (let time = 1; time <= TIMES; time++) await work();
  const kept = (memoryInUse() - before) / MB;
  assert(kept < TIMES / 5, `${kept} MB are kept of ${TIMES} MB`);
}

function memoryInUse(): number {
  collectGarbage();
  return Deno.memoryUsage().heapUsed;
}

Deno.test("A connection", async ({ step: it }) => {
  const dataDir = await emptyFolder();
  const embedded = await openEmbedded(dataDir);
  const connection = openConnection(SETTINGS, embedded.socket);

  await it("keeps no reply in memory", async () => {
    const long = sql`select repeat('a', ${MB}::int)`;

    await assertNothingKept(() => connection.send(long));
  });

  await it("keeps no failed statement in memory", async () => {
    let number = 0;
    const failing = () =>
      unprepared(
        sql`select 1 / 0 -- ${raw(String(number++).repeat(MB).slice(0, MB))}`,
      );

    await assertNothingKept(() => assertRejects(() => connection.send(failing())));
  });

  await connection.close(1);
  await embedded.close();
});
