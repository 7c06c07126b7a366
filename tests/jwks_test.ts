import { assert, assertEquals, assertRejects } from "@std/assert";
import * as jose from "jose";
import { createTokenVerifier } from "../middleware/token.ts";
import { ApiError, type ErrorCode } from "../schema/error.ts";
import { clockAhead } from "./clock.ts";
import { claims, encoded, hmacToken } from "./jwt.ts";

const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];
const OURS = { iss: "https://id.example/", aud: "catalogue" };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Signer {
  jwk: jose.JWK;
  publicKey: CryptoKey;
  sign(header?: object, more?: object): Promise<string>;
}

Deno.test("A token signed by a key of a key set", async (t) => {
  const signers = await Promise.all(ALGORITHMS.map((alg) => signer(alg, alg)));
  const [rsa, pss, ec] = signers as [Signer, Signer, Signer];
  const stranger = await signer("ES256", "ES256");
  const jwks = { keys: signers.map(({ jwk }) => jwk) };

  await t.step("is accepted with each algorithm", async () => {
    await using server = keyServer(() => Response.json(jwks));
    const verify = verifierFor(server);
    for (const { sign } of signers) {
      assertEquals(await verify(await sign()), "reader-1");
    }
    assertEquals(server.requests, 1);
  });

  await t.step("is accepted without kid, whichever key it was", async () => {
    const others = await Promise.all(
      ["a", "b"].map((kid) => signer("ES256", kid)),
    );
    await using server = keyServer(() =>
      Response.json({ keys: [...jwks.keys, ...others.map(({ jwk }) => jwk)] })
    );
    const verify = verifierFor(server);
    for (const { sign } of [ec, ...others]) {
      assertEquals(await verify(await sign({ kid: undefined })), "reader-1");
    }
    await refuses(verify, await stranger.sign({ kid: undefined }));
    await refuses(verify, await ec.sign({ kid: undefined }, { aud: "other" }));
  });

  await t.step("is refused from any other key", async () => {
    await using server = keyServer(() => Response.json(jwks));
    const verify = verifierFor(server);
    const [header, payload] = (await ec.sign()).split(".");

    await refuses(verify, await stranger.sign());
    await refuses(verify, await stranger.sign({ kid: "unknown" }));
    await refuses(verify, await ec.sign({ kid: "RS256" }));
    await refuses(verify, `${header}.${payload}.${"A".repeat(86)}`);
    await refuses(verify, `${header}.${payload}.`);
  });

  await t.step("is refused with an algorithm of its own choice", async () => {
    await using server = keyServer(() => Response.json(jwks));
    const verify = verifierFor(server);
    const pem = await jose.exportSPKI(rsa.publicKey);
    const der = new Uint8Array(
      await crypto.subtle.exportKey("spki", rsa.publicKey),
    );
    const secrets = [pem, pem.trim(), String.fromCharCode(...der), rsa.jwk.n!]
      .concat(JSON.stringify(rsa.jwk), "");
    for (const secret of secrets) {
      for (const kid of ["RS256", undefined]) {
        const header = { alg: "HS256", kid };
        await refuses(verify, hmacToken(secret, claims(OURS), header));
      }
    }
    for (const alg of ["none", "RS384", "RS512", "PS384", "ES384", "Ed25519"]) {
      const [, payload, signature] = (await rsa.sign()).split(".");
      const header = encoded({ alg, kid: "RS256" });
      await refuses(verify, `${header}.${payload}.${signature}`);
    }
    const longer = await signer("RS512", "RS256");
    await refuses(verify, await longer.sign());
    await refuses(verify, await pss.sign({ alg: "PS256", kid: "RS256" }));
  });

  await t.step("is refused if it brings its own keys, unasked", async () => {
    await using server = keyServer(() => Response.json(jwks));
    await using attacker = keyServer(() =>
      Response.json({ keys: [stranger.jwk] })
    );
    const verify = verifierFor(server);
    const own = [
      { jku: attacker.url.href },
      { x5u: attacker.url.href },
      { jwk: stranger.jwk },
      { x5c: ["AAAA"] },
      { jku: attacker.url.href, kid: undefined },
      { jwk: stranger.jwk, kid: undefined },
    ];
    for (const header of own) {
      await refuses(verify, await stranger.sign(header));
    }
    assertEquals(attacker.requests, 0);
  });

  await t.step("makes nobody fetch keys again and again", async () => {
    await using server = keyServer(() => Response.json(jwks));
    const verify = verifierFor(server);
    const kids = ["../../etc/passwd", "' or 1=1 --", "k".repeat(10_000), ""]
      .concat(Array.from({ length: 100 }, (_, i) => `kid-${i}`));
    for (const kid of kids) await refuses(verify, await stranger.sign({ kid }));

    assert(server.requests <= 2, `${server.requests} requests`);
    assertEquals(await verify(await ec.sign()), "reader-1");
  });

  await t.step("is accepted from a key that was added since", async () => {
    const keys = [ec.jwk];
    await using server = keyServer(() => Response.json({ keys }));
    const verify = verifierFor(server);
    const added = await signer("ES256", "added");
    assertEquals(await verify(await ec.sign()), "reader-1");

    keys.push(added.jwk);

    using _ = clockAhead(31 * SECOND);
    assertEquals(await verify(await added.sign()), "reader-1");
  });

  const troubles: Record<string, () => Response | Promise<Response>> = {
    "an error": () => new Response(null, { status: 500 }),
    "HTML": () =>
      new Response("<html>", { headers: { "content-type": "text/html" } }),
    "nothing": () => new Response(null, { status: 204 }),
    "no key set": () => Response.json({ keys: "none" }),
    "a list": () => Response.json(jwks.keys),
    "ten megabytes": () =>
      new Response(
        JSON.stringify({ ...jwks, pad: "x".repeat(10 * 1_048_576) }),
      ),
    "a redirect": () =>
      Response.redirect(`data:application/json,${JSON.stringify(jwks)}`),
    "a redirect to another server": () => Response.redirect(elsewhere.url),
    "an answer that never ends": () =>
      new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(new Uint8Array([32])),
        }),
      ),
  };
  await using elsewhere = keyServer(() => Response.json(jwks));

  await t.step("is neither good nor bad while no keys can be had", async () => {
    await Promise.all(
      Object.entries(troubles).map(async ([name, trouble]) => {
        let answer = trouble;
        await using server = keyServer(() => answer());
        const verify = verifierFor(server);

        await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE", name);
        await refuses(verify, await stranger.sign(), "SERVICE_UNAVAILABLE");

        assertEquals(server.requests, 1, name);
        answer = () => Response.json(jwks);
      }),
    );
    assertEquals(elsewhere.requests, 0);
  });

  await t.step("is accepted as soon as there are keys", async () => {
    let answer = troubles["an error"]!;
    await using server = keyServer(() => answer());
    const verify = verifierFor(server);
    await refuses(verify, await ec.sign(), "SERVICE_UNAVAILABLE");

    answer = () => Response.json(jwks);

    using _ = clockAhead(6 * SECOND);
    assertEquals(await verify(await ec.sign()), "reader-1");
  });

  await t.step(
    "is judged by the last keys while no others can be had",
    async () => {
      const known = await Promise.all(
        Object.values(troubles).map(async (trouble) => {
          let answer: () => Response | Promise<Response> = () =>
            Response.json(jwks);
          const server = keyServer(() => answer());
          const verify = verifierFor(server);
          await verify(await ec.sign());
          answer = trouble;
          return { server, verify };
        }),
      );
      using _ = clockAhead(11 * MINUTE);

      await Promise.all(known.map(async ({ server, verify }) => {
        assertEquals(await verify(await ec.sign()), "reader-1");
        await refuses(verify, await stranger.sign());
        await refuses(verify, await stranger.sign({ kid: "unknown" }));
        assertEquals(server.requests, 2);
        await server[Symbol.asyncDispose]();
      }));
    },
  );

  await t.step(
    "is judged by the last keys while the address is dead",
    async () => {
      const server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      await verify(await ec.sign());
      await server[Symbol.asyncDispose]();

      using _ = clockAhead(11 * MINUTE);
      assertEquals(await verify(await ec.sign()), "reader-1");
      await refuses(verify, await stranger.sign());
      await refuses(
        verifierFor(server),
        await ec.sign(),
        "SERVICE_UNAVAILABLE",
      );
    },
  );

  await t.step(
    "is refused by a set of no keys, or of broken ones",
    async () => {
      const broken = { ...ec.jwk, x: "AAAA" };
      const shared = { kty: "oct", kid: "ES256", k: "c2VjcmV0", alg: "HS256" };
      const otherUse = { ...ec.jwk, use: "enc" };
      for (const keys of [[], [broken], [shared], [otherUse], [{}], [null]]) {
        await using server = keyServer(() => Response.json({ keys }));

        const error = await assertRejects(
          async () => verifierFor(server)(await ec.sign()),
          ApiError,
        );

        assert(["UNAUTHORIZED", "SERVICE_UNAVAILABLE"].includes(error.code));
      }
    },
  );
});

/** A server of a key set that counts its requests. */
function keyServer(answer: () => Response | Promise<Response>) {
  const stop = new AbortController();
  const served = {
    requests: 0,
    url: new URL("http://127.0.0.1"),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.finished;
    },
  };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    signal: stop.signal,
    onListen() {},
  }, () => {
    served.requests++;
    return answer();
  });
  served.url.port = String(server.addr.port);
  return served;
}

function verifierFor({ url }: { url: URL }) {
  return createTokenVerifier({
    jwksUrl: url,
    issuer: OURS.iss,
    audience: OURS.aud,
  });
}

async function signer(alg: string, kid: string): Promise<Signer> {
  const { publicKey, privateKey } = await jose.generateKeyPair(alg, {
    extractable: true,
  });
  return {
    jwk: { ...await jose.exportJWK(publicKey), kid },
    publicKey: publicKey as CryptoKey,
    sign: (header = {}, more = {}) =>
      new jose.SignJWT(claims({ ...OURS, ...more }))
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey),
  };
}

async function refuses(
  verify: (token: string) => Promise<string>,
  token: string,
  code: ErrorCode = "UNAUTHORIZED",
  message = token.slice(0, 200),
): Promise<void> {
  const error = await assertRejects(() => verify(token), ApiError);
  assertEquals(error.code, code, message);
}
