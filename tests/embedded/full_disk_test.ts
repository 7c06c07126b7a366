import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../db/database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { ROOT } from "../support/app/process.ts";
import { sql } from "../../db/connections/sql.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Space for a database with one WAL segment, and for one more. */
const SIZE = "96m";

Deno.test(
  "An embedded database on a full disk",
  TIMED,
  async ({ step: it }) => {
    const disk = await Deno.makeTempDir();
    const mounted = await run(
      "mount",
      "-t",
      "tmpfs",
      "-o",
      `size=${SIZE}`,
      "tmpfs",
      disk,
    );
    // Only root may mount a small disk.
    if (mounted.code !== 0) return await Deno.remove(disk);
    const dataDir = await preparedFolder(`${disk}/data`);
    let acknowledged: string[] = [];

    await it("ends the process with a reason", async () => {
      const { code, stdout, stderr } = await run(
        Deno.execPath(),
        ...["run", "--quiet", "-A", "tests/support/app/full_disk.ts", dataDir],
      );

      acknowledged = stdout.trim().split("\n");
      assertEquals(code, 1);
      assertMatch(
        stderr,
        /^The database in DATA_DIR has stopped: the disk is full\. [^\n]+\n$/,
      );
      assertEquals(acknowledged.length > 0, true);
    });

    await it("keeps all acknowledged writes", async () => {
      await Deno.remove(`${dataDir}/ballast`);

      const database = await openDatabase({
        ...SETTINGS,
        url: undefined,
        dataDir,
      });
      const notes = await database.for({ deadline: performance.now() + 60_000 })
        .lookUp(
          sql<{ text: string }>`select text from notes order by text`,
        );
      await database.close();

      assertEquals(notes.map(({ text }) => text), acknowledged);
    });

    await it("names the reason why it cannot be opened", async () => {
      const small = `${disk}/small`;
      await Deno.mkdir(small);
      await run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small);

      const { code, stderr } = await run(
        Deno.execPath(),
        ...[
          "run",
          "--quiet",
          "-A",
          "tests/support/app/full_disk.ts",
          `${small}/data`,
        ],
      );

      await run("umount", small);
      assertEquals(code, 1);
      assertStringIncludes(
        stderr,
        "The database in DATA_DIR cannot be opened: the disk is full",
      );
    });

    await run("umount", disk);
    await Deno.remove(disk);
  },
);

async function run(program: string, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
