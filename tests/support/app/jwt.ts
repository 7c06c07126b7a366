import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** A claims set that is valid for an hour. */
export function claims(more: object = {}) {
  return { sub: "reader-1", exp: inSeconds(3600), ...more };
}

/** The time in this number of seconds, as a NumericDate (RFC 7519, 2). */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** A token with this header and payload (JSON values or text), signed with HMAC. */
export function hmacToken(
  secret: string,
  payload: object | string,
  header: object | string = { alg: "HS256" },
  hash = "sha256",
): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${createHmac(hash, secret).update(input).digest("base64url")}`;
}

/** A value as a part of a token. */
export function encoded(part: object | string): string {
  const text = typeof part === "string" ? part : JSON.stringify(part);
  return Buffer.from(text).toString("base64url");
}
