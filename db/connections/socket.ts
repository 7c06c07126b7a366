import type { Buffer } from "node:buffer";
import { connect, isIP } from "node:net";
import type { Duplex } from "node:stream";

/** The address as the driver passes it. */
export interface Address {
  host: string[];
  port: number[];
}

/**
 * Opens a socket to the server. The statements of a round trip are several small writes,
 * which must not wait for each other (RFC 9293, 3.7.4).
 */
export function openSocket({ host: [host], port: [port] }: Address): Duplex {
  // The driver verifies the certificate against `host`.
  return Object.assign(connect(port!, host!).setNoDelay(), { host });
}

/** TLS modes that do not verify the certificate. */
const UNVERIFIED = ["disable", "allow", "prefer", "require"];

/**
 * The TLS options for a URL with an IP address and a verified certificate. The
 * driver omits the host then, and Deno would verify `localhost`.
 */
export function tlsOf(url: string) {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get("sslmode") ?? searchParams.get("ssl");
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!mode || UNVERIFIED.includes(mode) || !isIP(host)) return {};
  return { ssl: { host } };
}

/**
 * Whether the bytes end with an ErrorResponse that ends the session: no
 * ReadyForQuery follows it. The codes exclude those of a pooler that lost its
 * server, which may have committed the transaction.
 */
export function announcesEnd(bytes: Buffer): boolean {
  const code = SESSION_END.exec(bytes.toString("latin1"))?.index ?? 0;
  for (let at = 0; at < code; at++) {
    const isError = bytes[at] === ERROR_RESPONSE;
    if (isError && at + 1 + bytes.readInt32BE(at + 1) === bytes.length) {
      return true;
    }
  }
  return false;
}

const ERROR_RESPONSE = "E".charCodeAt(0);

/** Terminated by an administrator, or by a session or transaction time-out. */
const SESSION_END = /\0C(?:57P01|57P05|25P03|25P04)\0/;
