import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { type Service, start } from "../support/app/process.ts";
import { TIMED } from "../support/app/deadline.ts";

/** More clients than the process's limit of open files. */
const CLIENTS = 400;

Deno.test(
  "A service without free file descriptors",
  TIMED,
  async ({ step: it }) => {
    const dataDir = await preparedFolder();
    await using service = await start({ DATA_DIR: dataDir }, () => [
      ...["run", "--no-prompt", "--allow-all", "main.ts", "start"],
    ], "ulimit -n 280");

    await it("serves again after clients have left", async () => {
      const clients = await Promise.allSettled(
        Array.from({ length: CLIENTS }, () => connect(service)),
      );
      await eventually(true, () => service.stdout.includes("listening again"));
      for (const client of clients) {
        if (client.status === "fulfilled") client.value.close();
      }
      await service.until("/health/live");

      assert(clients.some(({ status }) => status === "fulfilled"));
      const { status, body } = await fetch(`${service.origin}/api/products`);
      await body?.cancel();
      assertEquals(status, 401);
    });

    await it("stops as usual", async () => {
      service.signal("SIGTERM");

      assertEquals((await service.ended).code, 0);
    });
  },
);

function connect({ origin }: Service): Promise<Deno.Conn> {
  const { hostname, port } = new URL(origin);
  return Deno.connect({ hostname, port: Number(port) });
}
