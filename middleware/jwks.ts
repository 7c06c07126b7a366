import { unavailable } from "../schema/errors.ts";
import * as jose from "jose";

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;

/** Keys are fetched again when they are older than this. */
const MAX_AGE_MS = 600_000;

/** After a failed fetch there is none for this long. */
const PAUSE_MS = 5_000;

/** Tokens with unknown keys can cause this many fetches in a row, and one more each interval. */
const MAX_FETCHES = 5;
const FETCH_INTERVAL_MS = 5_000;

/** A `kid` that a fetch did not bring causes no other fetch for this long. */
const MISSING_MS = 5_000;
const MAX_MISSING = 1_000;
const MAX_KID_LENGTH = 255;

/**
 * The keys at an address. A token with an unknown `kid` makes them be fetched
 * at once, within a bound on fetches, so that key rotation is seen immediately.
 * If the address is down, the last keys stay in use. Throws
 * `SERVICE_UNAVAILABLE` while there have never been any.
 */
export function keysAt(url: URL): jose.JWTVerifyGetKey {
  const takeFetch = createTokenBucket(MAX_FETCHES, FETCH_INTERVAL_MS);
  const missing = new Map<string, number>();
  let keys: ReturnType<typeof jose.createLocalJWKSet> | undefined;
  let fetchedAt = -Infinity;
  let pausedUntil = 0;
  let cause: unknown;
  let fetching: Promise<void> | undefined;

  /** Fetches the keys if that is allowed now; concurrent callers share one fetch. */
  function refresh(): Promise<void> {
    return fetching ??= fetchKeys().finally(() => fetching = undefined);
  }

  async function fetchKeys(): Promise<void> {
    if (performance.now() < pausedUntil || !takeFetch()) return;
    try {
      keys = jose.createLocalJWKSet(await fetchKeySet(url));
      fetchedAt = performance.now();
    } catch (error) {
      pausedUntil = performance.now() + PAUSE_MS;
      cause = error;
    }
  }

  function isMissing(kid: string): boolean {
    return kid.length > MAX_KID_LENGTH ||
      performance.now() < (missing.get(kid) ?? 0);
  }

  /** Harmless for a key that is there: only a failed search consults this. */
  function noteMissing(kid: string): void {
    missing.delete(kid);
    missing.set(kid, performance.now() + MISSING_MS);
    const [oldest] = missing.keys();
    if (missing.size > MAX_MISSING) missing.delete(oldest!);
  }

  return async (header, token) => {
    const askedAt = performance.now();
    if (askedAt > fetchedAt + MAX_AGE_MS) await refresh();
    if (!keys) {
      throw unavailable(
        "The keys that verify Bearer tokens are not available at the moment",
        cause,
      );
    }
    const used = keys;
    try {
      return await used(header, token);
    } catch (error) {
      const kid = header.kid ?? "";
      if (
        !(error instanceof jose.errors.JWKSNoMatchingKey) || isMissing(kid)
      ) throw error;
      if (fetchedAt < askedAt) await refresh();
      if (fetchedAt < askedAt) throw error;
      noteMissing(kid);
      return await keys(header, token);
    }
  };
}

/** Makes a function that says whether one more is allowed: `size` in a row, and one more each interval. */
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

/** Fetches a key set (RFC 7517) without following redirects, up to a size that is ample for keys. */
async function fetchKeySet(url: URL): Promise<jose.JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      throw new Error(`The key set is larger than ${MAX_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  if (response.status !== 200) {
    throw new Error(`The key set was answered with ${response.status}`);
  }
  return JSON.parse(await new Blob(chunks).text());
}
