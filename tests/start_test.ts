import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { openApp } from "./harness.ts";
import { launch, prepare, type Service, start } from "./process.ts";

/** Nobody listens here. */
const NOWHERE = "postgres://catalogue:hidden@127.0.0.1:1/catalogue";

Deno.test("deno task start", async (t) => {
  const dataDir = await Deno.makeTempDir();
  const { place, key } = await prepare(dataDir);
  const headers = { "x-api-key": key, "content-type": "application/json" };

  await t.step("answers what is under way when it is stopped", async () => {
    await using service = await start(place);
    const uploads = await Promise.all([begin(service), begin(service)]);

    service.signal("SIGTERM");

    await untilStopping(service);
    assertEquals((await get(service, "/health/live")).status, 200);
    assertEquals((await get(service, "/api/products")).status, 503);
    for (const { finish } of uploads) assertEquals(await finish(), 201);
    assertEquals((await service.ended).code, 0);
  });

  await t.step("takes a Ctrl-C that comes twice for one", async () => {
    await using service = await start(place);
    const { finish } = await begin(service);

    service.signal("SIGINT");
    service.signal("SIGINT");

    await untilStopping(service);
    assertEquals(await finish(), 201);
    assertEquals((await service.ended).code, 0);
  });

  await t.step("ends at once when it is asked again", async () => {
    await using service = await start(place);
    const { finish } = await begin(service);
    service.signal("SIGTERM");
    await untilStopping(service);
    await new Promise((resolve) => setTimeout(resolve, 600));

    service.signal("SIGTERM");

    assertEquals((await service.ended).code, 1);
    await assertRejects(finish);
  });

  await t.step("ends though a body never arrives", async () => {
    await using service = await start(place);
    const { finish } = await begin(service);

    service.signal("SIGTERM");

    assertEquals((await service.ended).code, 0);
    await assertRejects(finish);
  });

  await t.step("serves under `deno serve`, with its permissions", async () => {
    const [allowEnv = ""] = /--allow-env=\S+/
      .exec(config.tasks.serve.command) ?? [];
    await using service = await start(place, (port) => [
      "serve",
      "--no-prompt",
      "--allow-net",
      `--allow-read=.,${dataDir}`,
      `--allow-write=${dataDir}`,
      allowEnv,
      "--host=127.0.0.1",
      `--port=${port}`,
      "main.ts",
    ]);

    assertEquals((await get(service, "/api/products")).status, 200);
    service.signal("SIGTERM");
    assertEquals((await service.ended).code, 0);
  });

  await t.step(
    "loads nothing of PGlite where DATABASE_URL is set",
    async () => {
      const { "@electric-sql/pglite": _, ...imports } = config.imports;
      const importMap = `${dataDir}/imports.json`;
      await Deno.writeTextFile(importMap, JSON.stringify({ imports }));
      const withoutPGlite = () => [
        "run",
        "--allow-all",
        `--import-map=${importMap}`,
        "main.ts",
        "start",
      ];

      await using service = launch({ DATABASE_URL: NOWHERE }, withoutPGlite);
      const embedded = await launch(
        { DATA_DIR: `${dataDir}/new` },
        withoutPGlite,
      ).ended;

      await service.until("/health/live");
      assertStringIncludes(embedded.stderr, "@electric-sql/pglite");
    },
  );

  await t.step("refuses an address that is taken, in one line", async () => {
    await using service = await start(place);
    const { port } = new URL(service.origin);

    const { code, stderr } = await launch({
      DATABASE_URL: NOWHERE,
      HOST: "127.0.0.1",
      PORT: port,
    }).ended;

    assertEquals(code, 1);
    assertMatch(
      stderr,
      /^HOST and PORT must be an address that is free: .+\n$/,
    );
  });

  await Deno.remove(dataDir, { recursive: true });

  async function begin({ origin }: Service) {
    const { readable, writable } = new TransformStream<Uint8Array>();
    const body = writable.getWriter();
    const answer = fetch(`${origin}/api/products`, {
      method: "POST",
      headers,
      body: readable,
    });
    answer.catch(() => {});
    const encoder = new TextEncoder();
    await body.write(encoder.encode('{"title":'));
    // What was sent before this is with the service by now.
    await fetch(`${origin}/health/live`).then(({ body }) => body?.cancel());

    return {
      async finish(): Promise<number> {
        body.write(encoder.encode('"Emma"}')).then(() => body.close()).catch(
          () => {},
        );
        const { status, body: rest } = await answer;
        await rest?.cancel();
        return status;
      },
    };
  }

  async function untilStopping(service: Service): Promise<void> {
    while ((await get(service, "/health/ready")).status !== 503);
  }

  async function get({ origin }: Service, path: string): Promise<Response> {
    const response = await fetch(origin + path, { headers });
    await response.body?.cancel();
    return response;
  }
});

Deno.test("a service that is being stopped", async (t) => {
  let isReady = true;
  await using app = await openApp({ isReady: () => isReady });
  const org = await app.organization();

  await t.step("says so where a body is cut off", async () => {
    const cutOff = new ReadableStream({
      pull(controller) {
        isReady = false;
        controller.error(new Error("The connection was closed"));
      },
    }, { highWaterMark: 0 });

    const { status, headers, body } = await app.send("/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: cutOff,
    });

    assertEquals(status, 503);
    assertEquals(headers.get("retry-after"), "1");
    assertEquals(body.error.message, "The service is being stopped");
  });

  await t.step("refuses what is new, and lives", async () => {
    isReady = false;

    assertEquals((await org.get("/api/products")).status, 503);
    assertEquals((await org.get("/health/ready")).status, 503);
    assertEquals((await org.get("/health/live")).status, 200);
  });
});

Deno.test("deno task start refuses a wrong value in one line that does not show it", async (t) => {
  const wrong = {
    PORT: "70001",
    HOST: "not a host",
    API_PREFIX: "api/",
    DATABASE_URL: "mysql://catalogue:hidden@127.0.0.1/catalogue",
    DATABASE_POOL_SIZE: "none",
    JWT_SECRET: "too-short-to-be-secret",
    JWT_JWKS_URL: "http://keys.example/jwks.json",
    LOG_LEVEL: "loud",
    MAX_BODY_BYTES: "1MB",
  };
  for (const [name, value] of Object.entries(wrong)) {
    await t.step(name, async () => {
      const { code, stdout, stderr } = await launch({ [name]: value }).ended;

      assertEquals(code, 1);
      assertEquals(stdout, "");
      assertMatch(stderr, new RegExp(`^${name} must [^\n]+\n$`));
      assertEquals(stderr.includes(value), false);
    });
  }
});
