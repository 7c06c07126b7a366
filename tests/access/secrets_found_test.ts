import { assertEquals, AssertionError, assertRejects } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { claims, hmacToken } from "../support/app/jwt.ts";
import { Secrets } from "../support/app/secrets.ts";

const KEY = `cat_6osdzg21yn5a_${"Qx7-".repeat(10)}abc`;
const TOKEN = hmacToken("secret", claims({ sub: "reader-1" }));
const [SIGNED, CLAIMS, SIGNATURE] = TOKEN.split(".");
const ID = "01a1fe76-68ca-7000-b871-a839cde9e54f";

Deno.test("The search for secrets in logs", async ({ step: it }) => {
  const secrets = new Secrets();
  secrets.addCredential("the database's password");
  const query = `search=Sense+and+Sensibility&format_id=${ID}`;
  secrets.addRequest(
    new Request(`http://catalogue.test/api/products?${query}`, {
      headers: { "x-api-key": KEY, authorization: `Bearer ${TOKEN}` },
    }),
    JSON.stringify({
      title: "Pride and Prejudice",
      format_id: ID,
      collateral: [{ text: "It is a truth\n“universally” acknowledged" }],
    }),
  );

  const told: Record<string, Record<string, unknown>> = {
    "a key": { api_key: KEY },
    "a key in a path": { path: `/api/products/${KEY}` },
    "a part of a key": { message: `No key ${KEY.slice(17, 40)}` },
    "the claims of a token": { cause: { code: CLAIMS } },
    "the signature of a token": { path: `/api/Bearer%20x.${SIGNATURE}` },
    "a password": { cause: { at: ["at the database's password"] } },
    "a password, escaped": { path: "/the%20database's%20password" },
    "a value of a body": { cause: { name: "Pride and Prejudice" } },
    "a value deep in a body": { message: "truth: It is a truth\n“un…" },
    "a value of a query": { message: "Nothing is Sense and Sensibility" },
  };
  for (const [what, fields] of Object.entries(told)) {
    await it(`finds ${what}`, () => {
      assertEquals(typeof secrets.foundIn(fields), "string");
    });
  }

  await it("allows ordinary log lines", () => {
    const line = {
      request_id: "Pride and Prejudice",
      path: `/api/products/${ID}/Pride and Prejudice`,
      organization_id: ID,
      api_key: KEY.slice(4, 16),
      message: `${SIGNED} ${KEY.slice(0, 17)} Pride`,
      status: 200,
      cause: undefined,
    };

    assertEquals(secrets.foundIn(line), undefined);
  });

  await it("fails the test that leaked a secret", async () => {
    const app = await openApp({
      verifyToken: (token) => Promise.reject(Object.assign(new Error(), { code: token })),
    });

    await app.send("/api/products", {
      headers: { authorization: `Bearer ${TOKEN}` },
    });

    await assertRejects(
      () => Promise.resolve(app[Symbol.asyncDispose]()),
      AssertionError,
      "The log contains secrets",
    );
  });
});
