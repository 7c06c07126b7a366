import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createTokenVerifier } from "../../middleware/jwt.ts";
import { ApiError } from "../../schema/errors.ts";
import { claims, encoded, hmacToken, inSeconds } from "../support/app/jwt.ts";

const SECRET = "a secret that has thirty-two bytes or more";
const DAY = 86_400;

const verify = createTokenVerifier({ secret: SECRET });
const signed = (payload: object | string, header?: object | string) =>
  hmacToken(SECRET, payload, header);

/** The tokens with each value of the claim. */
const withClaim = (claim: string, ...values: unknown[]) =>
  values.map((value) => signed(claims({ [claim]: value })));

/** The tokens with each header beside `alg`. */
const withHeader = (...headers: object[]) =>
  headers.map((header) => signed(claims(), { alg: "HS256", ...header }));

const TOKEN = signed(claims());
const [HEADER, PAYLOAD, SIGNATURE = ""] = TOKEN.split(".");
const SUBJECTS = ["auth0|5f7c", "ünïcode 😀", "x".repeat(255)];

/** Tokens that are accepted from now on, with what they are accepted for. */
const accepted = (): Record<string, string[]> => ({
  "a type (RFC 8725, 3.11)": withHeader(
    ...["JWT", "jwt", "at+jwt", "application/at+jwt"].map((typ) => ({ typ })),
  ),
  "exp, up to thirty seconds late": withClaim(
    "exp",
    inSeconds(-25),
    inSeconds(365 * DAY),
  ),
  "nbf, up to thirty seconds early": withClaim("nbf", inSeconds(25)),
  "iat, up to thirty seconds early": withClaim("iat", inSeconds(25)),
});

/** Tokens that are refused from now on, with what is wrong. */
const refused = (): Record<string, string[]> => ({
  "any other signature": [
    hmacToken(SECRET.toUpperCase(), claims()),
    hmacToken("", claims()),
    `${HEADER}.${PAYLOAD}.`,
    `${HEADER}.${PAYLOAD}.${SIGNATURE.slice(0, -4)}`,
    `${HEADER}.${PAYLOAD}.${SIGNATURE}AAAA`,
    `${HEADER}.${encoded(claims({ sub: "owner" }))}.${SIGNATURE}`,
    `${encoded({ alg: "HS256", x: 1 })}.${PAYLOAD}.${SIGNATURE}`,
    ...[0, 7, 21, 41].map((at) => {
      const other = SIGNATURE[at] === "A" ? "B" : "A";
      const changed = SIGNATURE.slice(0, at) + other + SIGNATURE.slice(at + 1);
      return `${HEADER}.${PAYLOAD}.${changed}`;
    }),
  ],
  "any other algorithm": [
    ...["none", "None", "nOnE", "NONE", "", null, 0, [], {}, undefined]
      .flatMap((alg) =>
        ["", "e30"].map((signature) => `${encoded({ alg })}.${PAYLOAD}.${signature}`)
      ),
    hmacToken(SECRET, claims(), { alg: "HS512" }, "sha512"),
    hmacToken(SECRET, claims(), { alg: "HS384" }, "sha384"),
    ...withHeader(
      ...["RS256", "PS256", "ES256", "EdDSA", "hs256", "HS256 ", "A128KW"]
        .map((alg) => ({ alg })),
    ),
    signed(claims(), '{"alg":"HS256","alg":"none"}'),
  ],
  "an invalid or critical header (RFC 7515, 4.1.11)": [
    ...withHeader(
      { crit: ["x"], x: 1 },
      { crit: [] },
      { crit: "b64", b64: true },
      { crit: ["b64"], b64: false },
      { crit: ["exp"], b64: false },
    ),
    ...["[]", "null", '"HS256"', "{", "\xff"]
      .map((header) => signed(claims(), header)),
  ],
  "another type (RFC 8725, 3.11)": withHeader(
    ...["logout+jwt", "dpop+jwt", "secevent+jwt", "id+jwt", "JWE", 1, ""]
      .concat("jwt ", "text/jwt").map((typ) => ({ typ })),
  ),
  "no exp, or one that has passed or is too late": [
    ...withClaim("exp", undefined, null, "", "never", [], true, 0, -1),
    ...withClaim("exp", String(inSeconds(60)), ...[-DAY, -35].map(inSeconds)),
    ...withClaim("exp", ...[367 * DAY, 36_500 * DAY].map(inSeconds)),
    ...["1e400", "-1e400", "NaN", "1e99"]
      .map((exp) => signed(`{"sub":"reader-1","exp":${exp}}`)),
  ],
  "nbf or iat to come": ["nbf", "iat"].flatMap((claim) => [
    ...withClaim(claim, inSeconds(35), inSeconds(DAY), String(inSeconds(0))),
    ...withClaim(claim, "0", "now", null, true, {}),
  ]),
  "no subject": [
    ...withClaim("sub", undefined, null, "", 1, true, ["reader-1"], {}),
    ...withClaim("sub", "x".repeat(256), "a\0b", "\ud800"),
  ],
  "no claims set": [
    "[]",
    '"reader-1"',
    "null",
    "1",
    "",
    "{",
    "\xff\xfe",
    "[{}]",
  ]
    .map((payload) => signed(payload)),
  "any number of parts but three": [
    ...["", "x", `${HEADER}.${PAYLOAD}`, `${TOKEN}.`, `${TOKEN}.e30`],
    ...[`${TOKEN}.e30.e30`, `.${TOKEN}`, TOKEN.repeat(2)],
    ...["x".repeat(1_000_000), `${TOKEN}${"A".repeat(1_000_000)}`],
  ],
});

Deno.test("A token signed by the secret", async ({ step: it }) => {
  for (const sub of SUBJECTS) {
    await it(`yields its subject: ${sub.slice(0, 20)}`, async () => {
      assertEquals(await verify(signed(claims({ sub }))), sub);
    });
  }
  for (const [what, tokens] of Object.entries(accepted())) {
    await it(`is accepted with ${what}`, async () => {
      for (const token of tokens) assertEquals(await verify(token), "reader-1");
    });
  }
  for (const [what, tokens] of Object.entries(refused())) {
    await it(`is refused with ${what}`, async () => {
      for (const token of tokens) await refuses(verify, token);
    });
  }

  await it("is refused from another issuer, or for another audience", async () => {
    const verify = createTokenVerifier({
      secret: SECRET,
      issuer: "https://id.example/",
      audience: "catalogue",
    });
    const ours = { iss: "https://id.example/", aud: "catalogue" };
    const issuers: unknown[] = [
      ...[undefined, "", "https://id.example", "https://id.example/ ", 1],
      ...["HTTPS://ID.EXAMPLE/", null, ["https://id.example/"]],
      { "https://id.example/": 1 },
    ];
    const audiences: unknown[] = [
      ...[undefined, "", "Catalogue", "catalogue ", 1, null, [], [1], {}],
      ...[["other", ["catalogue"]], { catalogue: 1 }],
    ];
    for (
      const other of [
        ...issuers.map((iss) => ({ iss })),
        ...audiences.map((aud) => ({ aud })),
      ]
    ) await refuses(verify, signed(claims({ ...ours, ...other })));

    for (const aud of ["catalogue", ["other", "catalogue"]]) {
      const token = signed(claims({ ...ours, aud }));

      assertEquals(await verify(token), "reader-1");
    }
  });
});

async function refuses(
  verify: (token: string) => Promise<string>,
  token: string,
): Promise<void> {
  const error = await assertRejects(() => verify(token), ApiError);
  assertEquals(error.code, "UNAUTHORIZED", token.slice(0, 200));
  assertEquals(error.message, "The Bearer token is not valid");
  // RFC 9110, 11.6.1
  assertStringIncludes(
    error.headers["www-authenticate"] ?? "",
    'Bearer realm="catalogue", error="invalid_token"',
  );
}
