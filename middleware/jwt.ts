import * as jose from "jose";
import type { TokenConfig } from "../schema/config.ts";
import { ApiError, unavailable } from "../schema/errors.ts";

/** Verifies a Bearer token and returns its subject. Throws `UNAUTHORIZED`. */
export type TokenVerifier = (token: string) => Promise<string>;

/** The accepted clock skew, in seconds. */
const SKEW = 30;

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

const FETCH_TIMEOUT_MS = 3_000;
const MAX_KEY_SET_BYTES = 1_048_576;

/** Older keys are fetched again, while requests use them. */
const REFRESH_AGE_MS = 300_000;

/** Requests wait for keys that are fetched instead of older ones, unless the last fetch failed. */
const MAX_AGE_MS = 600_000;

/** The pause after a failed fetch. */
const FETCH_PAUSE_MS = 5_000;

/** The token bucket of fetches: this many at once, and one more per interval. */
const MAX_FETCHES = 5;
const FETCH_INTERVAL_MS = 5_000;

/** The time for which a `kid` that caused a fetch causes no other. */
const SEARCHED_MS = 5_000;
const MAX_SEARCHED = 1_000;
const MAX_KID_LENGTH = 255;

/**
 * The keys at a URL. A token with an unknown `kid` causes a fetch, within limits,
 * so that rotated keys work at once. While the URL is down or hangs, the last keys stay in
 * use, and delay nobody. Throws `SERVICE_UNAVAILABLE` until the first fetch succeeds.
 */
function keysAt(url: URL): jose.JWTVerifyGetKey {
  const takeFetch = createTokenBucket(MAX_FETCHES, FETCH_INTERVAL_MS);
  const searched = new Map<string, number>();
  let keys: ReturnType<typeof jose.createLocalJWKSet> | undefined;
  let fetchedAt = -Infinity;
  let pausedUntil = 0;
  let cause: unknown;
  let fetching: Promise<void> | undefined;

  /** Fetches the keys if a fetch is allowed now. Concurrent callers share a fetch. */
  function refresh(): Promise<void> {
    return fetching ??= fetchKeys().finally(() => fetching = undefined);
  }

  async function fetchKeys(): Promise<void> {
    if (performance.now() < pausedUntil || !takeFetch()) return;
    try {
      keys = jose.createLocalJWKSet(await fetchKeySet(url));
      fetchedAt = performance.now();
      cause = undefined;
    } catch (error) {
      pausedUntil = performance.now() + FETCH_PAUSE_MS;
      cause = error;
    }
  }

  /** Whether the keys were fetched lately because of this `kid`, which may be too long to note. */
  function wasSearched(kid: string): boolean {
    return kid.length > MAX_KID_LENGTH ||
      performance.now() < (searched.get(kid) ?? 0);
  }

  /** Notes that the keys have just been fetched because of this `kid`. */
  function noteSearch(kid: string): void {
    searched.delete(kid);
    searched.set(kid, performance.now() + SEARCHED_MS);
    const [oldest] = searched.keys();
    if (searched.size > MAX_SEARCHED) searched.delete(oldest!);
  }

  return async (header, token) => {
    const askedAt = performance.now();
    const age = askedAt - fetchedAt;
    if (!keys || age > MAX_AGE_MS && !cause) await refresh();
    else if (age > REFRESH_AGE_MS) refresh();
    if (!keys) {
      throw unavailable(
        "The keys for Bearer tokens are not available",
        { cause },
      );
    }
    try {
      return await keys(header, token);
    } catch (error) {
      const kid = header.kid ?? "";
      if (
        !(error instanceof jose.errors.JWKSNoMatchingKey) || wasSearched(kid)
      ) throw error;
      if (fetchedAt < askedAt) await refresh();
      if (fetchedAt < askedAt) throw error;
      noteSearch(kid);
      return await keys(header, token);
    }
  };
}

/** A token bucket: the function takes a token and returns whether there was one. */
function createTokenBucket(size: number, intervalMs: number): () => boolean {
  let tokens = size;
  let filledAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(size, tokens + (now - filledAt) / intervalMs);
    filledAt = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}

/** Fetches a key set (RFC 7517) of limited size, without following redirects. */
async function fetchKeySet(url: URL): Promise<jose.JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_KEY_SET_BYTES) {
      throw new Error(`The key set is larger than ${MAX_KEY_SET_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  if (response.status !== 200) {
    throw new Error(`The key set's URL responded with ${response.status}`);
  }
  return JSON.parse(await new Blob(chunks).text());
}
