import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { ApiError } from "../../schema/errors.ts";
import { claims, encoded, hmacToken, inSeconds } from "../support/app/jwt.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const DAY = 86_400;

const verify = createTokenVerifier({ secret: SECRET });
const signed = (payload: object | string, header?: object | string) =>
  hmacToken(SECRET, payload, header);

Deno.test("A token signed by the secret", async ({ step: it }) => {
  await it("yields its subject", async () => {
    for (
      const sub of ["reader-1", "auth0|5f7c", "ünïcode 😀", "x".repeat(255)]
    ) {
      assertEquals(await verify(signed(claims({ sub }))), sub);
    }
  });

  await it("is refused with any other signature", async () => {
    const token = signed(claims());
    const [header, payload, signature = ""] = token.split(".");
    const tokens = [
      hmacToken(SECRET.toUpperCase(), claims()),
      hmacToken("", claims()),
      `${header}.${payload}.`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${header}.${payload}.${signature}AAAA`,
      `${header}.${encoded(claims({ sub: "owner" }))}.${signature}`,
      `${encoded({ alg: "HS256", x: 1 })}.${payload}.${signature}`,
    ];
    for (const at of [0, 7, 21, 41]) {
      const other = signature[at] === "A" ? "B" : "A";
      tokens.push(
        `${header}.${payload}.${signature.slice(0, at)}${other}${
          signature.slice(at + 1)
        }`,
      );
    }

    await refusesAll(tokens);
  });

  await it("is refused with any other algorithm", async () => {
    const unsigned = ["none", "None", "nOnE", "NONE", "", null, 0, [], {}]
      .flatMap((alg) =>
        ["", "e30"].map((signature) =>
          `${encoded({ alg })}.${encoded(claims())}.${signature}`
        )
      );

    await refusesAll([
      ...unsigned,
      `${encoded({})}.${encoded(claims())}.`,
      hmacToken(SECRET, claims(), { alg: "HS512" }, "sha512"),
      hmacToken(SECRET, claims(), { alg: "HS384" }, "sha384"),
      ...["RS256", "PS256", "ES256", "EdDSA", "hs256", "HS256 ", "A128KW"].map((
        alg,
      ) => signed(claims(), { alg })),
      signed(claims(), '{"alg":"HS256","alg":"none"}'),
    ]);
  });

  await it("is refused with an invalid or critical header (RFC 7515, 4.1.11)", async () => {
    await refusesAll([
      signed(claims(), { alg: "HS256", crit: ["x"], x: 1 }),
      signed(claims(), { alg: "HS256", crit: [] }),
      signed(claims(), { alg: "HS256", crit: "b64", b64: true }),
      signed(claims(), { alg: "HS256", crit: ["b64"], b64: false }),
      signed(claims(), { alg: "HS256", b64: false, crit: ["exp"] }),
      signed(claims(), "[]"),
      signed(claims(), "null"),
      signed(claims(), '"HS256"'),
      signed(claims(), "{"),
      signed(claims(), "\xff"),
    ]);
  });

  await it("is refused if it is another type of JWT (RFC 8725, 3.11)", async () => {
    const types = ["logout+jwt", "dpop+jwt", "secevent+jwt", "id+jwt", "JWE", 1]
      .concat("", "jwt ", "text/jwt");
    await refusesAll(
      types.map((typ) => signed(claims(), { alg: "HS256", typ })),
    );

    for (const typ of ["JWT", "jwt", "at+jwt", "application/at+jwt"]) {
      const token = signed(claims(), { alg: "HS256", typ });

      assertEquals(await verify(token), "reader-1");
    }
  });

  await it("is refused without exp, and after it", async () => {
    const ends = [
      undefined,
      null,
      "",
      String(inSeconds(60)),
      "never",
      [],
      true,
      0,
      -1,
      inSeconds(-DAY),
      inSeconds(-35),
      inSeconds(367 * DAY),
      inSeconds(100 * 365 * DAY),
    ];
    await refusesAll(ends.map((exp) => signed(claims({ exp }))));
    await refusesAll(
      ["1e400", "-1e400", "NaN", "1e99"].map((exp) =>
        signed(`{"sub":"reader-1","exp":${exp}}`)
      ),
    );

    for (const exp of [inSeconds(-25), inSeconds(365 * DAY)]) {
      assertEquals(await verify(signed(claims({ exp }))), "reader-1");
    }
  });

  await it("is refused before nbf or iat", async () => {
    const ahead = [
      inSeconds(35),
      inSeconds(DAY),
      "0",
      String(inSeconds(0)),
      "now",
      null,
      true,
      {},
    ];
    await refusesAll(
      ["nbf", "iat"].flatMap((claim) =>
        ahead.map((time) => signed(claims({ [claim]: time })))
      ),
    );

    for (const claim of ["nbf", "iat"]) {
      const token = signed(claims({ [claim]: inSeconds(25) }));

      assertEquals(await verify(token), "reader-1");
    }
  });

  await it("is refused without a subject", async () => {
    const subjects = [undefined, null, "", 1, true, ["reader-1"], {}]
      .concat("x".repeat(256), "a\0b", "\ud800");
    await refusesAll(subjects.map((sub) => signed(claims({ sub }))));
  });

  await it("is refused without a claims set", async () => {
    await refusesAll(
      ["[]", '"reader-1"', "null", "1", "", "{", "\xff\xfe", "[{}]"]
        .map((payload) => signed(payload)),
    );
  });

  await it("is refused from another issuer, or for another audience", async () => {
    const verify = createTokenVerifier({
      secret: SECRET,
      issuer: "https://id.example/",
      audience: "catalogue",
    });
    const ours = { iss: "https://id.example/", aud: "catalogue" };
    const others = [
      ...[undefined, "", "https://id.example", "HTTPS://ID.EXAMPLE/", 1, null]
        .concat("https://id.example/ ").map((iss) => ({ ...ours, iss })),
      { ...ours, iss: ["https://id.example/"] },
      { ...ours, iss: { "https://id.example/": 1 } },
      ...[undefined, "", "Catalogue", "catalogue ", 1, null, [], [1], {}]
        .map((aud) => ({ ...ours, aud })),
      { ...ours, aud: ["other", ["catalogue"]] },
      { ...ours, aud: { catalogue: 1 } },
    ];
    for (const claimed of others) {
      await refuses(verify, signed(claims(claimed)));
    }

    for (const aud of ["catalogue", ["other", "catalogue"]]) {
      const token = signed(claims({ ...ours, aud }));

      assertEquals(await verify(token), "reader-1");
    }
  });

  await it("is refused unless it has three parts", async () => {
    const token = signed(claims());
    await refusesAll([
      "",
      "x",
      token.split(".").slice(0, 2).join("."),
      `${token}.`,
      `${token}.e30`,
      `${token}.e30.e30`,
      `.${token}`,
      token.repeat(2),
      "x".repeat(1_000_000),
      `${token}${"A".repeat(1_000_000)}`,
    ]);
  });
});

Deno.test("A refused token gets a challenge in WWW-Authenticate (RFC 9110, 11.6.1)", async () => {
  const error = await refuses(verify, "x.y.z");

  assertStringIncludes(
    error.headers["www-authenticate"] ?? "",
    'Bearer realm="catalogue", error="invalid_token"',
  );
});

async function refusesAll(tokens: string[]): Promise<void> {
  for (const token of tokens) await refuses(verify, token);
}

async function refuses(
  verify: (token: string) => Promise<string>,
  token: string,
): Promise<ApiError> {
  const error = await assertRejects(() => verify(token), ApiError);
  assertEquals(error.code, "UNAUTHORIZED", token.slice(0, 200));
  assertEquals(error.message, "The Bearer token is not valid");
  return error;
}
