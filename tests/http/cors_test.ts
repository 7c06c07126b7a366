import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";

const ORIGIN = "https://app.example";

Deno.test("CORS", async ({ step: it }) => {
  await using app = await openApp({
    corsOrigins: ["http://localhost:5173", ORIGIN],
  });
  const org = await app.organization();
  const { path } = await org.create();
  const preflight = (path: string, headers: HeadersInit) =>
    app.send(path, { method: "OPTIONS", headers });

  await it("responds to a preflight without credentials", async () => {
    const { status, headers } = await preflight(path, {
      "origin": ORIGIN,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "authorization,x-organization-id",
    });

    assertEquals(status, 204);
    assertEquals(headers.get("access-control-allow-origin"), ORIGIN);
    assertEquals(
      headers.get("access-control-allow-methods"),
      "GET, HEAD, PUT, DELETE, OPTIONS",
    );
    const allowed = headers.get("access-control-allow-headers")!.toLowerCase();
    for (
      const header of [
        "accept-version",
        "authorization",
        "baggage",
        "content-type",
        "idempotency-key",
        "if-match",
        "if-none-match",
        "traceparent",
        "tracestate",
        "x-organization-id",
        "x-request-id",
      ]
    ) assert(allowed.split(", ").includes(header), header);
    assertEquals(headers.get("access-control-max-age"), "7200");
    assertEquals(headers.get("access-control-allow-credentials"), null);
    assertEquals(headers.get("vary"), "Accept-Version, Origin");
  });

  await it("lets a listed origin read that a path is unknown", async () => {
    for (const path of ["/api/shelves", "/elsewhere", "/api/products/1"]) {
      const { status, headers } = await preflight(path, {
        "origin": ORIGIN,
        "access-control-request-method": "PUT",
      });
      const { body } = await org.get(path, { origin: ORIGIN });

      assertEquals([status, body.error.code], [204, "NOT_FOUND"]);
      assertEquals(headers.get("access-control-allow-origin"), ORIGIN);
      assertEquals(
        headers.get("access-control-allow-methods"),
        "GET, HEAD, POST, PUT, DELETE, OPTIONS",
      );
    }
  });

  await it("lets a listed origin read responses and errors", async () => {
    const found = await org.get(path, { origin: ORIGIN });
    const missing = await org.get(`/api/products/${org.id}`, {
      origin: ORIGIN,
    });
    const refused = await app.send(path, { headers: { origin: ORIGIN } });

    assertEquals([found, missing, refused].map(({ status }) => status), [
      200,
      404,
      401,
    ]);
    for (const { headers } of [found, missing, refused]) {
      assertEquals(headers.get("access-control-allow-origin"), ORIGIN);
      assertEquals(headers.get("vary"), "Accept-Version, Origin");
      const exposed = headers.get("access-control-expose-headers")!;
      for (const name of ["ETag", "Link", "Location", "X-Request-Id"]) {
        assert(exposed.split(", ").includes(name), name);
      }
      assertEquals(headers.get("access-control-allow-credentials"), null);
    }
  });

  await it("allows no unlisted origin", async () => {
    const others = [
      "https://evil.example",
      "https://app.example.evil.example",
      "https://app.example:8443",
      "http://app.example",
      "null",
      "*",
      "",
    ];
    for (const origin of [...others, undefined]) {
      const given: HeadersInit = origin === undefined ? {} : { origin };
      const { status, headers } = await org.get(path, given);
      const { headers: asked } = await preflight(path, {
        ...given,
        "access-control-request-method": "GET",
      });

      assertEquals(status, 200);
      for (const received of [headers, asked]) {
        assertEquals(received.get("access-control-allow-origin"), null);
        assertEquals(received.get("access-control-allow-methods"), null);
        assertEquals(received.get("vary"), "Accept-Version, Origin");
      }
    }
  });

  await it("leaves other OPTIONS requests alone", async () => {
    const without: HeadersInit[] = [{}, { origin: ORIGIN }];
    for (const given of without) {
      const { status, headers } = await preflight(path, given);

      assertEquals(status, 204);
      assertEquals(headers.get("allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
      assertEquals(headers.get("access-control-allow-methods"), null);
    }
  });
});

Deno.test("CORS is off unless CORS_ORIGINS is set", async () => {
  await using app = await openApp();
  const org = await app.organization();

  const { headers } = await org.get("/api/products", { origin: ORIGIN });

  assertEquals(headers.get("access-control-allow-origin"), null);
  assertEquals(headers.get("vary"), "Accept-Version");
});
