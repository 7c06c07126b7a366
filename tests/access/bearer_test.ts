import { assert, assertEquals, assertMatch } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { clockAhead } from "../support/app/clock.ts";
import { countingReads } from "../support/app/counting.ts";
import { withoutRequestId } from "../support/client/expect.ts";
import {
  type App,
  type Organization,
  send,
  testsOf,
} from "../support/app/harness.ts";
import type { Reply } from "../support/client/envelope.ts";
import type { Session } from "../support/sql/script.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const PRODUCTS = "/api/products";

/** The time after which a removed member loses access, in milliseconds. */
const TOLERATED = 5_000;

const tokenOf = (sub: string) => hmacToken(SECRET, claims({ sub }));

function withToken(
  app: App,
  token: string,
  organizationId: string,
  method = "GET",
  path = PRODUCTS,
): Promise<Reply> {
  return app.send(path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "x-organization-id": organizationId,
    },
  });
}

/** Adds a member, and returns the user. */
async function member(
  sql: Session,
  role: string,
  org: Organization,
  user = `user-${uuidv7()}`,
): Promise<string> {
  await sql`
    insert into organization_members (organization_id, user_id, role)
    values (${org.id}, ${user}, ${role})
  `;
  return user;
}

const it = testsOf("A Bearer token", {
  verifyToken: createTokenVerifier({ secret: SECRET }),
});

it("gives access to the organization in x-organization-id", async ({ org, app, sql }) => {
  const other = await app.organization();
  await org.create({ title: "Emma" });
  const user = await member(sql, "editor", org);
  await member(sql, "viewer", other, user);

  const token = tokenOf(user);

  assertEquals((await withToken(app, token, org.id)).body.meta.total, 1);
  assertEquals((await withToken(app, token, other.id)).body.meta.total, 0);
  assertEquals(
    (await withToken(app, token, ` ${org.id.toUpperCase()} `)).body.meta
      .total,
    1,
  );
});

it("is logged with the reason of its refusal at debug", async ({ app }) => {
  const lines: Record<string, unknown>[] = [];
  const handler = app.variant({
    log: (level, fields) => lines.push({ level, ...fields }),
  });
  const expired = hmacToken(SECRET, claims({ exp: 1 }));

  const { status } = await send(handler, PRODUCTS, {
    headers: { authorization: `Bearer ${expired}`, "x-request-id": "late" },
  });

  assertEquals(status, 401);
  const [reason, line] = lines;
  assertEquals([reason!.level, reason!.request_id], ["debug", "late"]);
  assertEquals((reason!.cause as { code: string }).code, "ERR_JWT_EXPIRED");
  assertEquals([line!.level, line!.code], ["info", "UNAUTHORIZED"]);
  assert(!("cause" in line!));
});

it("belongs to one organization, however x-organization-id is written", async ({ org, app, sql }) => {
  const token = tokenOf(await member(sql, "viewer", org));

  await withToken(app, token, org.id.toUpperCase());

  assertEquals(app.logged.at(-1)!.organization_id, org.id);
});

it("is accepted with any case of the scheme, and no other form", async ({ org, app, sql }) => {
  const token = tokenOf(await member(sql, "viewer", org));
  const ask = (authorization: string) =>
    app.send(PRODUCTS, {
      headers: { authorization, "x-organization-id": org.id },
    });
  for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer  "]) {
    assertEquals((await ask(`${scheme} ${token}`)).status, 200, scheme);
  }

  const [header, payload, signature] = token.split(".");
  const others = [
    "",
    "Bearer",
    "Bearer ",
    "bearer x",
    token,
    `Token ${token}`,
  ]
    .concat("Basic dXNlcjpwYXNz", `Bearer${token}`, `Bearer\t${token}`)
    .concat(`Bearer ${token}, Bearer ${token}`, `Bearer ${token} x`)
    .concat(`Bearer "${token}"`, `Bearer ${token}=`, `Bearer ${token}.`)
    .concat(`Bearer ${token}.x.y`, `Bearer ${header}.${payload}.`)
    .concat(
      `Bearer ${header}. ${payload}.${signature}`,
      `Bearer ${org.key}`,
    )
    .concat(`Bearer ${"x".repeat(1_000_000)}`, "Bearer é.é.é");
  for (const authorization of others) {
    const { status, body, headers } = await ask(authorization);

    assertEquals(status, 401, authorization.slice(0, 100));
    assertEquals(body.error.code, "UNAUTHORIZED");
    assertMatch(headers.get("www-authenticate")!, /Bearer realm=/);
  }
  const inQuery = await app.send(`${PRODUCTS}?access_token=${token}`, {
    headers: { "x-organization-id": org.id },
  });
  assertEquals(inQuery.status, 401);
});

it("is said not to be a JWT if it is none", async ({ org, app }) => {
  const parts = tokenOf("user").split(".");
  const tokens = ["x", "not a token", "e30.e30", parts.slice(0, 2).join(".")]
    .concat(`${parts.join(".")}.e30`, `${parts.join(".")}.e30.e30`, "a.b.ü");
  for (const token of tokens) {
    const { status, headers, body } = await withToken(app, token, org.id);

    assertEquals(status, 401, token);
    assertMatch(body.error.message, /is not a signed JWT/);
    assertMatch(
      headers.get("www-authenticate")!,
      /Bearer realm="catalogue", error="invalid_token"/,
    );
  }
});

it("requires x-organization-id", async ({ org, app, sql }) => {
  const token = tokenOf(await member(sql, "viewer", org));
  const without: Record<string, string>[] = [{}, { "x-organization-id": "" }];
  for (const headers of without) {
    const { status, body } = await app.send(PRODUCTS, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });

    assertEquals(status, 401);
    assertEquals(
      body.error.message,
      "A Bearer token requires x-organization-id",
    );
  }
});

it("gets the same 403 for another and a missing organization", async ({ org, app, sql }) => {
  const other = await app.organization();
  const token = tokenOf(await member(sql, "owner", org));
  const organizations = [other.id, uuidv7(), "x", "null", "' or 1=1 --", "*"]
    .concat(org.id.replaceAll("-", ""), `{${org.id}}`, `${org.id}0`, "\xe9")
    .concat(
      `${org.id}, ${org.id}`,
      `${org.id},${other.id}`,
      "0".repeat(9_000),
    )
    .concat("00000000-0000-0000-0000-000000000000");
  const bodies = new Set<string>();
  for (const id of organizations) {
    for (const [method, path] of [["GET", PRODUCTS], ["POST", PRODUCTS]]) {
      const reply = await withToken(app, token, id, method, path);

      assertEquals(reply.status, 403, id);
      bodies.add(withoutRequestId(reply));
    }
  }
  assertEquals(bodies.size, 1);
  assertEquals((await withToken(app, token, org.id)).status, 200);
  assertEquals((await withToken(app, token, other.id)).status, 403);
});

it("is refused without a database query if invalid", async ({ org, app }) => {
  const counted = countingReads(app.database);
  const handler = app.variant({ database: counted });
  const bad = hmacToken("another secret", claims());
  const good = tokenOf("nobody");
  const requests: Record<string, string>[] = [
    { authorization: `Bearer ${bad}`, "x-organization-id": org.id },
    { authorization: "Bearer x.y.z", "x-organization-id": org.id },
    { authorization: `Bearer ${good}`, "x-organization-id": "x" },
    { authorization: `Bearer ${good}` },
  ];
  for (const headers of requests) {
    const { status } = await send(handler, PRODUCTS, { headers });

    assert(status === 401 || status === 403);
  }
  assertEquals(counted.reads, 0);
});

it("follows a change of membership within five seconds", async ({ org, app, sql }) => {
  const user = await member(sql, "editor", org);
  const token = tokenOf(user);
  const change = (role: string) =>
    sql`
      update organization_members set role = ${role}
      where organization_id = ${org.id} and user_id = ${user}
    `;
  const path = `${PRODUCTS}/${uuidv7()}`;
  assertEquals(
    (await withToken(app, token, org.id, "DELETE", path)).status,
    200,
  );

  await change("viewer");
  using _ = clockAhead(TOLERATED);
  const asViewer = await withToken(app, token, org.id, "DELETE", path);
  await sql`delete from organization_members where user_id = ${user}`;
  using __ = clockAhead(TOLERATED);
  const asNobody = await withToken(app, token, org.id);

  assertEquals(asViewer.status, 403);
  assertEquals(asNobody.status, 403);
});

it("is ignored beside an API key, valid or not", async ({ org, app, sql }) => {
  const other = await app.organization();
  await org.create({ title: "Emma" });
  const theirs = {
    authorization: `Bearer ${tokenOf(await member(sql, "owner", other))}`,
    "x-organization-id": other.id,
  };

  const both = await org.get(PRODUCTS, theirs);
  const badKey = await org.get(PRODUCTS, { ...theirs, "x-api-key": "x" });
  const badToken = await org.get(PRODUCTS, { authorization: "Bearer x" });
  const otherId = await org.get(PRODUCTS, { "x-organization-id": other.id });

  assertEquals(both.body.meta.total, 1);
  assertEquals(badKey.status, 401);
  assertEquals(badToken.status, 200);
  assertEquals(otherId.body.data[0].organization_id, org.id);
});

it("is refused if tokens are not configured", async ({ org, app, sql }) => {
  const handler = app.variant({ verifyToken: undefined });

  const { status, body } = await send(handler, PRODUCTS, {
    headers: {
      authorization: `Bearer ${tokenOf(await member(sql, "owner", org))}`,
      "x-organization-id": org.id,
    },
  });

  assertEquals(status, 401);
  assertEquals(
    body.error.message,
    "Bearer tokens are not accepted here: use x-api-key",
  );
});
