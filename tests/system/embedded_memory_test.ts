import { assert } from "@std/assert";
import { openConnection } from "../../db/connections/connection.ts";
import { openEmbedded } from "../../db/connections/embedded.ts";
import { sql } from "../../db/connections/sql.ts";
import { SETTINGS } from "../support/harness.ts";
import { emptyFolder } from "../support/prepared_folder.ts";

const MB = 1_000_000;

Deno.test("The embedded database keeps no replies in memory", async () => {
  const dataDir = await emptyFolder();
  const embedded = await openEmbedded(dataDir);
  const connection = openConnection(SETTINGS, embedded.socket);
  const before = Deno.memoryUsage().heapUsed;

  for (let reply = 1; reply <= 200; reply++) {
    await connection.read(sql`select repeat('a', ${MB}::int)`);
  }

  const kept = Deno.memoryUsage().heapUsed - before;
  assert(kept < 100 * MB, `${kept / MB} MB are kept of 200 replies of 1 MB`);
  await connection.close(1);
  await embedded.close();
  await Deno.remove(dataDir, { recursive: true });
});
