import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { API_KEY, hashOf, newKey } from "../../db/access.ts";
import { clockAhead } from "../support/app/clock.ts";
import { countingReads } from "../support/app/counting.ts";
import { eventually } from "../support/app/eventually.ts";
import { withoutRequestId } from "../support/client/expect.ts";
import {
  type App,
  type Organization,
  send,
  testsOf,
} from "../support/app/harness.ts";
import type { Reply } from "../support/client/envelope.ts";
import type { Session } from "../support/sql/script.ts";
import { unavailable } from "../../schema/errors.ts";
import { withOperations } from "../support/app/operations.ts";

const PRODUCTS = "/api/products";

/** The time for which a revoked key may still work, in milliseconds. */
const TOLERATED = 5_000;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Lists products with the key. */
function withKey(app: App, key: string): Promise<Reply> {
  return app.send(PRODUCTS, { headers: { "x-api-key": key } });
}

async function revoke(sql: Session, key: string, at: Date): Promise<void> {
  await sql`update api_keys set revoked_at = ${at.toISOString()} where id = ${
    key.slice(4, 16)
  }`;
}

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
};

/** What ends a key at once. */
const ENDINGS = {
  "its revocation": (sql: Session, { key }: Organization) =>
    revoke(sql, key, new Date()),
  "its deletion": (sql: Session, { id }: Organization) =>
    sql`delete from api_keys where organization_id = ${id}`,
};

const it = testsOf("An API key");

it("gives access to its own organization", async ({ org, app }) => {
  const other = await app.organization();
  await org.create({ title: "Emma" });

  assertEquals((await withKey(app, org.key)).body.meta.total, 1);
  assertEquals((await withKey(app, other.key)).body.meta.total, 0);
});

it("is required: 401 names the ways to authenticate", async ({ org, app }) => {
  const without: HeadersInit[] = [{}, { "x-organization-id": org.id }];
  for (const headers of without) {
    for (const method of ["GET", "POST", "PUT", "DELETE", "HEAD"]) {
      const path = /PUT|DEL/.test(method) ? `${PRODUCTS}/${org.id}` : PRODUCTS;

      const reply = await app.send(path, { method, headers });

      assertEquals(reply.status, 401);
      assertEquals(
        reply.headers.get("www-authenticate"),
        'ApiKey realm="catalogue", Bearer realm="catalogue"',
      );
    }
  }
  const inQuery = await app.send(`${PRODUCTS}?x-api-key=${org.key}`);
  assertEquals(inQuery.status, 401);
});

it("is refused without a database query if malformed", async ({ org, app }) => {
  const counted = countingReads(app.database);
  const handler = app.variant({ database: counted });
  const { key } = org;
  const keys = ["", "null", "undefined", "x", "cat_", key.slice(0, -1)]
    .concat(
      `${key}A`,
      key.slice(4),
      key.toUpperCase(),
      key.replace("_", "-"),
    )
    .concat(
      `${key}, ${key}`,
      `${key},${org.key}`,
      `Bearer ${key}`,
      `"${key}"`,
    )
    .concat(
      `${key.slice(0, 20)} ${key.slice(21)}`,
      key.replaceAll("_", "."),
    )
    .concat(
      "' or 1=1 --",
      "'; drop table api_keys",
      "\xe9\xff",
      "x".repeat(10_000),
    )
    .concat(key.slice(0, -1) + "=", key.slice(0, -1) + "+", "../../etc/passwd");
  const bodies = new Set<string>();
  for (const key of keys) {
    const reply = await send(handler, PRODUCTS, {
      headers: { "x-api-key": key },
    });

    assertEquals(reply.status, 401, key);
    bodies.add(withoutRequestId(reply));
  }
  assertEquals(bodies.size, 1);
  assertEquals(counted.reads, 0);
});

it("is refused with the same response whenever it is unknown", async ({ org, app }) => {
  const [, id] = API_KEY.exec(org.key)!;
  const others = [
    `cat_${id}_${"A".repeat(43)}`,
    `cat_000000000000_${org.key.slice(-43)}`,
    ...Array.from({ length: 43 }, (_, i) => changed(org.key, -43 + i)),
  ];
  const bodies = new Set<string>();
  for (const key of others) {
    const reply = await withKey(app, key);

    assertEquals(reply.status, 401, key);
    bodies.add(withoutRequestId(reply));
  }
  assertEquals(bodies.size, 1);
  assertEquals((await withKey(app, org.key)).status, 200);
});

it("is refused with the reason if it is expired or misplaced", async ({ org, app, sql }) => {
  const key = await org.issueKey("read");
  const [, id = ""] = API_KEY.exec(key)!;
  await sql`update api_keys set expires_at = now() - interval '1 day' where id = ${id}`;
  const message = async (headers: HeadersInit) => {
    const { status, body } = await app.send(PRODUCTS, { headers });
    assertEquals(status, 401);
    return body.error.message as string;
  };

  const misplaced = await Promise.all(
    [`Bearer ${org.key}`, `ApiKey ${org.key}`, org.key, "bearer cat_x"].map(
      (
        authorization,
      ) => message({ authorization }),
    ),
  );

  for (const text of misplaced) {
    assertStringIncludes(text, "x-api-key, not in Authorization");
  }
  assertStringIncludes(
    await message({ "x-api-key": org.key.slice(0, -1) }),
    "not a complete API key",
  );
  assertStringIncludes(await message({ "x-api-key": key }), "has expired");
  // Only the complete key proves that its holder may see the reason.
  assertEquals(
    await message({ "x-api-key": `cat_${id}_${"A".repeat(43)}` }),
    "The API key is not valid",
  );
});

it("is looked up once for many requests", async ({ org, app }) => {
  const counted = countingReads(app.database);
  const handler = app.variant({ database: counted });

  const replies = await Promise.all(
    Array.from({ length: 20 }, () =>
      send(handler, `${PRODUCTS}/${org.id}`, {
        headers: { "x-api-key": org.key },
      })),
  );

  assert(replies.every(({ status }) => status === 404));
  // Twenty look-ups of missing products, and one of the key.
  assertEquals(counted.reads, 21);
});

it("is looked up again after a failed look-up", async ({ org, app }) => {
  let failures = 1;
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    lookUp(statement) {
      if (failures-- > 0) throw unavailable("The database is not available");
      return operations.lookUp(statement);
    },
  }));
  const handler = app.variant({ database });
  const ask = () =>
    send(handler, PRODUCTS, { headers: { "x-api-key": org.key } });

  const [failed, later] = [await ask(), await ask()];

  assertEquals([failed.status, later.status], [503, 200]);
});

for (const [when, { expires, revoked, ends }] of Object.entries(LIVES)) {
  it(`works until ${when}, even while in use`, async ({ org, app, sql }) => {
    const later = (ms: number) => new Date(Date.now() + ms).toISOString();
    const { key, statement } = newKey({
      organizationId: org.id,
      name: "Test",
      scope: "read",
      ...expires && { expiresAt: later(expires) },
    });
    await sql`${statement}`;
    if (revoked) await revoke(sql, key, new Date(Date.now() + revoked));

    assertEquals((await withKey(app, key)).status, 200);
    using _ = clockAhead(ends);
    assertEquals((await withKey(app, key)).status, 401);
  });
}

it("is refused once it has expired", async ({ org, app, sql }) => {
  const { key, statement } = newKey({
    organizationId: org.id,
    name: "Test",
    scope: "read",
    expiresAt: "2020-01-01",
  });
  await sql`${statement}`;

  assertEquals((await withKey(app, key)).status, 401);
});

for (const [what, end] of Object.entries(ENDINGS)) {
  it(`stops working within five seconds of ${what}`, async ({ org, app, sql }) => {
    assertEquals((await withKey(app, org.key)).status, 200);

    await end(sql, org);

    using _ = clockAhead(TOLERATED);
    assertEquals((await withKey(app, org.key)).status, 401);
  });
}

it("works at once when created, even if tried before", async ({ org, app, sql }) => {
  const key = `cat_${"z".repeat(8)}${org.key.slice(4, 8)}_${"B".repeat(43)}`;
  assertEquals((await withKey(app, key)).status, 401);

  await sql`
                insert into api_keys (id, organization_id, name, key_hash)
                values (${key.slice(4, 16)}, ${org.id}, 'Test', decode(${
    hashOf(key)
  }, 'hex'))
  `;

  assertEquals((await withKey(app, key)).status, 200);
});

it("stores the minute of its last use", async ({ org, app, sql }) => {
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
  using _ = clockAhead(60_000);
  await withKey(app, org.key);
  await eventually(
    true,
    async () => (await uses())[0]!.last_used_at >= last_used_at,
  );
});

it("stores its last use once a minute", async ({ org, app }) => {
  let writes = 0;
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    write(...statements) {
      writes++;
      return operations.write(...statements);
    },
  }));
  const handler = app.variant({ database });
  const use = () =>
    send(handler, PRODUCTS, { headers: { "x-api-key": org.key } });
  using _ = clockAhead(60_000 - Date.now() % 60_000);

  await use();
  {
    using _ = clockAhead(10_000);
    await use();
  }
  assertEquals(writes, 1);

  using _later = clockAhead(60_000);
  await use();
  assertEquals(writes, 2);
});

it("works although its use cannot be recorded", async ({ org, app }) => {
  const database = withOperations(app.database, (operations) => ({
    ...operations,
    write: () => Promise.reject(new Error("No space left")),
  }));
  const handler = app.variant({ database });

  const { status } = await send(handler, PRODUCTS, {
    headers: { "x-api-key": org.key },
  });

  assertEquals(status, 200);
  const warnings = () =>
    app.logged.filter(({ message, api_key }) =>
      message === "Could not record the last use of an API key" &&
      api_key === org.key.slice(4, 16)
    ).map(({ level }) => level);
  await eventually(["warn"], warnings);
});

/** The key with one character changed. A negative index counts from the end. */
function changed(key: string, at: number): string {
  const characters = [...key];
  const place = at < 0 ? key.length + at : at;
  characters[place] = characters[place] === "A" ? "B" : "A";
  return characters.join("");
}
