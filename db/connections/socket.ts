import type { Buffer } from "node:buffer";
import { connect, isIP } from "node:net";
import type { Duplex } from "node:stream";

/** The address that the driver would connect to. */
export interface Address {
  host: string[];
  port: number[];
}

/** Opens a socket to the server. */
export function openSocket({ host: [host], port: [port] }: Address): Duplex {
  // The driver takes the name that the certificate must bear from `host`.
  return Object.assign(connect(port!, host!), { host });
}

/** Modes that encrypt and check no certificate. */
const UNVERIFIED = ["disable", "allow", "prefer", "require"];

/**
 * The TLS options of an address that is an IP address and asks for a verified
 * certificate. The driver leaves the name out then, and Deno checks `localhost`.
 */
export function tlsOf(url: string) {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get("sslmode") ?? searchParams.get("ssl");
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!mode || UNVERIFIED.includes(mode) || !isIP(host)) return {};
  return { ssl: { host } };
}

/**
 * Whether the bytes of a server end with its last words in a session: an
 * ErrorResponse with no ReadyForQuery behind it. A pooler in between has other
 * codes for a server that it has lost, whose transaction may have been committed.
 */
export function endsSession(bytes: Buffer): boolean {
  const code = LAST_WORDS.exec(bytes.toString("latin1"))?.index ?? 0;
  for (let at = 0; at < code; at++) {
    const isError = bytes[at] === ERROR_RESPONSE;
    if (isError && at + 1 + bytes.readInt32BE(at + 1) === bytes.length) {
      return true;
    }
  }
  return false;
}

const ERROR_RESPONSE = "E".charCodeAt(0);

/** Terminated by an administrator, or for a time-out of the session or of its transaction. */
const LAST_WORDS = /\0C(?:57P01|57P05|25P03|25P04)\0/;
