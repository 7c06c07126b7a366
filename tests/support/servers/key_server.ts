import { assertEquals, assertRejects } from "@std/assert";
import * as jose from "jose";
import { createTokenVerifier } from "../../../middleware/jwt.ts";
import { ApiError, type ErrorCode } from "../../../schema/errors.ts";
import { claims } from "../app/jwt.ts";

/** The issuer and audience of the tokens. */
export const OURS = { iss: "https://id.example/", aud: "catalogue" };

/** A key with its signing function. */
export interface Signer {
  jwk: jose.JWK;
  publicKey: CryptoKey;
  sign(header?: object, more?: object): Promise<string>;
}

/** A server of a JWK Set that counts its requests. */
export function keyServer(respond: () => Response | Promise<Response>) {
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
    return respond();
  });
  served.url.port = String(server.addr.port);
  return served;
}

/** A token verifier that uses the server's keys. */
export function verifierFor({ url }: { url: URL }) {
  return createTokenVerifier({
    jwksUrl: url,
    issuer: OURS.iss,
    audience: OURS.aud,
  });
}

/** Generates a key pair and signs tokens with it. */
export async function signer(alg: string, kid: string): Promise<Signer> {
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

/** Expects the token to be rejected with this code. */
export async function refuses(
  verify: (token: string) => Promise<string>,
  token: string,
  code: ErrorCode = "UNAUTHORIZED",
  message = token.slice(0, 200),
): Promise<void> {
  const error = await assertRejects(() => verify(token), ApiError);
  assertEquals(error.code, code, message);
}
