import type { Buffer } from "node:buffer";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

/** Where the driver would connect to. */
export interface Address {
  host: string[];
  port: number[];
  path: string | false;
}

/** Opens a socket to the server. */
export function openSocket(
  { host: [host], port: [port], path }: Address,
): Duplex {
  const socket = path ? connect(path) : connect(port!, host!);
  // The name that the server's certificate must bear.
  return Object.assign(socket, { host });
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
