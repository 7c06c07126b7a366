import { Buffer } from "node:buffer";
import type { LookupAddress } from "node:dns";
import http from "node:http";
import https from "node:https";
import { connect, isIP, type LookupFunction } from "node:net";
import { connect as connectTls } from "node:tls";
import type { AttemptError } from "../schema.ts";
import { type AllowedTargets, faultsOf, hostOf } from "../../../schema/targets.ts";

/* POSTs a message to an address that was checked, and reads the beginning of the response. */

/** A request to a receiver, with its time limit. */
export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  allowed: AllowedTargets;
  /** The addresses of the URL's host. Rejects at the deadline, and if the name does not resolve. */
  resolve: (url: URL, deadline: number) => Promise<LookupAddress[]>;
}

/** The response of the receiver, or the reason why there is none. */
export interface Answer {
  response_status: number | null;
  /** The first `MAX_BODY` bytes. */
  response_body: string | null;
  /** The header `Retry-After`. */
  retryAfter?: string | undefined;
  error: AttemptError | null;
}

/** The read part of a response, in bytes. */
const MAX_BODY = 2_048;

/** The time for that part after the head of the response. */
const BODY_MS = 1_000;

/** The largest head of a response, in bytes, with the informational ones before it (RFC 9110, 15.2). */
const MAX_HEAD = 16_384;

const MAX_INFORMATIONAL = 3;

/**
 * Posts a message. It succeeds if a response with 2xx begins within `timeoutMs`, the time of the
 * full attempt. A redirect is a failure, because its target is unchecked. The name is resolved
 * once, and the connection goes to an address that was checked. Never throws.
 */
export async function post(sent: Post): Promise<Answer> {
  const deadline = performance.now() + sent.timeoutMs;
  const url = new URL(sent.url);
  let addresses: LookupAddress[];
  try {
    addresses = await sent.resolve(url, deadline);
  } catch {
    return withoutAnswer(
      performance.now() < deadline ? "unresolved" : "timeout",
    );
  }
  if (addresses.length === 0) return withoutAnswer("unresolved");
  const texts = addresses.map(({ address }) => address);
  return faultsOf(url, texts, sent.allowed).length > 0
    ? withoutAnswer("forbidden_target")
    : await exchange(url, addresses, sent, deadline);
}

/** Sends the request to one of these addresses, and reads the answer. */
function exchange(
  url: URL,
  addresses: LookupAddress[],
  { headers, body }: Post,
  deadline: number,
): Promise<Answer> {
  const { request } = url.protocol === "https:" ? https : http;
  const host = hostOf(url);
  return new Promise((resolve) => {
    const sending = request({
      method: "POST",
      host,
      path: url.pathname + url.search,
      headers: {
        ...headers,
        "host": url.host,
        "content-length": Buffer.byteLength(body),
      },
      createConnection: () => open(url, addresses),
      maxHeaderSize: MAX_HEAD,
    });

    function end(answer: Answer): void {
      clearTimeout(timer);
      resolve(answer);
      sending.destroy();
    }

    const left = () => deadline - performance.now();
    let timer = setTimeout(end, left(), withoutAnswer("timeout"));
    const fail = (error: Error) => end(withoutAnswer(connectionError(error)));
    let informational = 0;
    let head = 0;
    const isTooLong = ({ rawHeaders }: { rawHeaders: string[] }) =>
      (head += rawHeaders.join("").length) > MAX_HEAD;
    sending.on("error", fail);
    sending.on("information", (response) => {
      if (isTooLong(response) || ++informational > MAX_INFORMATIONAL) {
        end(withoutAnswer("connection"));
      }
    });
    sending.on("response", (response) => {
      if (isTooLong(response)) return end(withoutAnswer("connection"));
      const { statusCode = 0, headers } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const read = () =>
        end({
          response_status: statusCode,
          response_body: storableText(
            Buffer.concat(chunks).subarray(0, MAX_BODY),
          ),
          retryAfter: headers["retry-after"],
          error: statusCode >= 200 && statusCode < 300 ? null : "status",
        });
      // A receiver that has sent the head has the message, even if the body is broken.
      sending.off("error", fail).on("error", () => {});
      clearTimeout(timer);
      timer = setTimeout(read, Math.min(BODY_MS, left()));
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if ((size += chunk.length) >= MAX_BODY) read();
      });
      response.on("end", read).on("error", read).on("close", read);
    });
    sending.end(body);
  });
}

/**
 * Connects to one of the addresses, whose name is not resolved again. `https.request`
 * would do so too, but in Deno 2.9.6 it reads the certificates of the system, which needs
 * a permission.
 */
function open(url: URL, addresses: LookupAddress[]) {
  const host = hostOf(url);
  const isTls = url.protocol === "https:";
  const port = Number(url.port || (isTls ? 443 : 80));
  const [{ address, family }] = addresses as [LookupAddress];
  const resolved: LookupFunction = (_name, { all }, done) =>
    all ? done(null, addresses) : done(null, address, family);
  // An address has no SNI (RFC 6066, 3).
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return isTls
    ? connectTls({ host, port, lookup: resolved, ...servername })
    : connect({ host, port, lookup: resolved });
}

function withoutAnswer(error: AttemptError): Answer {
  return { response_status: null, response_body: null, error };
}

/** Any bytes as text that can be stored: PostgreSQL takes no NUL. */
function storableText(bytes: Buffer): string {
  return bytes.toString().replaceAll("\0", "\ufffd");
}

/** Whether TLS failed, or the connection. Deno 2.9.6 reports a bad certificate in its message alone. */
function connectionError(error: Error & { code?: string }): AttemptError {
  const text = `${error.code} ${error.name} ${error.message}`;
  return /CERT|TLS|SSL|InvalidData|certificate|handshake/i.test(text) ? "tls" : "connection";
}
