import { unavailable } from "../schema/errors.ts";
import * as jose from "jose";

const TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;

/** After a fetch that failed, nobody waits for another one so long. */
const PAUSE_MS = 5_000;

/**
 * The keys at an address, fetched when a token asks for one that is not known,
 * and not more than every 30 seconds. While the address is down, the keys that
 * were had last go on serving; before there are any, nobody can be told whether
 * a token is good, so the answer is `SERVICE_UNAVAILABLE`.
 */
export function keysAt(url: URL): jose.JWTVerifyGetKey {
  const remote = jose.createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    [jose.customFetch]: fetchSmall,
  });
  let pausedUntil = 0;
  let cause: unknown;
  return async (header, token) => {
    if (performance.now() >= pausedUntil) {
      try {
        return await remote(header, token);
      } catch (error) {
        if (
          error instanceof jose.errors.JWKSNoMatchingKey ||
          error instanceof jose.errors.JWKSMultipleMatchingKeys
        ) throw error;
        pausedUntil = performance.now() + PAUSE_MS;
        cause = error;
      }
    }
    const known = remote.jwks();
    if (known) return await jose.createLocalJWKSet(known)(header, token);
    throw unavailable(
      "The keys that sign Bearer tokens cannot be had at the moment",
      cause,
    );
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
    if (size > MAX_BYTES) {
      throw new Error(`The key set is larger than ${MAX_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  const body = response.status === 200 ? new Blob(chunks) : null;
  return new Response(body, {
    status: response.status === 0 ? 502 : response.status,
    headers: response.headers,
  });
}
