import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { OPERATIONS } from "../../routes/operations.ts";
import { expandTables } from "../../routes/openapi/tables.ts";
import { type App, openApp } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import type { Organization } from "../support/app/organization.ts";
import { EVERY_OPERATION, pathWith } from "../support/client/every_operation.ts";
import type { Reply } from "../support/client/envelope.ts";

/*
 * Forged values: cursors, versions, times, ids, entity tags, keys and tokens that the service has
 * not made. Each field of each gets values that are out of range. The response is 4xx: the values
 * reach no statement that PostgreSQL refuses.
 *
 * For example, the cursor of `GET /history` is a time and an id. One with 30 February is refused.
 */

const NOT_NUMBERS = [
  "",
  "-1",
  "1e3",
  "0x1",
  "1.5",
  "9223372036854775808",
  "9".repeat(19),
  "9".repeat(400),
  "１",
  "1,2",
  "1 ",
  "NaN",
  "Infinity",
  "null",
  "1' or '1'='1",
  "\0",
];

const NOT_TIMES = [
  "",
  "0",
  "2026-02-30T00:00:00.000Z",
  "2026-13-01T00:00:00.000Z",
  "9999-99-99T99:99:99.999Z",
  "2026-11-29T24:60:60.000Z",
  "2026-11-29T23:60:00.000Z",
  "0000-01-01T00:00:00.000Z",
  "-2026-01-01T00:00:00.000Z",
  "10000-01-01T00:00:00.000Z",
  "294277-01-01T00:00:00.000Z",
  "2026-11-29T00:00:00.000+99:99",
  "２０２６-11-29T00:00:00.000Z",
  "infinity",
  "-infinity",
  "now",
  "epoch",
  "\0",
];

const UUID = "01a22820-111d-7000-933e-00dfa21d43ed";

const NOT_IDS = [
  "x",
  "0",
  `{${UUID}}`,
  UUID.replaceAll("-", ""),
  `${UUID}0`,
  UUID.slice(1),
  UUID.replace("a", "ä"),
  UUID.replace("a", "ａ"),
  "9".repeat(400),
  "null",
  "\0",
];

/** Values of no cursor. */
const NOT_CURSORS = ["", "x", "====", "ü", "AA", "9".repeat(10_000), "\0", "..", "%"];

/** Cursors of which one field is another one. */
function forgedCursors(cursor: string): string[] {
  const fields = Buffer.from(cursor, "base64url").toString().split(" ");
  const encoded = (parts: readonly string[]) => Buffer.from(parts.join(" ")).toString("base64url");
  return [
    encoded(fields.slice(1)),
    encoded([...fields, "1"]),
    ...fields.flatMap((field, at) => notOf(field).map((value) => encoded(fields.with(at, value)))),
  ];
}

/** The values that a field like this one cannot have. */
function notOf(field: string): string[] {
  if (/^\d+$/.test(field)) return NOT_NUMBERS;
  return /^\d{4}-\d\d-\d\dT/.test(field) ? NOT_TIMES : NOT_IDS;
}

interface Scene {
  app: App;
  org: Organization;
  path: string;
  version: string;
}

/** The values that each parameter refuses, by operation and parameter. */
const REFUSED: Record<string, (scene: Scene) => Promise<readonly string[]> | readonly string[]> = {
  "GET /products/changes after": ({ org }) => forgeriesOf(org, "/api/products/changes?limit=1"),
  "GET /onix/products after": ({ org }) => forgeriesOf(org, "/api/products/changes?limit=1"),
  "GET /history after": ({ org }) => forgeriesOf(org, "/api/history?limit=1"),
  "GET /products/deleted after": ({ org }) => forgeriesOf(org, "/api/products/deleted?limit=1"),
  "GET /products/{id}/history after": () => NOT_NUMBERS,
  "GET /products/readiness after": () => NOT_IDS,
  "GET /products/{id} version": () => [...NOT_NUMBERS, "0"],
  "GET /products/{id} at": () => NOT_TIMES,
  "GET /history since": () => NOT_TIMES,
  "GET /history until": () => NOT_TIMES,
  "GET /history changed_by": () => ["", " ", "\0", "x".repeat(501)],
  "GET /history operation": () => ["", " ", "\0", "x".repeat(101)],
  "DELETE /api-keys/{key_id} at": () => NOT_TIMES,
};

/** Values of no cursor, and those that the first cursor of this path becomes. */
async function forgeriesOf(org: Organization, path: string): Promise<string[]> {
  const { body } = await org.get(path);
  return [...NOT_CURSORS, ...forgedCursors(body.meta.cursor)];
}

/** The parameters with values that only the service makes, and times. */
const OPAQUE = ["after", "version", "at", "since", "until", "changed_by", "operation"];

const SECRET = "a secret that has thirty-two bytes or more";

Deno.test("A forged value is refused", async ({ step: it }) => {
  await using app = await openApp({ verifyToken: createTokenVerifier({ secret: SECRET }) });
  const org = await app.organization();
  const { id, path } = await org.create({ page_count: 1 });
  await org.put(path, { page_count: 2 });
  await org.create();
  await org.delete((await org.create()).path);
  await app.sql`
    insert into organization_members (organization_id, user_id, role)
    values (${org.id}, 'owner', 'owner')
  `;
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  const scene = { app, org, path, version };
  const owner = {
    "authorization": `Bearer ${hmacToken(SECRET, claims({ sub: "owner" }))}`,
    "x-organization-id": org.id,
  };

  function assertRefused({ status, text }: Reply, ...sent: unknown[]): void {
    const what = JSON.stringify(sent).slice(0, 300);
    assert(status >= 400 && status < 500, `${status} for ${what}: ${text.slice(0, 300)}`);
  }

  const send = (method: string, path: string, init: RequestInit = {}) =>
    app.send(path, {
      method,
      ...init,
      headers: { ...owner, ...Object.fromEntries(new Headers(init.headers)) },
    });

  await it("in every parameter of every operation", async () => {
    const unknown = new Set(Object.keys(REFUSED));
    for (const { key, query } of expandTables(OPERATIONS)) {
      const names = OPAQUE.filter((name) => query && name in query.entries);
      for (const name of names) {
        const refused = REFUSED[`${key} ${name}`];
        unknown.delete(`${key} ${name}`);
        assert(refused, `Add a row for "${key} ${name}" to REFUSED in forged_values_test.ts`);
        const [method, template] = key.split(" ") as [string, string];
        const required = key.endsWith("/readiness") ? "profile=kobo&" : "";
        for (const value of await refused(scene)) {
          const query = `${required}${name}=${encodeURIComponent(value)}`;
          const reply = await send(method, `${pathWith(id, { template })}?${query}`);
          assertRefused(reply, key, name, value);
        }
      }
    }
    assertEquals([...unknown], [], "Rows of REFUSED that no operation has");
  });

  await it("in every path", async () => {
    const forged = [...NOT_IDS, "msg_x", `msg_${"g".repeat(32)}`, "0123456789aB", "97 ", "-1"];
    for (const { key, method, template } of EVERY_OPERATION) {
      const [first] = /\{\w+\}/.exec(template) ?? [];
      if (!first || first === "{name}") continue;
      for (const value of forged) {
        const at = template.replace(first, encodeURIComponent(value));
        const reply = await send(method, pathWith(id, { template: at }), {
          ...method !== "GET" && method !== "DELETE" &&
            { body: "{}", headers: { "content-type": "application/json" } },
        });
        assertRefused(reply, key, value);
      }
    }
  });

  await it("in bodies", async () => {
    const cursor = (await org.get("/api/products/changes?limit=1")).body.meta.cursor;
    const odd = [null, true, 12, [], {}, -1, 1e300];
    const restored = [
      ...[...NOT_NUMBERS, ...odd].map((version) => ({ version })),
      ...[...NOT_TIMES, ...odd].map((at) => ({ at })),
      { version, at: "2026-11-29T00:00:00Z" },
    ];
    for (const body of restored) {
      assertRefused(await org.post(`${path}/restore`, body), body);
      const operations = [{ method: "restore", id, ...body }];
      assertRefused(await org.batch(operations, { atomic: true }), body);
    }
    for (const value of [...NOT_IDS, ...odd]) {
      for (const method of ["update", "delete", "restore"]) {
        const operation = { method, id: value, ...method === "update" && { body: {} } };
        assertRefused(await org.batch([operation], { atomic: true }), operation);
      }
    }
    for (const if_match of ["", "x", '"', `"${"x".repeat(5_000)}"`, "\0", "W/*", ...odd]) {
      if (if_match === null) continue;
      const operation = { method: "update", id, body: { page_count: 3 }, if_match };
      assertRefused(await org.batch([operation], { atomic: true }), operation);
    }
    for (const after of [...NOT_CURSORS, ...forgedCursors(cursor), ...odd]) {
      const body = { url: "https://catalogue.example/hook", after };
      assertRefused(await org.post("/api/webhooks", body), body);
    }
    for (const expires_at of [...NOT_TIMES, ...odd]) {
      if (expires_at === null) continue;
      const body = JSON.stringify({ name: "x", scope: "read", expires_at });
      const headers = { "content-type": "application/json" };
      assertRefused(await send("POST", "/api/api-keys", { body, headers }), expires_at);
    }
    assertEquals((await org.get(path)).body.data.page_count, 2);
  });

  await it("in headers", async () => {
    for (const tag of ["", "x", '"', '"x"', "W/*", '"\u00ff"', `"${"x".repeat(5_000)}"`, '"",""']) {
      const headers = { "if-match": tag };
      assertRefused(await org.put(path, { page_count: 3 }, headers), headers);
      assertRefused(await org.post(`${path}/restore`, { version }, headers), headers);
      assertRefused(await org.delete(path, headers), headers);
    }
    for (const key of ["", " ", "a b", "\u00ff", "x".repeat(256), "x".repeat(9_000), "a\tb"]) {
      const headers = { "idempotency-key": key };
      const body = { title: "x", operations: [{ method: "delete", id }] };
      for (
        const [at, sent] of [
          ["/api/products", { title: "x" }],
          ["/api/publishers", { name: "x" }],
          ["/api/products/batch", { operations: body.operations }],
        ] as const
      ) {
        assertRefused(await org.post(at, sent, headers), headers);
      }
    }
    assertEquals((await org.get(path)).body.data.page_count, 2);
  });

  await it("in credentials", async () => {
    const [, keyId, secret] = /^cat_([^_]+)_(.+)$/.exec(org.key)!;
    const keys = [
      "",
      "cat_",
      "cat__",
      `cat_${keyId}_`,
      `cat_${keyId}_${secret!.slice(1)}`,
      `cat_${keyId}_${secret}x`,
      `cat_${keyId}_${secret!.toUpperCase()}`,
      `cat_${keyId!.toUpperCase()}_${secret}`,
      `cat_zzzzzzzzzzzz_${secret}`,
      `cat_\u00ff_${secret}`,
      `${org.key}, ${org.key}`,
      "x".repeat(9_000),
    ];
    for (const key of keys) assertRefused(await org.get(path, { "x-api-key": key }), key);

    const odd = [-1, 0, 1e300, 2 ** 53, "x", "", null, [], {}, true];
    for (const claim of ["exp", "nbf", "iat", "sub", "role"]) {
      for (const value of odd) {
        if (claim === "role" || claim === "iat" || claim === "nbf" && Number(value) <= 0) continue;
        const token = hmacToken(SECRET, claims({ sub: "owner", [claim]: value }));
        const reply = await send("GET", path, { headers: { authorization: `Bearer ${token}` } });
        // A time far away is a valid one.
        if (claim === "exp" && Number(value) > 1e15) assert(reply.status < 500);
        else assertRefused(reply, claim, value);
      }
    }
    for (const value of NOT_IDS.filter((value) => value !== "\0")) {
      const headers = { "x-organization-id": encodeURI(value) };
      assertRefused(await send("GET", path, { headers }), headers);
    }
  });

  await it("but not one that the service could have made", async () => {
    const { body: { meta: { cursor } } } = await org.get("/api/products/changes?limit=1");
    const fields = Buffer.from(cursor, "base64url").toString().split(" ");
    const plausible = (field: string) =>
      /^\d+$/.test(field)
        ? ["0", "9"].map((digit) => digit.repeat(field.length)).concat(
          "9".repeat(18),
          "9".repeat(10),
        )
        : [UUID, UUID.toUpperCase(), "00000000-0000-0000-0000-000000000000"];
    for (const [at, field] of fields.entries()) {
      for (const value of plausible(field)) {
        const forged = Buffer.from(fields.with(at, value).join(" ")).toString("base64url");
        for (const feed of ["/api/products/changes", "/api/onix/products"]) {
          const { status, text } = await org.get(`${feed}?after=${forged}`);
          assert(status < 500, `${feed} ${at} ${value}: ${text.slice(0, 300)}`);
        }
      }
    }
    for (const value of ["1", "9".repeat(18)]) {
      for (const at of [`${path}?version=${value}`, `${path}/history?after=${value}`]) {
        assert((await org.get(at)).status < 500, at);
      }
    }
  });
});
