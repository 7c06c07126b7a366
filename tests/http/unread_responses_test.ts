import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import {
  fieldBlock,
  frame,
  HEADERS,
  PREFACE,
  SETTINGS,
  WHOLE,
  WINDOW_UPDATE,
} from "../support/client/h2.ts";
import { openApp } from "../support/app/harness.ts";
import { listen } from "../support/client/wire.ts";
import { TIMED } from "../support/app/deadline.ts";

const STREAMS = 200;

const BUNDLE = "/docs/swagger-ui-bundle.js";

/** Longer than a chunk. Some chunks would end within a surrogate pair. */
const TEXT = "é😀".repeat(49_999) + "é";

/** Responses of 0.9 MB, which together have half of the 64 MiB. */
const HALF = 37;

Deno.test("A long response", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const texts = Array(3).fill(TEXT);
  const { path } = await org.create({
    collateral: texts.map((text) => ({
      collateral_type: "text_content",
      text,
    })),
  });

  await it("is complete, with its length", async () => {
    const { body: { data }, headers, text } = await org.get(path);

    const length = new TextEncoder().encode(text).length;
    assertEquals(Number(headers.get("content-length")), length);
    assertEquals(
      data.collateral.map(({ text }: { text: string }) => text),
      texts,
    );
  });

  await it("is sent to a client that reads slowly: each part has the full time", async () => {
    const sendTimeoutMs = 123_456;
    using timers = countedTimers(sendTimeoutMs);
    const response = await app.variant({ sendTimeoutMs })(
      new Request(`http://catalogue.test${path}`, { headers: { "x-api-key": org.key } }),
    );
    const reader = response.body!.getReader();
    let size = 0;
    for (let parts = 1;; parts++) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      const isLast = size === Number(response.headers.get("content-length"));
      assertEquals(timers.running, isLast ? 0 : 1);
      // One at the start, and one after each part but the last.
      assertEquals(timers.begun, isLast ? parts : parts + 1);
    }

    assertEquals(size, Number(response.headers.get("content-length")));
  });
});

Deno.test("Unread responses", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const other = await app.organization();
  const long = await org.create({
    collateral: Array.from({ length: 3 }, () => ({
      collateral_type: "text_content",
      text: TEXT,
    })),
  });

  await it("are aborted, while other clients get theirs", async () => {
    const handler = app.variant({ sendTimeoutMs: 1_000 });
    await using server = listen(handler);
    const lines = app.logged.length;
    const unread = () =>
      app.logged.slice(lines).filter(({ message }) =>
        message === "A client stopped reading its response"
      );

    using _ = await askWithoutReading(server, BUNDLE, {});
    await eventually(STREAMS, () => unread().length);
    const whole = await (await fetch(server.origin + BUNDLE)).text();

    assert(whole.length > 1_000_000);
  });

  await it("of a caller alone may fill half of the memory", async () => {
    const responses = await Promise.all(
      Array.from({ length: HALF }, () =>
        app.handler(
          new Request(`http://catalogue.test${long.path}`, {
            headers: { "x-api-key": org.key },
          }),
        )),
    );

    const statuses = responses.map(({ status }) => status);
    for (const { body } of responses) await body?.cancel();
    assertEquals(new Set(statuses), new Set([200]));
  });

  await it("are not those to HEAD", async () => {
    const read = (method: string) =>
      app.send(long.path, { method, headers: { "x-api-key": org.key } });

    for (let i = 0; i < STREAMS; i++) {
      assertEquals((await read("HEAD")).status, 200);
    }

    assertEquals((await read("GET")).status, 200);
  });

  await it("use up only their own key's share", async () => {
    // What finds no memory waits for it until a short deadline, of these requests alone.
    await using server = listen(app.variant({ deadlineMs: 2_000 }));
    await using patient = listen(app.handler);
    const second = await org.issueKey("read");
    const get = async (key: string) => {
      const response = await fetch(patient.origin + long.path, {
        headers: { "x-api-key": key },
      });
      return { status: response.status, text: await response.text() };
    };
    const expected = await get(org.key);
    const lines = app.logged.length;

    const connection = await askWithoutReading(server, long.path, {
      "x-api-key": org.key,
    });
    const received = () => app.logged.slice(lines).map(({ status }) => status);
    await eventually(STREAMS, () => received().length);
    const statuses = received();
    const bySecond = await get(second);
    const byOther = await fetch(`${patient.origin}/api/products`, {
      headers: { "x-api-key": other.key },
    });
    await byOther.text();
    connection.close();
    await eventually(200, async () => (await get(org.key)).status);
    const after = await get(org.key);

    assert(statuses.includes(200) && statuses.includes(503), `${statuses}`);
    assertEquals(bySecond, expected);
    assertEquals(byOther.status, 200);
    assertEquals(after, expected);
  });
});

/** Counts the timers of this length that begin, and those that run, until it is disposed. */
function countedTimers(ms: number) {
  const { setTimeout, clearTimeout } = globalThis;
  const running = new Set<unknown>();
  let begun = 0;
  Object.assign(globalThis, {
    setTimeout(work: () => void, after: number) {
      const id = setTimeout(work, after);
      if (after !== ms) return id;
      begun++;
      running.add(id);
      return id;
    },
    clearTimeout(id: number) {
      running.delete(id);
      clearTimeout(id);
    },
  });
  return {
    get begun() {
      return begun;
    },
    get running() {
      return running.size;
    },
    [Symbol.dispose]: () => void Object.assign(globalThis, { setTimeout, clearTimeout }),
  };
}

/** Sends requests on one HTTP/2 connection with an unlimited window, and reads nothing. */
async function askWithoutReading(
  server: { connect(): Promise<Deno.TcpConn> },
  path: string,
  headers: Record<string, string>,
): Promise<Deno.TcpConn> {
  const connection = await server.connect();
  const request = fieldBlock(path, headers);
  const text = new TextEncoder().encode(PREFACE);
  const frames = [
    ...frame(SETTINGS, 0, 0, [0, 4, 0x7f, 255, 255, 255]),
    ...frame(WINDOW_UPDATE, 0, 0, [0x7f, 255, 0, 0]),
    ...Array.from(
      { length: STREAMS },
      (_, i) => frame(HEADERS, WHOLE, 2 * i + 1, request),
    ).flat(),
  ];
  const writer = connection.writable.getWriter();
  await writer.write(Uint8Array.from([...text, ...frames]));
  writer.releaseLock();
  return connection;
}
