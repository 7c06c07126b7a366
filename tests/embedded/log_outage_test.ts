import { assert, assertEquals } from "@std/assert";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { type Service, start } from "../support/app/process.ts";
import { TIMED } from "../support/app/deadline.ts";

/** More lines than the buffer of a pipe. */
const REQUESTS = 1_500;

/** Shell commands that redirect stdout before the service starts. */
const OUTAGES: Record<string, string> = {
  "whose stdout is a full device": "exec >/dev/full",
  "whose reader of stdout is gone": reader("true"),
  "with an unread stdout": reader("sleep 15"),
};

/** Redirects stdout to a pipe whose reader does not read. */
function reader(program: string): string {
  return `pipe=$(mktemp -u); mkfifo $pipe; ${program} <$pipe >/dev/null 2>&1 & exec >$pipe; rm $pipe`;
}

Deno.test("A service", TIMED, async ({ step: it }) => {
  const dataDir = await preparedFolder();

  for (const [outage, before] of Object.entries(OUTAGES)) {
    await it(`${outage} serves requests, and stops as usual`, async () => {
      await using service = await start(
        { DATA_DIR: dataDir },
        (_port) => ["run", "--allow-all", "main.ts", "start"],
        before,
      );
      await ask(service, REQUESTS);

      assertEquals(await stop(service), 0);
    });
  }

  await it("logs its start and its end as JSON lines", async () => {
    const service = await start({ DATA_DIR: dataDir });
    // The first start in a prepared folder installs the demo. The second does not.
    await stop(service);
    const again = await start({ DATA_DIR: dataDir, DATABASE_URI: "x" });
    await stop(again);

    const lines = (await again.ended).stdout.trimEnd().split("\n")
      .map((line) => JSON.parse(line) as { message?: string; url?: string });
    assertEquals(lines.flatMap(({ message }) => message ?? []), [
      "The variable DATABASE_URI is unknown: did you mean DATABASE_URL?",
      "The service is listening",
      "Nobody has used a key of the demo organization, which stderr shows once",
      "The service is stopping",
      "The service has stopped",
    ]);
    assert(lines.some(({ url }) => url === `${again.origin}/api`));
    for (const line of (await service.ended).stdout.split("\n")) {
      if (line.startsWith("{")) assert(!line.includes("cat_"), line);
    }
  });

  await it("stops although clients do not read long responses", async () => {
    const service = await start({ DATA_DIR: dataDir });
    const clients = await Promise.all(
      Array.from({ length: 200 }, () => askAndStay(service)),
    );

    assertEquals(await stop(service), 0);

    for (const client of clients) client.close();
  });
});

async function ask({ origin }: Service, requests: number): Promise<void> {
  for (let i = 0; i < requests; i += 50) {
    const responses = Array.from({ length: 50 }, async () => {
      const { status, body } = await fetch(`${origin}/api/products`);
      await body?.cancel();
      assertEquals(status, 401);
    });
    await Promise.all(responses);
  }
}

async function askAndStay({ origin }: Service): Promise<Deno.Conn> {
  const { hostname, port } = new URL(origin);
  const client = await Deno.connect({ hostname, port: Number(port) });
  const request = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
  await client.write(new TextEncoder().encode(request));
  return client;
}

/** Stops the service and returns its exit status. */
async function stop(service: Service): Promise<number> {
  service.signal("SIGTERM");
  return (await service.ended).code;
}
