import { assert, assertEquals, assertMatch } from "@std/assert";
import { API_KEY } from "../../db/credentials.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { pause } from "../../db/connections/deadline.ts";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import type { Reply } from "../support/client/envelope.ts";
import { assertDetails } from "../support/client/expect.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { SECRETS } from "../support/app/secrets.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const KEYS = "/api/api-keys";
const DAY_MS = 86_400_000;

/** The time for which a revoked key may still work, in milliseconds. */
const TOLERATED = 5_000;

type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

/** Adds a member with this role, and returns a function that sends requests with a Bearer token. */
async function member(app: App, role: string, org: Organization): Promise<Ask> {
  const sub = `user-${uuidv7()}`;
  await app.sql`
    insert into organization_members (organization_id, user_id, role)
    values (${org.id}, ${sub}, ${role})
  `;
  const token = hmacToken(SECRET, claims({ sub }));
  return (method, path, body) =>
    app.send(path, {
      method,
      headers: {
        "authorization": `Bearer ${token}`,
        "x-organization-id": org.id,
        "content-type": "application/json",
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
}

async function issue(ask: Ask, body = {}) {
  const reply = await ask("POST", KEYS, {
    name: "Web",
    scope: "write",
    ...body,
  });
  assertEquals(reply.status, 201);
  const { data } = reply.body;
  SECRETS.addCredential(data.key);
  return { ...reply, id: data.id as string, key: data.key as string };
}

async function statusWith(app: App, key: string, method = "GET") {
  const { status } = await app.send("/api/products", {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...method === "POST" && { body: '{"title":"Emma"}' },
  });
  return status;
}

const it = testsOf("/api-keys", {
  verifyToken: createTokenVerifier({ secret: SECRET }),
});

it("POST returns 201 with the key, which no other response contains", async ({ org, app }) => {
  const ask = await member(app, "admin", org);

  const expires_at = new Date(Date.now() + DAY_MS).toISOString();
  const reply = await issue(ask, {
    name: "Web shop",
    scope: "read",
    expires_at,
  });

  const { key, ...shown } = reply.body.data;
  assertEquals(shown, {
    id: API_KEY.exec(key)![1]!,
    name: "Web shop",
    scope: "read",
    recipient_id: null,
    created_at: shown.created_at,
    expires_at,
    revoked_at: null,
    last_used_at: null,
  });
  assertEquals(reply.headers.get("location"), `${KEYS}/${shown.id}`);
  assertEquals(reply.headers.get("cache-control"), "no-store");
  assertEquals(await statusWith(app, key), 200);
  assertEquals(await statusWith(app, key, "POST"), 403);
  const one = await ask("GET", `${KEYS}/${shown.id}`);
  const all = await ask("GET", KEYS);
  for (const { status, text } of [one, all]) {
    assertEquals(status, 200);
    assert(text.includes(shown.id));
    assert(!text.includes(key.slice("cat_".length + 13, -20)));
  }
});

it("GET returns every key of the organization without its secret", async ({ org, app }) => {
  const other = await app.organization();
  const ask = await member(app, "owner", org);
  await issue(await member(app, "owner", other));
  const first = await issue(ask, { name: "First" });
  // The clock of the embedded database counts milliseconds.
  await pause(2);
  const second = await issue(ask, { name: "Second" });
  await statusWith(app, second.key);

  const { body: { data } } = await ask("GET", KEYS);

  assertEquals(
    data.map(({ name }: { name: string }) => name),
    ["Second", "First", "Test"],
  );
  assertEquals(data[1].id, first.id);
  assertMatch(data[1].created_at, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

  const { body, headers } = await ask("GET", `${KEYS}?limit=1&page=2`);
  assertEquals(body.data, [data[1]]);
  assertEquals(body.meta, { page: 2, limit: 1, total: 3, total_pages: 3 });
  assertMatch(headers.get("link")!, /page=3&?[^>]*>; rel="next"/);
});

it("DELETE revokes a key within five seconds", async ({ org, app }) => {
  const ask = await member(app, "admin", org);
  const { id, key } = await issue(ask);
  assertEquals(await statusWith(app, key), 200);
  await eventually(true, async () => {
    const { body } = await ask("GET", `${KEYS}/${id}`);
    const { created_at, last_used_at } = body.data;
    assert(last_used_at === null || last_used_at >= created_at);
    return last_used_at !== null;
  });

  const { status, body: { data } } = await ask("DELETE", `${KEYS}/${id}`);
  const again = await ask("DELETE", `${KEYS}/${id}`);
  const later = await ask("DELETE", `${KEYS}/${id}?at=2199-01-31`);

  assertEquals(status, 200);
  assertEquals(data.id, id);
  assert(Math.abs(Date.parse(data.revoked_at) - Date.now()) < 60_000);
  // A revoked key stays revoked.
  assertEquals(again.body.data, data);
  assertEquals(later.body.data, data);
  using _ = clockAhead(TOLERATED);
  assertEquals(await statusWith(app, key), 401);
});

it("DELETE ?at= revokes a key at a time", async ({ org, app }) => {
  const ask = await member(app, "admin", org);
  const { id, key } = await issue(ask);
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString();

  // An unescaped `+` is accepted too.
  for (const plus of ["%2B", "+"]) {
    const { body: { data } } = await ask(
      "DELETE",
      `${KEYS}/${id}?at=2199-01-31T12:00:00${plus}02:00`,
    );
    assertEquals(data.revoked_at, "2199-01-31T10:00:00.000Z");
  }
  const sooner = await ask("DELETE", `${KEYS}/${id}?at=${tomorrow}`);

  assertEquals(sooner.body.data.revoked_at, tomorrow);
  assertEquals(await statusWith(app, key), 200);
  using _ = clockAhead(DAY_MS + TOLERATED);
  assertEquals(await statusWith(app, key), 401);
});

it("DELETE ?at= of a past time revokes a key now", async ({ org, app }) => {
  const ask = await member(app, "admin", org);
  const { id } = await issue(ask);

  const { body: { data } } = await ask(
    "DELETE",
    `${KEYS}/${id}?at=2020-01-31`,
  );

  assert(data.revoked_at >= data.created_at);
});

it("refuses invalid fields with their pointers", async ({ org, app }) => {
  const ask = await member(app, "admin", org);
  const past = new Date(Date.now() - 1000).toISOString();

  assertDetails(
    await ask("POST", KEYS, {
      name: " ",
      scope: "admin",
      expires_at: past,
      key: "x",
    }),
    ["/name", "blank"],
    ["/scope", "invalid_value"],
    ["/expires_at", "in_the_past"],
    ["/key", "unknown_field"],
  );
  assertDetails(
    await ask("POST", KEYS, { name: "x".repeat(201), expires_at: "soon" }),
    ["/name", "too_long"],
    ["/scope", "required"],
    ["/expires_at", "invalid_time"],
  );
  const { id, key } = await issue(ask);
  for (const query of ["at=soon", "when=2199-01-31", "at=2199&at=2199"]) {
    const { status } = await ask("DELETE", `${KEYS}/${id}?${query}`);

    assertEquals(status, 400);
  }
  assertEquals(await statusWith(app, key), 200);
});
