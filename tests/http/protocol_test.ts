import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { eventually } from "../support/app/eventually.ts";
import { openApp, send, SETTINGS } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";
import { operationsIn } from "../support/app/own_app.ts";
import { startSleepers } from "../support/app/sleepers.ts";

Deno.test("The protocol", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const { id, path } = await org.create({ title: "Emma" });
  const asWriter = { "x-api-key": org.key };

  await it("checks version, path, credentials and body in this order", async () => {
    const asReader = { "x-api-key": await org.issueKey("read") };
    const json = { "content-type": "application/json" };
    const large = `{"title":"${"x".repeat(1_048_576)}"}`;
    const products = "/api/products";
    // deno-fmt-ignore
    const requests: [string, string, string, HeadersInit, string][] = [
      ["UNSUPPORTED_VERSION", "PATCH", "/", { "accept-version": "2.0" }, large],
      ["NOT_FOUND", "PATCH", "/", {}, large],
      ["METHOD_NOT_ALLOWED", "PATCH", products, {}, large],
      ["UNAUTHORIZED", "POST", products, {}, large],
      ["FORBIDDEN", "POST", products, asReader, large],
      ["UNSUPPORTED_MEDIA_TYPE", "POST", products, asWriter, large],
      ["PAYLOAD_TOO_LARGE", "POST", products, { ...asWriter, ...json }, large],
      ["INVALID_JSON", "POST", products, { ...asWriter, ...json }, "{"],
      ["VALIDATION_ERROR", "PUT", `${products}/${uuidv7()}`, { ...asWriter, ...json },
          `{"shelf":1,"license_id":"${uuidv7()}"}`],
      ["NOT_FOUND", "PUT", `${products}/${uuidv7()}`, { ...asWriter, ...json }, `{"license_id":"${uuidv7()}"}`],
    ];

    for (const [code, method, path, headers, body] of requests) {
      const reply = await app.send(path, { method, headers, body });

      assertEquals(reply.body.error.code, code);
    }
  });

  await it("returns 404 with a pointer to the description at an unknown path", async () => {
    for (const path of ["/", "/api", "/api/", "/api/product"]) {
      const { status, body } = await app.send(path);

      assertEquals(status, 404);
      assertMatch(body.error.message, /: see \/docs and \/api\/openapi\.json$/);
    }
    for (const path of ["/health", "/api/health", "/healthz", "/health/"]) {
      const { status, body } = await app.send(path);

      assertEquals(status, 404);
      assertMatch(body.error.message, /is ready is at \/health\/ready/);
    }
    const isbns = {
      "9780141439587": "?isbn13=9780141439587",
      "978-0-14-143958-7": "?isbn13=9780141439587",
      "0141439580": "?isbn10=0141439580",
      "0-8044-2957-x": "?isbn10=080442957X",
    };
    for (const [isbn, query] of Object.entries(isbns)) {
      const { status, body } = await org.get(`/api/products/${isbn}`);

      assertEquals(status, 404);
      assert(body.error.message.endsWith(`/api/products${query}`));
    }
    for (const other of ["978014143958", "0", "Emma", "%20"]) {
      const { status, body } = await org.get(`/api/products/${other}`);

      assertEquals(status, 404);
      assertEquals(
        body.error.message,
        "The path of a product requires its id, a UUID: to search for products, use /api/products?search=",
      );
    }
  });

  await it("says how to find a record by its name or code, and that no path ends with a slash", async () => {
    const hints: Record<string, string> = {
      "/api/publishers/Penguin":
        "The path of a publisher requires its id, a UUID: to find it by name, use /api/publishers?name=Penguin",
      "/api/custom-fields/Shelf%20mark":
        "The path of a custom field requires its id, a UUID: to find it by name, use /api/custom-fields?name=Shelf%20mark",
      "/api/product-forms/BC":
        "The path of a product form requires its id, a UUID: to find it by code, use /api/product-forms?code=BC",
      "/api/publishers/": "Unknown path: paths have no slash at the end: use /api/publishers",
      "/api/products/": "Unknown path: paths have no slash at the end: use /api/products",
      "/api/products//": "Unknown path: paths have no slash at the end: use /api/products",
      "/docs/": "Unknown path: paths have no slash at the end: use /docs",
      "/api/nothing/Penguin": "Unknown path: see /docs and /api/openapi.json",
      "/api/onix/products/9780141439587":
        "The path of a product requires its id, a UUID: to search by ISBN, use /api/products?isbn13=9780141439587",
      [`/api/publishing-programs/${id}/products/Emma`]:
        "The path of a product requires its id, a UUID: to search for products, use /api/products?search=",
      "/api/publishing-programs/Spring/products":
        "The path of a publishing program requires its id, a UUID: to find it by name, use /api/publishing-programs?name=Spring",
      "/api/recipients/Shop":
        "The path of a recipient requires its id, a UUID: to find it by name, use /api/recipients?name=Shop",
      "/api/webhooks/x/deliveries":
        "The path of a webhook requires its id, a UUID: GET /api/webhooks lists them",
      "/api/code-lists/Thema":
        "The path of a code list requires its number: GET /api/code-lists has them all",
      [`${path}/nothing`]: "Unknown path: see /docs and /api/openapi.json",
      [`/api/publishers/${id.toUpperCase()}/nothing`]:
        "Unknown path: see /docs and /api/openapi.json",
      "/api/products/Emma/history":
        "The path of a product requires its id, a UUID: to search for products, use /api/products?search=",
    };
    for (const [path, message] of Object.entries(hints)) {
      const { status, body } = await org.get(path);

      assertEquals([status, body.error.message], [404, message]);
      assert(message.endsWith(`: ${body.error.hint}`), body.error.hint);
    }
  });

  await it("accepts Accept-Version 1.0, the default, also as 1 (specification, 9)", async () => {
    for (const version of ["1.0", " 1.0 ", "1", " 1 ", ""]) {
      const { status } = await org.get(path, { "accept-version": version });

      assertEquals(status, 200, version);
    }
  });

  await it("refuses other versions with 400, and lists the supported ones (specification, 9)", async () => {
    const versions = [
      "2",
      "2.0",
      "1.0.0",
      "01",
      "01.0",
      "1.",
      "v1.0",
      "1.0, 1.0",
      "*",
    ]
      .concat("9".repeat(10_000), "'; select 1");
    for (const version of versions) {
      const { status, text, body } = await org.get(path, {
        "accept-version": version,
      });

      assertEquals(status, 400);
      assertEquals(body.error.code, "UNSUPPORTED_VERSION");
      assertMatch(body.error.message, /expected 1\.0$/);
      assert(text.length < 300);
    }
  });

  await it("keeps a valid X-Request-Id", async () => {
    for (const id of ["a", "Z9._-", "x".repeat(128)]) {
      const { headers } = await org.get(path, { "x-request-id": id });

      assertEquals(headers.get("x-request-id"), id);
    }
    const invalid = ["", "a b", "x".repeat(129), "a,b", '"', "é", "{}"];
    for (const id of [...invalid, org.key, org.key.toUpperCase()]) {
      const { headers } = await org.get(path, { "x-request-id": id });

      assertNotEquals(headers.get("x-request-id"), id);
      assertMatch(headers.get("x-request-id")!, /^[\da-f-]{36}$/);
    }
  });

  await it("returns JSON for any Accept", async () => {
    for (const accept of ["text/html", "*/*", "application/xml;q=1", ""]) {
      const { status, headers } = await org.get(path, { accept });

      assertEquals(status, 200);
      assertEquals(
        headers.get("content-type"),
        "application/json; charset=utf-8",
      );
    }
  });

  await it("lists the methods of a path in Allow", async () => {
    const allowed = {
      "/api/products": "GET, HEAD, POST, OPTIONS",
      [path]: "GET, HEAD, PUT, DELETE, OPTIONS",
      "/health/live": "GET, HEAD, OPTIONS",
      "/health/ready": "GET, HEAD, OPTIONS",
    };
    for (const [path, allow] of Object.entries(allowed)) {
      const options = await app.send(path, { method: "OPTIONS" });
      const patch = await app.send(path, { method: "PATCH" });

      assertEquals(options.status, 204);
      assertEquals(options.headers.get("allow"), allow);
      assertEquals(patch.status, 405);
      assertEquals(patch.headers.get("allow"), allow);
      assertEquals(patch.body.error.code, "METHOD_NOT_ALLOWED");
      assertEquals(
        patch.body.error.message,
        `This path supports ${allow}${
          allow.includes("PUT") ? ". PUT changes only the fields that its body has" : ""
        }`,
      );
    }
  });

  await it("uses the configured prefix, or none", async () => {
    for (const apiPrefix of ["", "/v1/catalogue", "/v1.0/a~b-c_d"]) {
      const handler = app.variant({ apiPrefix });

      const created = await send(handler, `${apiPrefix}/products`, {
        method: "POST",
        headers: { ...asWriter, "content-type": "application/json" },
        body: '{"title":"Emma"}',
      });
      const got = await send(handler, created.headers.get("location")!, {
        headers: asWriter,
      });

      assertEquals(created.status, 201);
      assertEquals(got.status, 200);
      for (const other of [path, "/v1x0/a~b-c_d/products"]) {
        const elsewhere = await send(handler, other, { headers: asWriter });
        assertEquals(elsewhere.status, 404);
      }
    }
  });

  await it("reports liveness and readiness without credentials, also below the prefix", async () => {
    for (const prefix of ["", "/api"]) {
      const live = await app.send(`${prefix}/health/live`);
      const ready = await app.send(`${prefix}/health/ready`);

      assertEquals(live.body.data, { status: "live" });
      assertEquals(ready.body.data, { status: "ready" });
    }
  });

  await it("is ready while lists run", async () => {
    const sleepers = startSleepers(app.database);
    await eventually(
      true,
      () => sleepers.isOver || operationsIn(app) >= SETTINGS.poolSize,
    );

    assertEquals((await app.send("/health/ready")).status, 200);

    // The embedded database runs one statement at a time.
    if (SETTINGS.url) assert(!sleepers.isOver);
    await sleepers.end();
  });

  await it("says how long a request took", async () => {
    const database = withOperations(app.database, (operations) => ({
      ...operations,
      transaction: (work, ...opening) =>
        operations.transaction(async (tx) => {
          await pause(50);
          return await work(tx);
        }, ...opening),
    }));
    const started = performance.now();

    const { headers } = await send(app.variant({ database }), path, {
      method: "PUT",
      headers: { ...asWriter, "content-type": "application/json" },
      body: "{}",
    });

    const timing = headers.get("server-timing")!;
    const total = Number(timing.replace("total;dur=", ""));
    assert(total >= 45 && total <= performance.now() - started, timing);
  });
});
