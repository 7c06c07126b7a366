import { assertEquals, assertMatch } from "@std/assert";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { doctor } from "../../db/doctor/doctor.ts";
import { inTime, TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { launch, ROOT, start } from "../support/app/process.ts";

/** The number of times that the test kills the service. */
const ROUNDS = 2;

/** The number of products created before each kill. */
const PRODUCTS = 20;

Deno.test("The embedded database", TIMED, async ({ step: it }) => {
  const parent = await Deno.makeTempDir();
  const dataDir = await preparedFolder(`${parent}/a catalogue`);
  const env = { DATA_DIR: dataDir };
  let headers = {};

  await it("prints its URL and an example at its first start", async () => {
    await using service = await start(env);
    await eventually(true, () => /curl .*\n/.test(service.stderr));

    const [, origin, key, lines] =
      /^The product catalogue is served at (http:\S+)\/api\nIts reference page is \1\/docs\nThe key of .*: (cat_\S+)\n\nTry:\n( {2}export .*\n {2}curl .*\n)/
        .exec(service.stderr) ?? [];
    assertEquals(origin, service.origin);
    for (const line of service.stdout.trim().split("\n")) JSON.parse(line);
    const called = await new Deno.Command("sh", { args: ["-c", `${lines}`] })
      .output();
    const response = new TextDecoder().decode(called.stdout);
    assertMatch(response, /^\{"success":true,"data":\[\{/);
    headers = { "x-api-key": `${key}`, "content-type": "application/json" };
  });

  await it("keeps its data, and shows no key again", async () => {
    await using before = await start(env);
    const id = await create(before.origin);
    before.signal("SIGTERM");
    await before.ended;

    await using after = await start({
      DATA_DIR: relative(fileURLToPath(ROOT), dataDir),
    });

    assertEquals(await statusOf(after.origin, id), 200);
    assertEquals(/cat_/.test(after.stdout + after.stderr), false);
  });

  await it("is refused to a second process, in one line", async () => {
    await using first = await start(env);

    const { code, stderr } = await launch(env).ended;

    assertEquals(code, 1);
    assertMatch(stderr, /^DATA_DIR is in use by another process: [^\n]+\n$/);
    assertEquals((await fetch(`${first.origin}/health/ready`)).status, 200);
  });

  await it("is noted by deno task doctor where a service uses it", async () => {
    await using _service = await start(env);

    const { text, ok } = await doctor((name) => ({ DATA_DIR: dataDir })[name]);

    assertMatch(text, /\nnote {3}database +DATA_DIR is in use .*\n +-> Stop that process/);
    assertEquals(ok, true);
  });

  await it("loses no acknowledged write when killed", async () => {
    const acknowledged: string[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      await using service = await start(
        env,
        () => ["run", "--allow-all", "main.ts", "start"],
      );
      const { promise: busy, resolve } = Promise.withResolvers<void>();
      const writers = Array.from({ length: 4 }, async () => {
        while (true) {
          acknowledged.push(await create(service.origin));
          if (acknowledged.length > round * PRODUCTS) resolve();
        }
      });
      await inTime("products", busy);

      service.signal("SIGKILL");

      await Promise.allSettled([...writers, service.ended]);
    }
    await using service = await start(env);
    for (const id of acknowledged) {
      assertEquals(await statusOf(service.origin, id), 200);
    }
  });

  await Deno.remove(parent, { recursive: true });

  async function create(origin: string): Promise<string> {
    const response = await fetch(`${origin}/api/products`, {
      method: "POST",
      headers,
      body: '{"title":"Emma","product_prices":[{"currency_code":"GBP"}]}',
    });
    return (await response.json()).data.id;
  }

  async function statusOf(origin: string, id: string): Promise<number> {
    const path = `${origin}/api/products/${id}`;
    const response = await fetch(path, { headers });
    const { data } = await response.json();
    assertEquals(data?.product_prices.length, 1);
    return response.status;
  }
});
