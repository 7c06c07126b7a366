import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newKey } from "../../db/access.ts";
import { hashOf } from "../../db/credentials.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { unavailable } from "../../schema/errors.ts";
import { clockAhead } from "../support/app/clock.ts";
import { countingReads } from "../support/app/counting.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { withOperations } from "../support/app/operations.ts";
import type { Reply } from "../support/client/envelope.ts";
import { withoutRequestId } from "../support/client/expect.ts";
import type { Session } from "../support/sql/script.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const PRODUCTS = "/api/products";

/** The time after which an ended credential is refused, in milliseconds. */
const TOLERATED = 5_000;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Headers = Record<string, string>;

const tokenOf = (sub: string) => hmacToken(SECRET, claims({ sub }));

/** The headers of a member. */
const asMember = (token: string, org: { id: string }): Headers => ({
  "authorization": `Bearer ${token}`,
  "x-organization-id": org.id,
});

const withKey = (app: App, key: string): Promise<Reply> =>
  app.send(PRODUCTS, { headers: { "x-api-key": key } });

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

async function revoke(sql: Session, key: string, at: Date): Promise<void> {
  await sql`update api_keys set revoked_at = ${at.toISOString()} where id = ${key.slice(4, 16)}`;
}

const it = testsOf("Credentials:", {
  verifyToken: createTokenVerifier({ secret: SECRET }),
});

/** What the headers of the table are made of. */
interface Parts {
  key: string;
  /** A token of an owner of `org`. */
  token: string;
  org: { id: string };
  other: { id: string };
}

interface Refusal {
  says: string;
  status?: 403;
  /** Whether the database is asked. */
  isLookedUp?: true;
  headers(parts: Parts): Headers[];
}

const inHeader = (name: string, ...values: string[]): Headers[] =>
  values.map((value) => ({ [name]: value }));

/** Headers that are refused, with the message. `token_test.ts` has the tokens that are not valid. */
const REFUSED: Refusal[] = [
  {
    says: "Credentials are required: x-api-key, or Authorization with a Bearer token",
    headers: ({ token, org }) => [
      {},
      { "x-organization-id": org.id },
      ...inHeader("authorization", "", "Bearer", "Bearer ", token)
        .concat(inHeader("authorization", `Token ${token}`, `Bearer${token}`))
        .concat(inHeader("authorization", "Basic dXNlcjpwYXNz"))
        .concat(inHeader("authorization", `Bearer\t${token}`)),
    ],
  },
  {
    says: "The header x-api-key is not a complete API key: cat_, 12 characters, _, 43 characters",
    headers: ({ key, token, org }) => [
      ...inHeader(
        "x-api-key",
        ...["", "null", "undefined", "x", "cat_", key.slice(0, -1)],
        ...[`${key}A`, key.slice(4), key.toUpperCase(), key.replace("_", "-")],
        ...[`${key}, ${key}`, `${key},${key}`, `Bearer ${key}`, `"${key}"`],
        ...[`${key.slice(0, 20)} ${key.slice(21)}`, key.replaceAll("_", ".")],
        ...["' or 1=1 --", "\xe9\xff", "x".repeat(10_000)],
        ...["=", "+"].map((end) => key.slice(0, -1) + end),
      ),
      // A token beside it is ignored.
      { ...asMember(token, org), "x-api-key": "x" },
    ],
  },
  {
    says: "The API key is not valid",
    isLookedUp: true,
    headers: ({ key }) =>
      inHeader(
        "x-api-key",
        `${key.slice(0, 17)}${"A".repeat(43)}`,
        `cat_000000000000_${key.slice(-43)}`,
        ...Array.from({ length: 43 }, (_, i) => changed(key, 17 + i)),
      ),
  },
  {
    says: "An API key belongs in the header x-api-key, not in Authorization",
    headers: ({ key }) =>
      inHeader(
        "authorization",
        ...[`Bearer ${key}`, `ApiKey ${key}`, key, "bearer cat_x"],
      ),
  },
  {
    says: "The Bearer token is not a signed JWT: expected three parts in base64url, joined by dots",
    headers: ({ token, org }) => {
      const [header, payload, signature] = token.split(".");
      return [
        ...["x", "not a token", "e30.e30", `${header}.${payload}`],
        ...[`${token}.e30`, `${token}.e30.e30`, "a.b.ü", `${token}, ${token}`],
        ...[`${token} x`, `"${token}"`, `${token}=`, `${token}.`],
        ...[`${header}.${payload}.`, `${header}. ${payload}.${signature}`],
        ...["x".repeat(1_000_000), "é.é.é", `${token}, Bearer ${token}`],
      ].map((text) => asMember(text, org));
    },
  },
  {
    says: "The Bearer token is not valid",
    headers: ({ org }) => [
      asMember(hmacToken("another secret", claims()), org),
      asMember("x.y.z", org),
    ],
  },
  {
    says: "A Bearer token requires x-organization-id",
    headers: ({ token }) => [
      { authorization: `Bearer ${token}` },
      asMember(token, { id: "" }),
    ],
  },
  {
    says: "The subject of the token is not a member of this organization",
    status: 403,
    headers: ({ token, org, other }) =>
      ["x", "null", "' or 1=1 --", "*", "\xe9", "0".repeat(9_000)]
        .concat(org.id.replaceAll("-", ""), `{${org.id}}`, `${org.id}0`)
        .concat(`${org.id}, ${org.id}`, `${org.id},${other.id}`)
        .map((id) => asMember(token, { id })),
  },
  {
    says: "The subject of the token is not a member of this organization",
    status: 403,
    isLookedUp: true,
    headers: ({ token, org, other }) => [
      ...[other.id, uuidv7(), "00000000-0000-0000-0000-000000000000"]
        .map((id) => asMember(token, { id })),
      asMember(tokenOf("nobody"), org),
    ],
  },
];

for (const { says, status = 401, isLookedUp = false, headers } of REFUSED) {
  it(`${says}${isLookedUp ? "" : ", without a query"}`, async ({ org, app, sql }) => {
    const counted = countingReads(app.database);
    const handler = app.variant({ database: counted });
    const all = headers({
      key: org.key,
      token: tokenOf(await member(sql, "owner", org)),
      org,
      other: await app.organization(),
    });

    const texts = new Set<string>();
    for (const headers of all) {
      const given = JSON.stringify(headers).slice(0, 100);
      for (const [method, path] of REQUESTS) {
        const reply = await send(handler, path(org), { method, headers });

        assertEquals(reply.status, status, given);
        if (method !== "HEAD") {
          assertEquals(reply.body.error.message, says);
          texts.add(withoutRequestId(reply));
        }
        if (status === 403) continue;
        assertMatch(
          reply.headers.get("www-authenticate")!,
          /^ApiKey realm="catalogue", Bearer realm="catalogue"(, error="invalid_token")?$/,
        );
      }
    }
    assertEquals([texts.size, counted.reads > 0], [1, isLookedUp]);
    if (isLookedUp) assertEquals((await withKey(app, org.key)).status, 200);
  });
}

const REQUESTS: [method: string, path: (org: Organization) => string][] = [
  ["GET", () => PRODUCTS],
  ["HEAD", () => PRODUCTS],
  ["POST", () => PRODUCTS],
  ["PUT", ({ id }) => `${PRODUCTS}/${id}`],
  ["DELETE", ({ id }) => `${PRODUCTS}/${id}`],
];

it("are not read from the query", async ({ org, app, sql }) => {
  const token = tokenOf(await member(sql, "owner", org));
  for (const query of [`x-api-key=${org.key}`, `access_token=${token}`]) {
    const { status } = await app.send(`${PRODUCTS}?${query}`, {
      headers: { "x-organization-id": org.id },
    });
    assertEquals(status, 401);
  }
});

it("give access to their own organization", async ({ org, app, sql }) => {
  const other = await app.organization();
  await org.create({ title: "Emma" });
  const user = await member(sql, "editor", org);
  await member(sql, "viewer", other, user);
  const token = tokenOf(user);
  const totals = async (...all: Headers[]) => {
    const totals: unknown[] = [];
    for (const headers of all) {
      totals.push((await app.send(PRODUCTS, { headers })).body.meta?.total);
    }
    return totals;
  };
  const byKey = { "x-api-key": org.key };
  const written = asMember(token, { id: ` ${org.id.toUpperCase()} ` });

  assertEquals(await totals(byKey, { "x-api-key": other.key }), [1, 0]);
  assertEquals(
    await totals(asMember(token, org), asMember(token, other), written),
    [1, 0, 1],
  );
  assertEquals(app.logged.at(-1)!.organization_id, org.id);
  for (const scheme of ["bearer", "BEARER", "Bearer "]) {
    const authorization = `${scheme} ${token}`;
    assertEquals(await totals({ ...written, authorization }), [1], scheme);
  }
  // A key goes before a token.
  assertEquals(
    await totals(
      { ...asMember(token, other), ...byKey },
      { authorization: "Bearer x", ...byKey },
      { "x-organization-id": other.id, ...byKey },
    ),
    [1, 1, 1],
  );
});

it("have ended: only the whole key tells so", async ({ org, app, sql }) => {
  const key = await org.issueKey("read");
  await sql`
    update api_keys set expires_at = now() - interval '1 day'
    where id = ${key.slice(4, 16)}
  `;
  const messageOf = async (key: string) => {
    const { status, body } = await withKey(app, key);
    assertEquals(status, 401);
    return body.error.message;
  };

  assertStringIncludes(await messageOf(key), "has expired");
  assertEquals(
    await messageOf(`${key.slice(0, 17)}${"A".repeat(43)}`),
    "The API key is not valid",
  );
});

it("are tokens only where tokens are configured", async ({ org, app, sql }) => {
  const headers = asMember(tokenOf(await member(sql, "owner", org)), org);

  const { status, body } = await send(
    app.variant({ verifyToken: undefined }),
    PRODUCTS,
    { headers },
  );

  assertEquals(status, 401);
  assertEquals(
    body.error.message,
    "Bearer tokens are not accepted here: use x-api-key",
  );
});

it("of a token are logged with the claim that is wrong at debug", async ({ app }) => {
  const lines: Record<string, unknown>[] = [];
  const handler = app.variant({
    log: (level, fields) => lines.push({ level, ...fields }),
  });
  const WRONG = "ERR_JWT_CLAIM_VALIDATION_FAILED";
  for (
    const [claim, value, code] of [
      ["exp", 1, "ERR_JWT_EXPIRED"],
      ["exp", 9e9, WRONG],
      ["nbf", 9e9, WRONG],
      ["sub", "", WRONG],
    ] as const
  ) {
    lines.length = 0;
    const token = hmacToken(SECRET, claims({ [claim]: value }));
    const { status } = await send(handler, PRODUCTS, {
      headers: { authorization: `Bearer ${token}`, "x-request-id": "late" },
    });

    assertEquals(status, 401);
    const [debug, line] = lines;
    assertEquals([debug!.level, debug!.request_id], ["debug", "late"]);
    assertEquals(debug!.reason, "The Bearer token is not valid");
    const cause = debug!.cause as { code: string; claim: string };
    assertEquals([cause.claim, cause.code], [claim, code]);
    assertEquals([line!.level, line!.code], ["info", "UNAUTHORIZED"]);
    assert(!("cause" in line!));
  }
});

it("of a member follow a change of membership within five seconds", async ({ org, app, sql }) => {
  const user = await member(sql, "editor", org);
  const headers = asMember(tokenOf(user), org);
  const remove = async () =>
    (await app.send(`${PRODUCTS}/${uuidv7()}`, { method: "DELETE", headers }))
      .status;
  assertEquals(await remove(), 200);

  await sql`
    update organization_members set role = 'viewer'
    where organization_id = ${org.id} and user_id = ${user}
  `;
  using _ = clockAhead(TOLERATED);
  assertEquals(await remove(), 403);
  assertEquals((await app.send(PRODUCTS, { headers })).status, 200);
  await sql`delete from organization_members where user_id = ${user}`;
  using __ = clockAhead(TOLERATED);
  assertEquals((await app.send(PRODUCTS, { headers })).status, 403);
});

/** When keys end, in milliseconds from now: their expiry, their revocation, and the time at which they are refused. */
const LIVES: Record<
  string,
  { expires?: number; revoked?: number; ends: number }
> = {
  "its expiry": { expires: HOUR, ends: HOUR },
  "its revocation in future": { revoked: MINUTE, ends: MINUTE },
  "its expiry before its revocation": {
    expires: MINUTE,
    revoked: HOUR,
    ends: MINUTE,
  },
  "its expiry in the past": { expires: -HOUR, ends: 0 },
};

for (const [when, { expires, revoked, ends }] of Object.entries(LIVES)) {
  it(`a key works until ${when}, even while in use`, async ({ org, app, sql }) => {
    const later = (ms: number) => new Date(Date.now() + ms).toISOString();
    const { key, statement } = newKey({
      organizationId: org.id,
      name: "Test",
      scope: "read",
      ...expires && { expiresAt: later(expires) },
    });
    await sql`${statement}`;
    if (revoked) await revoke(sql, key, new Date(Date.now() + revoked));

    if (ends > 0) assertEquals((await withKey(app, key)).status, 200);
    using _ = clockAhead(ends);
    assertEquals((await withKey(app, key)).status, 401);
  });
}

/** What ends a key at once. */
const ENDINGS = {
  "its revocation": (sql: Session, { key }: Organization) => revoke(sql, key, new Date()),
  "its deletion": (sql: Session, { id }: Organization) =>
    sql`delete from api_keys where organization_id = ${id}`,
};

for (const [what, end] of Object.entries(ENDINGS)) {
  it(`a key stops working within five seconds of ${what}`, async ({ org, app, sql }) => {
    assertEquals((await withKey(app, org.key)).status, 200);

    await end(sql, org);

    using _ = clockAhead(TOLERATED);
    assertEquals((await withKey(app, org.key)).status, 401);
  });
}

it("a key works at once when created, even if tried before", async ({ org, app, sql }) => {
  const key = `cat_${"z".repeat(8)}${org.key.slice(4, 8)}_${"B".repeat(43)}`;
  assertEquals((await withKey(app, key)).status, 401);

  await sql`
    insert into api_keys (id, organization_id, name, key_hash)
    values (${key.slice(4, 16)}, ${org.id}, 'Test', decode(${hashOf(key)}, 'hex'))
  `;

  assertEquals((await withKey(app, key)).status, 200);
});

it("a key is looked up once for many requests, and again after a failure", async ({ org, app }) => {
  let failures = 1;
  const counted = countingReads(
    withOperations(app.database, (operations) => ({
      ...operations,
      lookUp(statement) {
        if (failures-- > 0) throw unavailable("The database is not available");
        return operations.lookUp(statement);
      },
    })),
  );
  const handler = app.variant({ database: counted });
  const ask = () =>
    send(handler, `${PRODUCTS}/${org.id}`, {
      headers: { "x-api-key": org.key },
    });

  assertEquals((await ask()).status, 503);
  counted.reads = 0;
  const replies = await Promise.all(Array.from({ length: 20 }, ask));

  assert(replies.every(({ status }) => status === 404));
  // Twenty look-ups of missing products and of their deletions, and one of the key.
  assertEquals(counted.reads, 41);
});

it("a key has the minute of its last use", async ({ org, app, sql }) => {
  const uses = () =>
    sql<{ last_used_at: string }[]>`
      select to_char(last_used_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') as last_used_at
      from api_key_uses where organization_id = ${org.id}
    `;
  assertEquals((await uses()).length, 0);

  await withKey(app, org.key);

  await eventually(1, async () => (await uses()).length);
  const { last_used_at } = (await uses())[0]!;
  assertMatch(last_used_at, /^20\d\d-.*T\d\d:\d\d:00$/);
  await sql`
    update api_key_uses set last_used_at = '2020-01-01' where organization_id = ${org.id}
  `;
  using _ = clockAhead(MINUTE);
  await withKey(app, org.key);
  await eventually(
    true,
    async () => (await uses())[0]!.last_used_at >= last_used_at,
  );
});

it("a key's last use is stored once a minute, and may fail", async ({ org, app }) => {
  let writes = 0;
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    write() {
      writes++;
      return Promise.reject(new Error("No space left"));
    },
  }));
  const handler = app.variant({ database });
  const use = async () => {
    const headers = { "x-api-key": org.key };
    assertEquals((await send(handler, PRODUCTS, { headers })).status, 200);
  };
  using _ = clockAhead(MINUTE - Date.now() % MINUTE);

  await use();
  {
    using _ = clockAhead(10_000);
    await use();
  }
  assertEquals(writes, 1);
  using _later = clockAhead(MINUTE);
  await use();
  assertEquals(writes, 2);

  const warnings = () =>
    app.logged.filter(({ message, api_key }) =>
      message === "Could not record the last use of an API key" &&
      api_key === org.key.slice(4, 16)
    ).map(({ level }) => level);
  await eventually(["warn", "warn"], warnings);
});

/** The key with one character changed. */
function changed(key: string, at: number): string {
  return `${key.slice(0, at)}${key[at] === "A" ? "B" : "A"}${key.slice(at + 1)}`;
}
