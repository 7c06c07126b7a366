import { assertEquals } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { openApp } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { EVERY_OPERATION, pathWith } from "../support/client/every_operation.ts";

const SECRET = "a secret that has thirty-two bytes or more";

Deno.test("A parameter that an operation does not have is refused", async ({ step: it }) => {
  await using app = await openApp({
    verifyToken: createTokenVerifier({ secret: SECRET }),
  });
  const org = await app.organization();
  const { id, path } = await org.create();
  await app.sql`
    insert into organization_members (organization_id, user_id, role)
    values (${org.id}, 'owner', 'owner')
  `;
  const headers = {
    "authorization": `Bearer ${hmacToken(SECRET, claims({ sub: "owner" }))}`,
    "x-organization-id": org.id,
    "content-type": "application/json",
  };

  await it("by every operation", async () => {
    for (const operation of EVERY_OPERATION) {
      const { key, method } = operation;
      const required = key.endsWith("/readiness")
        ? "profile=kobo&"
        : key.endsWith("/compare")
        ? "from=1&to=2&"
        : "";
      const path = `${pathWith(id, operation)}?${required}pretty=true`;

      const { status, body } = await app.send(path, {
        method,
        headers,
        ...method === "POST" && { body: "{}" },
      });

      assertEquals([key, status, body?.error?.details], [
        key,
        400,
        [{
          parameter: "pretty",
          code: "unknown_parameter",
          message: "Unknown parameter",
        }],
      ]);
    }
  });

  await it("with the number of errors", async () => {
    const names = Array.from({ length: 300 }, (_, i) => `unknown_${i}`);

    const { status, body: { error } } = await org.get(
      `/api/products?${names.join("&")}`,
    );

    assertEquals(status, 400);
    assertEquals(
      error.message,
      "The query has more than 100 errors; the first 100 are listed",
    );
    assertEquals(error.details.length, 100);
  });

  await it("if it is not UTF-8", async () => {
    const queries = ["search=%E9", "q=a%C3", "q=%ED%A0%80", "%FF=1"];
    for (const query of queries) {
      const { status, body } = await org.get(`/api/products?${query}`);

      assertEquals(status, 400, query);
      assertEquals(body.error.details[0].code, "invalid_encoding");
      assertEquals(body.error.details[0].parameter, query.split("=")[0]);
    }
    for (const query of ["search=%C3%A9", "search=100%", "q=%e2%82%ac%41"]) {
      assertEquals((await org.get(`/api/products?${query}`)).status, 200);
    }
  });

  await it("with the beginning of a long name", async () => {
    const { body } = await org.get(`/api/products?${"x".repeat(200)}`);

    assertEquals(body.error.details[0].parameter, "x".repeat(100) + "…");
  });

  await it("after the credentials, and changes nothing", async () => {
    const { status } = await app.send(`${path}?dry_run=true`, {
      method: "DELETE",
    });

    assertEquals(status, 401);
    assertEquals((await org.get(path)).status, 200);
  });
});
