import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { listen } from "../support/client/wire.ts";
import { TIMED } from "../support/app/deadline.ts";

Deno.test("HTTP on the wire", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  await using server = listen(app.handler);
  const org = await app.organization();
  const { id, path } = await org.create({ title: "Emma" });
  const KEY = `x-api-key: ${org.key}\r\n`;

  /** Sends a request on a new connection, and returns the status of the response. */
  async function ask(line: string, headers: string, body = "") {
    const [response] = await server.exchange(
      `${line} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${body}`,
    );
    return response!;
  }

  await it("responds to HEAD like GET, with its Content-Length and no body (RFC 9110, 9.3.2)", async () => {
    const unknown = `/api/products/${crypto.randomUUID()}`;
    const streamed = ["/api/csv/products", "/api/xlsx/products"];
    for (const target of [path, "/api/products", unknown, ...streamed]) {
      const get = await ask(`GET ${target}`, `Host: a\r\n${KEY}`);

      const head = await ask(`HEAD ${target}`, `Host: a\r\n${KEY}`);

      assertEquals(head.status, get.status);
      assertEquals(head.body, "");
      assertEquals(head.headers.get("content-length"), get.headers.get("content-length"), target);
      for (const [name, value] of get.headers) {
        if (["date", "server-timing", "x-request-id", "transfer-encoding"].includes(name)) continue;
        assertEquals(head.headers.get(name), value, name);
      }
    }
  });

  await it("needs no body where it is optional (RFC 9112, 6.3)", async () => {
    const json = "Content-Type: application/json\r\n";
    const { id: gone } = await org.create({ title: "Gone" });
    for (
      const headers of ["", json, "Content-Length: 0\r\n", `${json}Transfer-Encoding: chunked\r\n`]
    ) {
      assertEquals((await org.delete(`/api/products/${gone}`)).status, 200);
      const body = headers.includes("chunked") ? "0\r\n\r\n" : "";

      const { status } = await ask(
        `POST /api/products/${gone}/restore`,
        `Host: a\r\n${KEY}${headers}`,
        body,
      );

      assertEquals(status, 200, headers);
    }
    const { status } = await ask("POST /api/products", `Host: a\r\n${KEY}${json}`);
    assertEquals(status, 400);
  });

  await it("truncates long methods in the log", async () => {
    const { status } = await ask(
      "M".repeat(50_000) + " /nowhere",
      "Host: a\r\n",
    );

    assertEquals(status, 404);
    assertEquals(app.logged.at(-1)!.method, "M".repeat(20));
  });

  await it("does not reveal its software", async () => {
    const response = await ask("GET /nowhere", "Host: a\r\n");

    assertEquals(response.status, 404);
    assertEquals(response.headers.get("server"), null);
    assertEquals(response.headers.get("x-powered-by"), null);
  });

  await it("refuses an invalid Host with 400 (RFC 9112, 3.2)", async () => {
    const hosts = ["a b", "%%%", "x:99999", "x:", "x@y", "x#", "a,b", ""]
      .concat("1.2.3.999", "[::::]", "xn--", "[::1", "\xe9");
    for (const host of hosts) {
      const response = await ask("GET /health/live", `Host: ${host}\r\n`);

      assertEquals(response.status, 400, host);
    }
  });

  await it("refuses an invalid authority in absolute form with 400 (RFC 9112, 3.2.2)", async () => {
    const authorities = ["a$'b", 'a"b', "a$`b", "x@y", "x:99999"]
      .concat("$'".repeat(900));
    for (const authority of authorities) {
      for (const path of ["/health/live", "/api/openapi.json"]) {
        const response = await ask(
          `GET http://${authority}${path}`,
          "Host: a\r\n",
        );

        assertEquals(response.status, 400, authority);
      }
    }
    const { status } = await ask("GET http://b/health/live", "Host: a\r\n");
    assertEquals(status, 200);
  });

  await it("takes no path from Host", async () => {
    for (const host of ["x/api/products?", "x\\api\\products?", "x/", "x?"]) {
      const { status, body } = await ask(
        "GET /health/live",
        `Host: ${host}\r\n${KEY}`,
      );

      assertEquals(status, 400);
      assertStringIncludes(body, '"code":"invalid_host"');
    }
  });

  await it("accepts any valid Host", async () => {
    for (const host of ["catalogue.test", "127.0.0.1:80", "[::1]:8000", "_x"]) {
      const response = await ask(`GET ${path}`, `Host: ${host}\r\n${KEY}`);

      assertEquals(response.status, 200, host);
    }
    const { status } = await ask(
      "GET http://elsewhere.test/api/products",
      `Host: a\r\n${KEY}`,
    );
    assertEquals(status, 200);
  });

  await it("returns 405 with Allow for any other method (RFC 9110, 15.5.6)", async () => {
    for (const method of ["TRACE", "PATCH", "get", "FOO", "Propfind"]) {
      const response = await ask(
        `${method} /api/products`,
        `Host: a\r\n${KEY}`,
      );

      assertEquals(response.status, 405, method);
      assertEquals(response.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
    }
    assertEquals((await ask("OPTIONS *", "Host: a\r\n")).status, 404);
    assert((await ask("CONNECT a:80", "Host: a\r\n")).status < 500);
  });

  await it("returns 404 for unknown paths and other spellings of a path", async () => {
    const paths = ["//api/products", "/api//products", "/api/products/", "/*"]
      .concat("/API/products", "/api/products;x", "/api/%70roducts")
      .concat("/api/products/%00", "/api/products/%ZZ", `${path}/x`)
      .concat("//elsewhere.test/api/products", `${path}%0A`)
      .concat("/api\\products", "/api/%2e%2e/api/products")
      .concat("/api/../api/products", "/api/./products", "/api/%2E/products")
      .concat("/x/..//api/products", "/api/products/..", "/api/products#x")
      .concat("http://a\\api/products", "http://a?/api/products")
      .concat("http://a/x/../api/products", "/api/products%3Fpage=1")
      .concat("/", "/api", "/api/", "/api/product", "/health", "/products")
      .concat("/api/products/1", "/api/products/null", `${path}/`, `${path}x`)
      .concat(`${path}/prices`, `${path}0`, path.replaceAll("-", ""))
      .concat(path.replace(id, `{${id}}`), path.replace(id, `urn:uuid:${id}`))
      .concat(path.replace(id, "9".repeat(9000)));
    for (const spelling of paths) {
      const { status, body } = await ask(
        `GET ${spelling}`,
        `Host: a\r\n${KEY}`,
      );

      assertEquals(status, 404, spelling);
      assertStringIncludes(body, '"code":"NOT_FOUND"');
    }
  });

  await it("survives invalid and oversized requests", async () => {
    const long = "x".repeat(65 * 1024);
    const many = Array.from({ length: 129 }, (_, i) => `X${i}: 1\r\n`).join("");
    for (
      const text of [
        "GET /health/live\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        `GET /health/live?${long} HTTP/1.1\r\nHost: a\r\n\r\n`,
        `GET /health/live HTTP/1.1\r\nHost: a\r\nX: ${long}\r\n\r\n`,
        `GET /health/live HTTP/1.1\r\nHost: a\r\n${many}\r\n`,
      ]
    ) {
      const [response] = await server.exchange(text);

      assertEquals(response?.status ?? 400, 400);
    }
    assertEquals((await ask("GET /health/live", "Host: a\r\n")).status, 200);
  });
});
