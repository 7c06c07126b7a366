import { assert, assertEquals } from "@std/assert";
import { openApp } from "./harness.ts";
import { listen } from "./wire.ts";

/** The client's part of the beginning of a connection (RFC 9113, 3.4). */
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS = 1, RST_STREAM = 3, SETTINGS = 4;

/** END_STREAM and END_HEADERS: the whole request is in this frame. */
const WHOLE = 5;

/** Why the server hangs up. */
const GOODBYE = "too_many_resets";

/** How many requests are sent, and taken back at once. */
const REQUESTS = 10_000;

Deno.test("A service lives on when ten thousand requests are taken back at once", async () => {
  await using app = await openApp();
  await using server = listen(app.handler);
  const org = await app.organization();
  const { path } = await org.create();
  const request = [
    // GET and http of HPACK's static table, the others as they are (RFC 7541, 6.2.2).
    ...[0x82, 0x86],
    ...[0x04, ...string(path)],
    ...[0x01, ...string("a")],
    ...[0x00, ...string("x-api-key"), ...string(org.key)],
  ];

  using connection = await server.connect();
  const frames = Array.from({ length: REQUESTS }, (_, i) => [
    ...frame(HEADERS, WHOLE, 2 * i + 1, request),
    ...frame(RST_STREAM, 0, 2 * i + 1, [0, 0, 0, 8]),
  ]).flat();
  const writer = connection.writable.getWriter();
  await writer.write(
    Uint8Array.from([
      ...new TextEncoder().encode(PREFACE),
      ...frame(SETTINGS, 0, 0, []),
    ]),
  );
  // The server may hang up before it has heard everything.
  const written = writer.write(Uint8Array.from(frames)).catch(() => {});
  let heard = "";
  for await (
    const text of connection.readable.pipeThrough(new TextDecoderStream())
  ) {
    heard += text;
    if (heard.includes(GOODBYE)) break;
  }
  await written;
  const answers = await server.exchange(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${org.key}\r\nConnection: close\r\n\r\n`,
  );

  assert(heard.includes(GOODBYE), heard);
  assertEquals(answers.map(({ status }) => status), [200]);
  assertEquals((await org.get(path)).status, 200);
  assertEquals(app.database.load, { running: 0, waiting: 0 });
});

/** A frame (RFC 9113, 4.1). */
function frame(
  type: number,
  flags: number,
  stream: number,
  payload: number[],
): number[] {
  const { length } = payload;
  const bytes = (value: number) =>
    [value >> 24, value >> 16, value >> 8, value].map((byte) => byte & 255);
  return [...bytes(length).slice(1), type, flags, ...bytes(stream), ...payload];
}

function string(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}
