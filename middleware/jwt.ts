import * as jose from "jose";
import type { TokenConfig } from "../schema/config.ts";
import { ApiError, unavailable } from "../schema/errors.ts";

/* Verifies Bearer tokens (RFC 7519) by a shared secret, or by the keys at a URL. */

/** Verifies a Bearer token and returns its subject. Throws `UNAUTHORIZED`. */
export type TokenVerifier = (token: string) => Promise<string>;

/** The accepted clock skew, in seconds. */
const SKEW = 30;

/** The time limit of a fetch of the keys. */
const FETCH_MS = 3_000;

/** The least time between the fetches for tokens with an unknown key. */
const FETCH_INTERVAL_MS = 30_000;

/** The longest accepted lifetime of a token, in seconds. */
const MAX_LIFETIME = 366 * 86_400;

/** The `typ` of a JWT or an access token (RFC 9068). Others are refused (RFC 8725, 3.11). */
const JWT_TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Creates the verifier of Bearer tokens (RFC 7519). A secret verifies HS256; the
 * keys at a URL verify RS256, PS256, ES256 and EdDSA. The token does not choose
 * the algorithm.
 */
export function createTokenVerifier(config: TokenConfig): TokenVerifier {
  const options: jose.JWTVerifyOptions = {
    algorithms: "secret" in config ? ["HS256"] : ["RS256", "PS256", "ES256", "EdDSA"],
    requiredClaims: ["exp", "sub"],
    clockTolerance: SKEW,
    ...config.issuer && { issuer: config.issuer },
    ...config.audience && { audience: config.audience },
  };
  const key = "secret" in config ? new TextEncoder().encode(config.secret) : keysAt(config.jwksUrl);

  return async (token) => {
    try {
      const { payload, protectedHeader } = typeof key === "function"
        ? await verifyWithSet(token, key, options)
        : await jose.jwtVerify(token, key, options);
      const { typ } = protectedHeader;
      if (typ !== undefined && !JWT_TYPE.test(typ)) {
        throw new Error("The header `typ` names another type of token");
      }
      return subjectOf(payload);
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw unauthorized("The Bearer token is not valid", cause);
    }
  };
}

/** The error of a request without valid credentials (RFC 9110, 11.6.1). */
export function unauthorized(message: string, cause?: unknown): ApiError {
  const bearer = cause
    ? 'Bearer realm="catalogue", error="invalid_token"'
    : 'Bearer realm="catalogue"';
  return new ApiError("UNAUTHORIZED", message, {
    cause,
    headers: { "www-authenticate": `ApiKey realm="catalogue", ${bearer}` },
  });
}

/**
 * The keys at a URL (RFC 7517), as `jose` fetches and keeps them: for ten minutes, and
 * fetched again for an unknown `kid`. Throws `SERVICE_UNAVAILABLE` if they cannot be
 * fetched or used.
 */
function keysAt(url: URL): jose.JWTVerifyGetKey {
  const keys = jose.createRemoteJWKSet(url, {
    timeoutDuration: FETCH_MS,
    cooldownDuration: FETCH_INTERVAL_MS,
  });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (cause) {
      if (
        cause instanceof jose.errors.JWKSNoMatchingKey ||
        cause instanceof jose.errors.JWKSMultipleMatchingKeys
      ) throw cause;
      const message = "The keys for Bearer tokens are not available";
      throw unavailable(message, { cause });
    }
  };
}

/** Verifies a token with a key set. A token without `kid` may match several keys. */
async function verifyWithSet(
  token: string,
  keys: jose.JWTVerifyGetKey,
  options: jose.JWTVerifyOptions,
): Promise<jose.JWTVerifyResult> {
  try {
    return await jose.jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jose.jwtVerify(token, key, options);
      } catch (failed) {
        if (!(failed instanceof jose.errors.JWSSignatureVerificationFailed)) {
          throw failed;
        }
      }
    }
    throw error;
  }
}

/** The subject of a token. It lives a year at most, and was not issued in the future. */
function subjectOf(payload: jose.JWTPayload): string {
  const { sub, exp, iat } = payload;
  const now = Date.now() / 1000;
  if (
    typeof sub !== "string" || !sub || sub.length > 255 || sub.includes("\0") ||
    !sub.isWellFormed()
  ) {
    throw wrongClaim("sub", payload);
  }
  if (exp! > now + MAX_LIFETIME) {
    throw wrongClaim("exp", payload);
  }
  if (iat !== undefined && iat > now + SKEW) {
    throw wrongClaim("iat", payload);
  }
  return sub;
}

function wrongClaim(claim: string, payload: jose.JWTPayload): Error {
  const message = `The claim ${claim} is not valid`;
  return new jose.errors.JWTClaimValidationFailed(message, payload, claim);
}
