import { assertEquals } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { openApp } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { EVERY_OPERATION, pathWith } from "../support/client/every_operation.ts";

const SECRET = "a secret that has thirty-two bytes or more";

/** The permissions of a key by its scope, and of a member by their role. */
const PERMISSIONS = {
  keys: { read: ["view", "read"], write: ["view", "read", "write"] },
  roles: {
    viewer: ["view", "read"],
    editor: ["view", "read", "write"],
    admin: ["view", "read", "write", "administer"],
    owner: ["view", "read", "write", "administer"],
  },
};

Deno.test("Every operation", async ({ step: it }) => {
  await using app = await openApp({
    verifyToken: createTokenVerifier({ secret: SECRET }),
  });
  const org = await app.organization();
  const { id, path, product } = await org.create();

  /** The operations that a caller with these headers and permissions may not use, by status. */
  async function refused(
    headers: HeadersInit,
    permissions: readonly string[] = [],
  ) {
    // No product and no record has the id of the organization.
    const target = permissions.includes("write") ? org.id : id;
    const refused: Record<number, string[]> = { 401: [], 403: [] };
    for (const operation of EVERY_OPERATION) {
      const { status } = await app.send(pathWith(target, operation), {
        method: operation.method,
        headers: {
          ...Object.fromEntries(new Headers(headers)),
          "content-type": "application/json",
        },
        ...operation.method === "POST" && { body: "{}" },
      });
      refused[status]?.push(operation.key);
    }
    return refused;
  }
  const without = (permissions: readonly string[]) =>
    EVERY_OPERATION.filter(({ permission }) => !permissions.includes(permission))
      .map(({ key }) => key);

  await it("needs credentials", async () => {
    assertEquals((await refused({}))[401], without([]));
  });

  for (const [scope, permissions] of Object.entries(PERMISSIONS.keys)) {
    await it(`permits a key what its scope allows: ${scope}`, async () => {
      const key = await org.issueKey(scope as "read" | "write");

      assertEquals(await refused({ "x-api-key": key }, permissions), {
        401: [],
        403: without(permissions),
      });
    });
  }

  for (const [role, permissions] of Object.entries(PERMISSIONS.roles)) {
    await it(`permits a member what the role allows: ${role}`, async () => {
      const sub = `${role} of ${org.id}`;
      await app.sql`
        insert into organization_members (organization_id, user_id, role)
        values (${org.id}, ${sub}, ${role})
      `;
      const token = hmacToken(SECRET, claims({ sub }));

      const headers = {
        "authorization": `Bearer ${token}`,
        "x-organization-id": org.id,
      };
      assertEquals(await refused(headers, permissions), {
        401: [],
        403: without(permissions),
      });
    });
  }

  await it("changes nothing if it is refused", async () => {
    assertEquals((await org.get(path)).body.data, product);
    assertEquals((await org.get("/api/products")).body.meta.total, 1);
  });
});
