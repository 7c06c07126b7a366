import { assert, assertEquals } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { assertHas } from "../support/client/expect.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { openApp, send, SETTINGS } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const PRODUCTS = "/api/products";

/** The marker that the client sends in every value. */
const WORD = "Xyzzy";

Deno.test("The log", async ({ step: it }) => {
  // The constraint below would affect other tests, but the embedded database is private.
  await using fresh = SETTINGS.url ? await openFreshDatabase() : undefined;
  await using app = await openApp({
    verifyToken: createTokenVerifier({ secret: SECRET }),
  }, fresh?.settings);
  const { sql } = app;
  const org = await app.organization();
  const token = hmacToken(SECRET, claims({ sub: `${WORD}-reader` }));

  await it("contains no client data", async () => {
    const { path } = await org.create({
      title: WORD,
      custom_fields: [{ field_id: org.customField, field_value: WORD }],
      collateral: [{ collateral_type: "text_content", text: WORD }],
    });
    const json = { "x-api-key": org.key, "content-type": "application/json" };
    const bearer = { authorization: `Bearer ${token}` };
    const requests: [string, RequestInit][] = [
      [`${PRODUCTS}?search=${WORD}`, { headers: json }],
      [`${PRODUCTS}?${WORD}=1&page=${WORD}&include=${WORD}`, { headers: json }],
      [`${PRODUCTS}?format_id=${WORD}#${WORD}`, { headers: json }],
      [path, { method: "PUT", headers: json, body: `{"${WORD}":1}` }],
      [path, { method: "PUT", headers: json, body: `{"isbn13":"${WORD}"}` }],
      [path, { method: "PUT", headers: json, body: `{"title":"${WORD}` }],
      [path, { method: "PUT", headers: json, body: `{"subtitle":"${WORD}"}` }],
      [PRODUCTS, {
        method: "POST",
        headers: { ...json, "idempotency-key": WORD },
        body: `{"title":"${WORD}","license_id":"${org.series}"}`,
      }],
      [path, { headers: { ...json, "if-none-match": `"${WORD}"` } }],
      [path, { method: "DELETE", headers: { ...json, "if-match": WORD } }],
      [path, { headers: { ...json, "accept-version": WORD } }],
      [path, { headers: { ...json, "content-type": WORD, "accept": WORD } }],
      [path, { method: "PUT", headers: { ...json, "content-type": WORD } }],
      [path, { headers: { ...json, "x-request-id": `${WORD} ${org.key}` } }],
      [path, { headers: { ...json, "user-agent": WORD, "referer": WORD } }],
      [path, { headers: { "x-api-key": WORD } }],
      [path, { headers: { "x-api-key": `${org.key}${WORD}` } }],
      [path, { headers: { authorization: WORD } }],
      [path, { headers: { authorization: `Basic ${WORD}` } }],
      [path, { headers: { authorization: `Bearer ${WORD}.${WORD}.${WORD}` } }],
      [path, { headers: { ...bearer, "x-organization-id": WORD } }],
      [path, { headers: { ...bearer, "x-organization-id": org.id } }],
      [path, { headers: bearer }],
      [`${path}?token=${token}&x-api-key=${org.key}`, { headers: json }],
      [`${path}/${org.key}`, { headers: json }],
      [`/${encodeURIComponent(`Bearer ${token}`)}/x`, { headers: json }],
      [`${PRODUCTS}/${org.key.replace("_", "%5F")}`, { headers: json }],
    ];
    for (const [target, init] of requests) await app.send(target, init);

    assertEquals(app.logged.length, requests.length + 1);
    assertEquals(app.logged.at(-3)!.path, `${path}/${org.key.slice(0, 16)}…`);
    assertNothingSecret();
  });

  await it("contains only type and stack of an error", async () => {
    const failing = app.variant({
      verifyToken: () => Promise.reject(new Error(`${WORD} ${token}`)),
    });

    const internal = await send(failing, PRODUCTS, {
      headers: { authorization: `Bearer ${token}` },
    });
    const broken = await whileNoTitleIs(
      WORD,
      () => org.post(PRODUCTS, { title: WORD }),
    );

    assertEquals(internal.body.error.code, "INTERNAL_ERROR");
    assertEquals(broken.body.error.code, "DATABASE_ERROR");
    assert(
      [internal, broken].every(({ text }) => !text.includes(WORD)),
    );
    const [first, last] = app.logged.slice(-2) as {
      cause: { code?: string; at?: string[] };
    }[];
    assertEquals(last!.cause.code, "23514");
    assert(first!.cause.at!.every((line) => line.startsWith("at ")));
    assertNothingSecret();
  });

  await it("contains request, caller and outcome", async () => {
    const { headers } = await org.get(`${PRODUCTS}?page=0`);

    const line = app.logged.at(-1)!;
    assertEquals(typeof line.ms, "number");
    assertHas(line, {
      level: "info",
      request_id: headers.get("x-request-id"),
      method: "GET",
      path: PRODUCTS,
      status: 400,
      api_key: org.key.slice(4, 16),
      organization_id: org.id,
      code: "VALIDATION_ERROR",
    });
  });

  await it("contains at most 200 characters of a path", async () => {
    await org.get("/x".repeat(5_000));

    assertEquals(app.logged.at(-1)!.path, "/x".repeat(100));
  });

  function assertNothingSecret(): void {
    const log = JSON.stringify(app.logged);
    for (const secret of [WORD, SECRET, token, org.key.slice(17)]) {
      assert(!log.includes(secret), secret);
      assert(!log.includes(encodeURIComponent(secret)), secret);
    }
  }

  /** Adds a constraint unknown to the service for one request. */
  async function whileNoTitleIs<T>(
    title: string,
    request: () => Promise<T>,
  ): Promise<T> {
    await sql.unsafe(
      `alter table products add constraint no_${title} check (title <> '${title}') not valid`,
    );
    try {
      return await request();
    } finally {
      await sql.unsafe(`alter table products drop constraint no_${title}`);
    }
  }
});
