import * as jose from "jose";
import { ApiError } from "../schema/errors.ts";
import type { TokenConfig } from "../schema/config.ts";
import { keysAt } from "./jwks.ts";

/** Verifies a Bearer token and returns its subject. Throws `UNAUTHORIZED`. */
export type TokenVerifier = (token: string) => Promise<string>;

/** The accepted clock skew, in seconds. */
const SKEW = 30;

/** The longest accepted lifetime of a token, in seconds. */
const MAX_LIFETIME = 366 * 86_400;

/** The `typ` of a JWT or an access token (RFC 9068). Others are refused (RFC 8725, 3.11). */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Creates the verifier of Bearer tokens (RFC 7519). A secret verifies HS256; the
 * keys at a URL verify RS256, PS256, ES256 and EdDSA. The token does not choose
 * the algorithm.
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
      const { payload, protectedHeader } = await verify(token, key, options);
      const { typ } = protectedHeader;
      if (typ !== undefined && !TYPE.test(typ)) {
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

async function verify(
  token: string,
  key: Uint8Array | jose.JWTVerifyGetKey,
  options: jose.JWTVerifyOptions,
): Promise<jose.JWTVerifyResult> {
  if (typeof key !== "function") {
    return await jose.jwtVerify(token, key, options);
  }
  try {
    return await jose.jwtVerify(token, key, options);
  } catch (error) {
    // A token without `kid` may match several keys.
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const candidate of error) {
      try {
        return await jose.jwtVerify(token, candidate, options);
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
    throw new Error("The claim `sub` is not a valid subject");
  }
  if (exp! > now + MAX_LIFETIME) {
    throw new Error("The claim `exp` is too far in the future");
  }
  if (iat !== undefined && iat > now + SKEW) {
    throw new Error("The claim `iat` is in the future");
  }
  return sub;
}
