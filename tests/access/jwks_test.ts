import { assertEquals } from "@std/assert";
import * as jose from "jose";
import type { ErrorCode } from "../../schema/errors.ts";
import { clockAhead } from "../support/app/clock.ts";
import { claims, encoded, hmacToken } from "../support/app/jwt.ts";
import {
  keyServer,
  OURS,
  refuses,
  type Signer,
  signer,
  verifierFor,
} from "../support/servers/key_server.ts";
import { TIMED } from "../support/app/deadline.ts";

const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];

Deno.test(
  "A token signed by a key of a key set",
  TIMED,
  async ({ step: it }) => {
    const signers = await Promise.all(
      ALGORITHMS.map((alg) => signer(alg, alg)),
    );
    const [rsa, pss, ec] = signers as [Signer, Signer, Signer];
    const stranger = await signer("ES256", "ES256");
    const jwks = { keys: signers.map(({ jwk }) => jwk) };

    await it("is accepted with each algorithm", async () => {
      await using server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      for (const { sign } of signers) {
        assertEquals(await verify(await sign()), "reader-1");
      }
      assertEquals(server.requests, 1);
    });

    await it("is accepted without kid from any key of the set", async () => {
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
      await refuses(
        verify,
        await ec.sign({ kid: undefined }, { aud: "other" }),
      );
    });

    await it("is refused from any other key", async () => {
      await using server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      const [header, payload] = (await ec.sign()).split(".");

      await refuses(verify, await stranger.sign());
      await refuses(verify, await stranger.sign({ kid: "unknown" }));
      await refuses(verify, await ec.sign({ kid: "RS256" }));
      await refuses(verify, `${header}.${payload}.${"A".repeat(86)}`);
      await refuses(verify, `${header}.${payload}.`);
    });

    await it("is refused if its algorithm is not its key's", async () => {
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
      for (
        const alg of ["none", "RS384", "RS512", "PS384", "ES384", "Ed25519"]
      ) {
        const [, payload, signature] = (await rsa.sign()).split(".");
        const header = encoded({ alg, kid: "RS256" });
        await refuses(verify, `${header}.${payload}.${signature}`);
      }
      const longer = await signer("RS512", "RS256");
      await refuses(verify, await longer.sign());
      await refuses(verify, await pss.sign({ alg: "PS256", kid: "RS256" }));
    });

    await it("causes a fetch in 30 seconds at most, whatever its kid", async () => {
      await using server = keyServer(() => Response.json(jwks));
      const verify = verifierFor(server);
      assertEquals(await verify(await ec.sign()), "reader-1");
      const kids = ["../../etc/passwd", "' or 1=1 --", "k".repeat(10_000), ""]
        .concat(Array.from({ length: 100 }, (_, i) => `kid-${i}`));
      for (const halfMinutes of [0, 1, 2]) {
        using _ = clockAhead(halfMinutes * 30_000);
        for (const kid of kids) {
          await refuses(verify, await stranger.sign({ kid }));
        }
        assertEquals(server.requests, 1 + halfMinutes);
        assertEquals(await verify(await ec.sign()), "reader-1");
      }
    });

    await it("is accepted within 30 seconds of the rotation", async () => {
      let keys = [ec.jwk];
      await using server = keyServer(() => Response.json({ keys }));
      const verify = verifierFor(server);
      const next = await signer("ES256", "next");
      assertEquals(await verify(await ec.sign()), "reader-1");

      keys = [next.jwk];

      await refuses(verify, await next.sign());
      using _ = clockAhead(30_000);
      assertEquals(await verify(await next.sign()), "reader-1");
      await refuses(verify, await ec.sign());
    });

    await it("is refused ten minutes after the removal of its key", async () => {
      let keys = [ec.jwk];
      await using server = keyServer(() => Response.json({ keys }));
      const verify = verifierFor(server);
      assertEquals(await verify(await ec.sign()), "reader-1");

      keys = [(await signer("ES256", "next")).jwk];

      using _ = clockAhead(11 * 60_000);
      await refuses(verify, await ec.sign());
    });

    await it("is refused by a set that lacks its key, and gets 503 from one that cannot be used", async () => {
      const sets: [unknown[], ErrorCode][] = [
        [[], "UNAUTHORIZED"],
        [[{ ...ec.jwk, use: "enc" }], "UNAUTHORIZED"],
        [[{ ...ec.jwk, kid: undefined }], "UNAUTHORIZED"],
        [[{ kty: "oct", kid: "ES256", k: "c2VjcmV0" }], "UNAUTHORIZED"],
        [[{}], "UNAUTHORIZED"],
        [[{ ...ec.jwk, x: "AAAA" }], "UNAUTHORIZED"],
        [[ec.jwk, null], "SERVICE_UNAVAILABLE"],
      ];
      for (const [keys, code] of sets) {
        await using server = keyServer(() => Response.json({ keys }));

        const name = JSON.stringify(keys);
        await refuses(verifierFor(server), await ec.sign(), code, name);
      }
    });
  },
);
