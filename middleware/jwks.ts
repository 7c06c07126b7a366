import { unavailable } from "../schema/errors.ts";
import * as jose from "jose";

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;

/** Older keys are fetched again. */
const MAX_AGE_MS = 600_000;

/** The pause after a failed fetch. */
const PAUSE_MS = 5_000;

/** The token bucket of fetches: this many at once, and one more per interval. */
const MAX_FETCHES = 5;
const FETCH_INTERVAL_MS = 5_000;

/** The time for which an unknown `kid` causes no other fetch. */
const MISSING_MS = 5_000;
const MAX_MISSING = 1_000;
const MAX_KID_LENGTH = 255;

/**
 * The keys at a URL. A token with an unknown `kid` causes a fetch, within limits,
 * so that rotated keys work at once. While the URL is down, the last keys stay in
 * use. Throws `SERVICE_UNAVAILABLE` until the first fetch succeeds.
 */
export function keysAt(url: URL): jose.JWTVerifyGetKey {
  const takeFetch = createTokenBucket(MAX_FETCHES, FETCH_INTERVAL_MS);
  const missing = new Map<string, number>();
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
    } catch (error) {
      pausedUntil = performance.now() + PAUSE_MS;
      cause = error;
    }
  }

  function isMissing(kid: string): boolean {
    return kid.length > MAX_KID_LENGTH ||
      performance.now() < (missing.get(kid) ?? 0);
  }

  /** Harmless for a known key: only failed searches read `missing`. */
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
        "The keys for Bearer tokens are not available",
        cause,
      );
    }
    try {
      return await keys(header, token);
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
    throw new Error(`The key set's URL responded with ${response.status}`);
  }
  return JSON.parse(await new Blob(chunks).text());
}
