import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../support/app/eventually.ts";
import { openApp } from "../support/app/harness.ts";
import { listen } from "../support/client/wire.ts";
import { TIMED } from "../support/app/deadline.ts";

const JSON_HEADER = "Content-Type: application/json\r\n";

Deno.test("Request framing", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  await using server = listen(app.handler);
  const org = await app.organization();
  const { path } = await org.create({ title: "Emma" });
  const KEY = `x-api-key: ${org.key}\r\n`;

  await it("ignores the body of GET and DELETE", async () => {
    const body = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    const headers = `Host: a\r\n${KEY}Content-Length: ${body.length}\r\n`;
    const doomed = await org.create();

    const got = await server.exchange(
      `GET ${path} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${body}`,
    );
    const deleted = await server.exchange(
      `DELETE ${doomed.path} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${body}`,
    );

    assertEquals(got.map(({ status }) => status), [200]);
    assertEquals(deleted.map(({ status }) => status), [200]);
    assertStringIncludes(deleted[0]!.body, '"deleted":true');
  });

  await it("refuses a request of ambiguous length (RFC 9112, 6.3)", async () => {
    const before = await countProducts();
    const body = '{"title":"Smuggled"}';
    const length = `Content-Length: ${body.length}\r\n`;
    for (
      const framing of [
        `${length}Transfer-Encoding: chunked\r\n`,
        `Transfer-Encoding: chunked\r\n${length}`,
        `${length}Content-Length: 3\r\n`,
        `Content-Length: ${body.length}, ${body.length}\r\n`,
        "Content-Length: -1\r\n",
        "Content-Length: 100000000000000000000\r\n",
        "Content-Length: +20\r\n",
        "Content-Length: 0x14\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        `X: a\r\n b\r\n${length}`,
        `X: a\0b\r\n${length}`,
        `Host: b\r\n${length}`,
      ]
    ) {
      const [response] = await server.exchange(
        `POST /api/products HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_HEADER}${framing}Connection: close\r\n\r\n${body}`,
      );

      assertEquals(response?.status, 400, framing);
    }
    assertEquals(await countProducts(), before);
  });

  await it("creates no product from an incomplete body", async () => {
    const before = await countProducts();
    const lines = app.logged.length;
    const body = '{"title":"Half"}';
    const framings = [
      `Content-Length: ${body.length + 1}\r\n\r\n${body}`,
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`,
    ];
    for (const framing of framings) {
      using connection = await server.connect();
      const text = `POST /api/products HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_HEADER}${framing}`;
      await connection.write(new TextEncoder().encode(text));
    }

    const broken = () => app.logged.slice(lines).map(({ code }) => code);
    await eventually(framings.length, () => broken().length);

    assertEquals(broken(), ["INVALID_JSON", "INVALID_JSON"]);
    assertEquals(await countProducts(), before);
  });

  await it("times out a slow body, and serves other requests meanwhile", async () => {
    await using server = listen(app.variant({ bodyTimeoutMs: 300 }));
    using connection = await server.connect();
    const slow =
      `POST /api/products HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_HEADER}Content-Length: 999\r\n\r\n`;
    await connection.write(new TextEncoder().encode(slow));
    const trickle = setInterval(
      () => connection.write(new Uint8Array([32])).catch(() => {}),
      20,
    );

    const [other] = await server.exchange(
      "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    const buffer = new Uint8Array(1_000);
    const size = await connection.read(buffer);
    clearInterval(trickle);

    assertEquals(other!.status, 200);
    assertMatch(
      new TextDecoder().decode(buffer.subarray(0, size!)),
      /^HTTP\/1\.1 408 /,
    );
  });

  async function countProducts(): Promise<number> {
    return (await org.get("/api/products")).body.meta.total;
  }
});
