import * as jose from "jose";
import { unavailable } from "../db/admission.ts";
import { ApiError } from "../schema/error.ts";
import type { TokenConfig } from "../schema/config.ts";

/** Verifies a Bearer token and gives its subject. Throws `UNAUTHORIZED`. */
export type TokenVerifier = (token: string) => Promise<string>;

/** Clocks may differ by so many seconds. */
const SKEW = 30;

/** A token that is good for longer than this many seconds is refused. */
const MAX_LIFETIME = 366 * 86_400;

const JWKS_TIMEOUT_MS = 3_000;
const MAX_JWKS_BYTES = 1_048_576;

/**
 * Makes the verifier of Bearer tokens (RFC 7519): HS256 by a secret, or RS256,
 * PS256, ES256 and EdDSA by the keys at an address. The algorithm is never
 * taken on the token's own word.
 */
export function createTokenVerifier(config: TokenConfig): TokenVerifier {
  const options: jose.JWTVerifyOptions = {
    algorithms: "secret" in config
      ? ["HS256"]
      : ["RS256", "PS256", "ES256", "EdDSA"],
    requiredClaims: ["exp", "sub"],
    clockTolerance: SKEW,
    ...config.issuer && { issuer: config.issuer },
    ...config.audience && { audience: config.audience },
  };
  const key = "secret" in config
    ? new TextEncoder().encode(config.secret)
    : keysAt(config.jwksUrl);

  return async (token) => {
    try {
      return subjectOf(await verify(token, key, options));
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw unauthorized("The Bearer token is not valid", cause);
    }
  };
}

/** What is answered to a request without good credentials (RFC 9110, 11.6.1). */
export function unauthorized(message: string, cause?: unknown): ApiError {
  const bearer = cause
    ? 'Bearer realm="catalogue", error="invalid_token"'
    : 'Bearer realm="catalogue"';
  return new ApiError("UNAUTHORIZED", message, {
    cause,
    headers: { "www-authenticate": `ApiKey realm="catalogue", ${bearer}` },
  });
}

async function verify(
  token: string,
  key: Uint8Array | jose.JWTVerifyGetKey,
  options: jose.JWTVerifyOptions,
): Promise<jose.JWTPayload> {
  if (typeof key !== "function") {
    return (await jose.jwtVerify(token, key, options)).payload;
  }
  try {
    return (await jose.jwtVerify(token, key, options)).payload;
  } catch (error) {
    // A token without `kid`, and several keys that may have signed it.
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const candidate of error) {
      try {
        return (await jose.jwtVerify(token, candidate, options)).payload;
      } catch (failed) {
        if (!(failed instanceof jose.errors.JWSSignatureVerificationFailed)) {
          throw failed;
        }
      }
    }
    throw error;
  }
}

function subjectOf({ sub, exp, iat }: jose.JWTPayload): string {
  const now = Date.now() / 1000;
  if (
    typeof sub !== "string" || !sub || sub.length > 255 || sub.includes("\0") ||
    !sub.isWellFormed()
  ) {
    throw new Error("The claim `sub` names no one");
  }
  if (exp! > now + MAX_LIFETIME) {
    throw new Error("The claim `exp` lies too far ahead");
  }
  if (iat !== undefined && iat > now + SKEW) {
    throw new Error("The claim `iat` lies ahead");
  }
  return sub;
}

/**
 * The keys at an address, fetched when a token asks for one that is not known,
 * and not more than every 30 seconds. While the address is down, the keys that
 * were had last go on serving; before there are any, nobody can be told whether
 * a token is good, so the answer is `SERVICE_UNAVAILABLE`.
 */
function keysAt(url: URL): jose.JWTVerifyGetKey {
  const remote = jose.createRemoteJWKSet(url, {
    timeoutDuration: JWKS_TIMEOUT_MS,
    [jose.customFetch]: fetchSmall,
  });
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      if (
        error instanceof jose.errors.JWKSNoMatchingKey ||
        error instanceof jose.errors.JWKSMultipleMatchingKeys
      ) throw error;
      const known = remote.jwks();
      if (known) return await jose.createLocalJWKSet(known)(header, token);
      throw unavailable(
        "The keys that sign Bearer tokens cannot be had at the moment",
        error,
      );
    }
  };
}

/** Fetches without following anyone elsewhere, and no more than keys can be. */
async function fetchSmall(
  url: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_JWKS_BYTES) {
      throw new Error(`The key set is larger than ${MAX_JWKS_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  const body = response.status === 200 ? new Blob(chunks) : null;
  return new Response(body, {
    status: response.status === 0 ? 502 : response.status,
    headers: response.headers,
  });
}
