/** The scheme, the authority and the path of an `http` URL. */
const URL_PARTS = /^https?:\/\/[^/\\?#]*([^?]*)/;

/**
 * The path of a request exactly as the client sent it. `URL` would resolve `..`
 * and `%2e%2e` and turn `\` into `/`: a proxy that guards paths does not.
 */
export function pathOf({ url }: Request): string {
  return URL_PARTS.exec(url)?.[1] || "/";
}
