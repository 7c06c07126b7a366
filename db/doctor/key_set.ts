import { type Finding, fine, wrong } from "./finding.ts";

const KEY_SET_MS = 3_000;

/** Whether the URL has a JWK Set (RFC 7517, 5) with keys that can verify tokens. */
export async function checkKeySet(url: URL): Promise<Finding> {
  const advice =
    "Check JWT_JWKS_URL, and that this machine can reach it; until then Bearer tokens get 503";
  try {
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(KEY_SET_MS),
    });
    const text = await response.text();
    if (response.status !== 200) {
      return wrong(`The URL responded with ${response.status}`, advice);
    }
    const keys = keysIn(text);
    if (!keys) return wrong("The response is not a JWK Set", advice);
    const usable = keys.filter(({ kty }) => /^(?:RSA|EC|OKP)$/.test(`${kty}`));
    return usable.length > 0
      ? fine(`Keys that can verify tokens: ${usable.length}`)
      : wrong("The set has no key that can verify tokens", advice);
  } catch (error) {
    return wrong(`It cannot be fetched: ${(error as Error).message}`, advice);
  }
}

function keysIn(text: string): { kty?: unknown }[] | undefined {
  try {
    const { keys } = JSON.parse(text);
    const isKey = (key: unknown) => typeof key === "object" && key !== null;
    return Array.isArray(keys) && keys.every(isKey) ? keys : undefined;
  } catch {
    return undefined;
  }
}
