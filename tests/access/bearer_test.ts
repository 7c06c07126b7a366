import { assert, assertEquals, assertMatch } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { clockAhead } from "../support/app/clock.ts";
import { countingReads } from "../support/app/counting.ts";
import { withoutRequestId } from "../support/client/expect.ts";
import { openApp, type Organization, send } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const PRODUCTS = "/api/products";

/** The time after which a removed member loses access, in milliseconds. */
const TOLERATED = 5_000;

Deno.test("A Bearer token", async (t) => {
  await using app = await openApp({
    verifyToken: createTokenVerifier({ secret: SECRET }),
  });
  const { sql } = app;
  const tokenOf = (sub: string) => hmacToken(SECRET, claims({ sub }));

  const withToken = (
    token: string,
    organizationId: string,
    method = "GET",
    path = PRODUCTS,
  ) =>
    app.send(path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "x-organization-id": organizationId,
      },
    });

  async function member(role: string, org: Organization): Promise<string> {
    const user = `user-${uuidv7()}`;
    await sql`
      insert into organization_members (organization_id, user_id, role)
      values (${org.id}, ${user}, ${role})
    `;
    return user;
  }

  await t.step(
    "gives access to the organization in x-organization-id",
    async () => {
      const [org, other] = [await app.organization(), await app.organization()];
      await org.create({ title: "Emma" });
      const user = await member("editor", org);
      await sql`
        insert into organization_members (organization_id, user_id, role)
        values (${other.id}, ${user}, 'viewer')
      `;

      const token = tokenOf(user);

      assertEquals((await withToken(token, org.id)).body.meta.total, 1);
      assertEquals((await withToken(token, other.id)).body.meta.total, 0);
      assertEquals(
        (await withToken(token, ` ${org.id.toUpperCase()} `)).body.meta.total,
        1,
      );
    },
  );

  await t.step(
    "is logged with the reason of its refusal at debug",
    async () => {
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
    },
  );

  await t.step(
    "belongs to one organization, however x-organization-id is written",
    async () => {
      const org = await app.organization();
      const token = tokenOf(await member("viewer", org));

      await withToken(token, org.id.toUpperCase());

      assertEquals(app.logged.at(-1)!.organization_id, org.id);
    },
  );

  await t.step(
    "is accepted with any case of the scheme, and no other form",
    async () => {
      const org = await app.organization();
      const token = tokenOf(await member("viewer", org));
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
    },
  );

  await t.step("is said not to be a JWT if it is none", async () => {
    const org = await app.organization();
    const parts = tokenOf("user").split(".");
    const tokens = ["x", "not a token", "e30.e30", parts.slice(0, 2).join(".")]
      .concat(`${parts.join(".")}.e30`, `${parts.join(".")}.e30.e30`, "a.b.ü");
    for (const token of tokens) {
      const { status, headers, body } = await withToken(token, org.id);

      assertEquals(status, 401, token);
      assertMatch(body.error.message, /is not a signed JWT/);
      assertMatch(
        headers.get("www-authenticate")!,
        /Bearer realm="catalogue", error="invalid_token"/,
      );
    }
  });

  await t.step("requires x-organization-id", async () => {
    const org = await app.organization();
    const token = tokenOf(await member("viewer", org));
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

  await t.step(
    "gets the same 403 for another and a missing organization",
    async () => {
      const [org, other] = [await app.organization(), await app.organization()];
      const token = tokenOf(await member("owner", org));
      const organizations = [
        other.id,
        uuidv7(),
        "x",
        "null",
        "' or 1=1 --",
        "*",
      ]
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
          const reply = await withToken(token, id, method, path);

          assertEquals(reply.status, 403, id);
          bodies.add(withoutRequestId(reply));
        }
      }
      assertEquals(bodies.size, 1);
      assertEquals((await withToken(token, org.id)).status, 200);
      assertEquals((await withToken(token, other.id)).status, 403);
    },
  );

  await t.step(
    "is refused without a database query if invalid",
    async () => {
      const org = await app.organization();
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
    },
  );

  await t.step(
    "follows a change of membership within five seconds",
    async () => {
      const org = await app.organization();
      const user = await member("editor", org);
      const token = tokenOf(user);
      const change = (role: string) =>
        sql`
          update organization_members set role = ${role}
          where organization_id = ${org.id} and user_id = ${user}
        `;
      const path = `${PRODUCTS}/${uuidv7()}`;
      assertEquals(
        (await withToken(token, org.id, "DELETE", path)).status,
        200,
      );

      await change("viewer");
      using _ = clockAhead(TOLERATED);
      const asViewer = await withToken(token, org.id, "DELETE", path);
      await sql`delete from organization_members where user_id = ${user}`;
      using __ = clockAhead(TOLERATED);
      const asNobody = await withToken(token, org.id);

      assertEquals(asViewer.status, 403);
      assertEquals(asNobody.status, 403);
    },
  );

  await t.step("is ignored beside an API key, valid or not", async () => {
    const [org, other] = [await app.organization(), await app.organization()];
    await org.create({ title: "Emma" });
    const theirs = {
      authorization: `Bearer ${tokenOf(await member("owner", other))}`,
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

  await t.step("is refused if tokens are not configured", async () => {
    const org = await app.organization();
    const handler = app.variant({ verifyToken: undefined });

    const { status, body } = await send(handler, PRODUCTS, {
      headers: {
        authorization: `Bearer ${tokenOf(await member("owner", org))}`,
        "x-organization-id": org.id,
      },
    });

    assertEquals(status, 401);
    assertEquals(
      body.error.message,
      "Bearer tokens are not accepted here: use x-api-key",
    );
  });
});
