import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import config from "../../deno.json" with { type: "json" };
import { openInstalledDatabase } from "../support/app/fresh_database.ts";
import { SETTINGS } from "../support/app/harness.ts";
import { emptyFolder, preparedFolder } from "../support/app/prepared_folder.ts";
import { launch, type Service, start } from "../support/app/process.ts";
import { sampleOf } from "../support/app/sample.ts";
import { TIMED } from "../support/app/deadline.ts";

/** A port without a listener. */
const NOWHERE = "postgres://catalogue:hidden@127.0.0.1:1/catalogue";

/** A multicast address, which TCP has no route to. */
const UNROUTABLE = "postgres://catalogue:hidden@224.0.0.1/catalogue";

Deno.test("The service as a process", TIMED, async ({ step: it }) => {
  const dataDir = await preparedFolder();

  await it("runs under `deno serve`, with its permissions", async () => {
    // Its process would propagate renames and delete versions of other tests.
    await using own = SETTINGS.url ? await openInstalledDatabase() : undefined;
    const place: Record<string, string> = own
      ? { DATABASE_URL: own.settings.url! }
      : { DATA_DIR: dataDir };

    await using service = await start(place, (port) => [
      "serve",
      "--no-prompt",
      "--allow-net",
      `--allow-read=.,${dataDir}`,
      `--allow-write=${dataDir}`,
      "--allow-env",
      "--host=127.0.0.1",
      `--port=${port}`,
      "main.ts",
    ]);

    const { status, body } = await fetch(`${service.origin}/api/products`);
    await body?.cancel();
    assertEquals(status, 401);
    service.signal("SIGTERM");
    assertEquals((await service.ended).code, 0);
  });

  await it("does not load PGlite if DATABASE_URL is set", async () => {
    const { "@electric-sql/pglite": _, ...imports } = config.imports;
    const importMap = `${dataDir}/imports.json`;
    // Unlike deno.json, an import map leads to the files of a package only by a name with a slash.
    const files = Object.entries<string>(imports)
      .filter(([, target]) => target.startsWith("npm:"))
      .map(([name, target]) => [`${name}/`, `${target.replace("npm:", "npm:/")}/`]);
    const all = { ...imports, ...Object.fromEntries(files) };
    await Deno.writeTextFile(importMap, JSON.stringify({ imports: all }));
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
  });

  const unreachable: [url: string, code: string][] = [
    [NOWHERE, "ECONNREFUSED"],
    [UNROUTABLE, "ENETUNREACH"],
  ];
  for (const [url, code] of sampleOf(unreachable, () => "")) {
    await it(`logs why it waits for the database: ${code}`, async () => {
      const service = launch({ DATABASE_URL: url });

      await service.until("/health/live");
      const ready = await fetch(`${service.origin}/health/ready`);
      service.signal("SIGTERM");

      assertEquals(
        (await ready.json()).error.message,
        "The service is starting or stopping",
      );
      const ended = await service.ended;
      assertStringIncludes(ended.stdout, code);
      assertStringIncludes(ended.stdout, "Check DATABASE_URL");
      assertEquals(ended.code, 0);
    });
  }

  await it("refuses an embedded database with pending migrations", async () => {
    const { code, stderr } = await launch({
      DATA_DIR: await emptyFolder(`${dataDir}/unmigrated`),
      MIGRATE_ON_START: "false",
    }).ended;

    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      "Migrations are pending: run deno task migrate",
    );
  });

  await it("shares its executable with the commands", async () => {
    const { code, stdout } = await launch({}, () => [
      "run",
      "main.ts",
      "key",
      "--help",
    ]).ended;

    assertEquals(code, 0);
    assertMatch(stdout, /^deno task key create /);
  });

  // `config_test.ts` has every variable.
  await it("refuses an invalid variable in one line, without its value", async () => {
    const JWT_SECRET = "too-short-to-be-secret";

    const { code, stdout, stderr } = await launch({ JWT_SECRET }).ended;

    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /^JWT_SECRET must [^\n]+\n$/);
    assertEquals(stderr.includes(JWT_SECRET), false);
  });

  await it("refuses a used address in one line", async () => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });

    const { code, stderr } = await launch({
      DATABASE_URL: NOWHERE,
      HOST: "127.0.0.1",
      PORT: String(taken.addr.port),
    }).ended;

    assertEquals(code, 1);
    assertMatch(
      stderr,
      /^Cannot listen at 127\.0\.0\.1:\d+: [^\n]+ Set HOST and PORT to a free address, such as PORT=8001\n$/,
    );
  });

  await it("spends no demo key if the address is used", async () => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const env = {
      DATA_DIR: await preparedFolder(`${dataDir}/demo`),
      HOST: "127.0.0.1",
    };

    const { code, stderr } = await launch({
      ...env,
      PORT: String(taken.addr.port),
    }).ended;
    await using next = await start(env);
    await eventually(true, () => /^The key of .*: cat_/m.test(next.stderr));

    assertEquals(code, 1);
    assertEquals(stderr.includes("cat_"), false);
  });

  await it("shows a key that works, however late it is read", async () => {
    const pipe = `${dataDir}/unread`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    using reader = await Deno.open(pipe, { read: true, write: true });
    // The capacity of a pipe: more has to wait.
    await reader.write(new Uint8Array(65_536).fill(10));
    const env = { DATA_DIR: await preparedFolder(`${dataDir}/late`) };
    await using service = await start(env, undefined, `exec 2> ${pipe}`);
    // More than the output waits for at its end.
    await pause(1_000);

    const key = await keyIn(reader.readable);

    assertEquals(await statusWith(service, key), 200);
  });

  await it("shows another key if the first one could not be shown", async () => {
    const env = { DATA_DIR: await preparedFolder(`${dataDir}/failed`) };
    const failed = await start(env, undefined, "exec 2> /dev/full");
    await eventually(true, () => failed.stdout.includes("deno task key create"));
    failed.signal("SIGTERM");
    assertEquals((await failed.ended).code, 0);

    await using next = await start(env);
    await eventually(true, () => KEY.test(next.stderr));

    assertEquals(await statusWith(next, next.stderr), 200);
  });

  await it("says how to create a key if nobody has used the one that it showed", async () => {
    const env = { DATA_DIR: await preparedFolder(`${dataDir}/lost`) };
    const first = await start(env);
    await eventually(true, () => KEY.test(first.stderr));
    const key = first.stderr;
    first.signal("SIGTERM");
    await first.ended;
    const command = "key create --organization 00000000-0000-4000-8000-000000000001 --name";
    const second = await start(env);
    await eventually(true, () => second.stderr.includes(command));
    assertEquals(KEY.test(second.stderr), false);
    assertEquals(await statusWith(second, key), 200);
    second.signal("SIGTERM");
    await second.ended;

    await using third = await start(env);
    await third.until("/health/ready");

    assertEquals(third.stderr.includes(command), false);
  });
});

const KEY = /cat_[0-9a-z]{12}_[\w-]{43}/;

/** The status of a list for the key that the text contains. */
async function statusWith(service: Service, text: string): Promise<number> {
  const [key] = KEY.exec(text)!;
  const response = await fetch(`${service.origin}/api/products`, {
    headers: { "x-api-key": key! },
  });
  await response.body?.cancel();
  return response.status;
}

async function keyIn(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (KEY.test(text)) return text;
  }
  throw new Error("There is no key");
}
