import { pause } from "../../db/connections/deadline.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { openInstalledDatabase } from "../support/app/fresh_database.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { preparedFolder } from "../support/app/prepared_folder.ts";
import { prepare, type Service, start } from "../support/app/process.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("A process that is stopped", TIMED, async ({ step: it }) => {
  const dataDir = await preparedFolder();
  // Its process would propagate renames and delete versions of other tests.
  await using own = SETTINGS.url ? await openInstalledDatabase() : undefined;
  const { place, key } = await prepare("Stop", own?.settings ?? { ...SETTINGS, dataDir });
  const headers = { "x-api-key": key, "content-type": "application/json" };

  await it("finishes running requests", async () => {
    await using service = await start(place);
    const uploads = await Promise.all([begin(service), begin(service)]);
    using _idle = await connect(service, "");
    using _half = await connect(service, "GET /api/products HTTP/1.1\r\nHo");
    using _kept = await connect(
      service,
      "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n",
    );

    service.signal("SIGTERM");

    await untilStopping(service);
    assertEquals((await get(service, "/health/live")).status, 200);
    assertEquals((await get(service, "/api/products")).status, 503);
    for (const { finish } of uploads) assertEquals(await finish(), 201);
    assertEquals((await service.ended).code, 0);
  });

  await it("treats a signal that comes twice, such as Ctrl-C, as one", async () => {
    await using service = await start(place);
    const { finish } = await begin(service);

    // Two pending signals of one kind would arrive as one.
    service.signal("SIGINT");
    service.signal("SIGTERM");
    await untilStopping(service);

    assertEquals(await finish(), 201);
    assertEquals((await service.ended).code, 0);
  });

  await it("ends at once on a second signal", async () => {
    await using service = await start(place);
    const { finish } = await begin(service);
    service.signal("SIGTERM");
    await untilStopping(service);
    await pause(600);

    service.signal("SIGTERM");

    assertEquals((await service.ended).code, 1);
    await assertRejects(finish);
  });

  await it("ends although a body never arrives", async () => {
    await using service = await start(place);
    const { response } = await begin(service);

    service.signal("SIGTERM");

    assertEquals((await service.ended).code, 0);
    const { status, body } = await response;
    await body?.cancel();
    assertEquals(status, 408);
  });

  async function begin({ origin }: Service) {
    const { readable, writable } = new TransformStream<Uint8Array>();
    const body = writable.getWriter();
    const response = fetch(`${origin}/api/products`, {
      method: "POST",
      headers,
      body: readable,
    });
    response.catch(() => {});
    const encoder = new TextEncoder();
    await body.write(encoder.encode('{"title":'));
    // The service has received everything that was sent before.
    await fetch(`${origin}/health/live`).then(({ body }) => body?.cancel());

    return {
      response,
      async finish(): Promise<number> {
        body.write(encoder.encode('"Emma"}')).then(() => body.close()).catch(
          () => {},
        );
        const { status, body: rest } = await response;
        await rest?.cancel();
        return status;
      },
    };
  }

  /** A client that sends this text and keeps the connection open. */
  async function connect(
    { origin }: Service,
    text: string,
  ): Promise<Deno.Conn> {
    const { hostname, port } = new URL(origin);
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(text));
    return connection;
  }

  async function untilStopping(service: Service): Promise<void> {
    await eventually(
      503,
      async () => (await get(service, "/health/ready")).status,
    );
  }

  async function get({ origin }: Service, path: string): Promise<Response> {
    const response = await fetch(origin + path, { headers });
    await response.body?.cancel();
    return response;
  }
});

Deno.test("A stopping service", TIMED, async ({ step: it }) => {
  let isReady = true;
  await using app = await openApp({ isReady: () => isReady });
  const org = await app.organization();

  await it("returns 503 for a body cut off", async () => {
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
    assertEquals(body.error.message, "The service is stopping");
  });
});
