/** The scheme, the authority and the path of an `http` URL. */
const URL_PARTS = /^https?:\/\/[^/\\?#]*([^?]*)/;

/**
 * The path of a request, exactly as sent. `URL` would resolve `..` and `%2e%2e` and
 * turn `\` into `/`, and so bypass a proxy that restricts paths.
 */
export function pathOf({ url }: Request): string {
  return URL_PARTS.exec(url)?.[1] || "/";
}
