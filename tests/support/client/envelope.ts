import { assert, assertEquals, assertMatch } from "@std/assert";

/** A response. Its body is parsed if it is JSON. */
export interface Reply {
  status: number;
  headers: Headers;
  // deno-lint-ignore no-explicit-any
  body: any;
  text: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const STRING = /"(?:[^"\\]|\\.)*"/g;

/** Checks what holds for every response (specification, 7). */
export function assertEnvelope(
  { status, headers, body, text }: Omit<Reply, "bytes">,
  method: string,
): void {
  assertMatch(headers.get("x-request-id") ?? "", /^[A-Za-z0-9._-]{1,128}$/);
  assertEquals(headers.get("api-version"), "1.0");
  assertMatch(headers.get("vary") ?? "", /^Accept-Version(, Origin)?$/);
  const secret = body?.data?.key ?? body?.data?.secret;
  assertEquals(
    headers.get("cache-control"),
    secret ? "no-store" : "private, no-cache",
  );
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertMatch(
    headers.get("server-timing") ?? "",
    /^total;dur=\d+(\.\d{1,2})?$/,
  );
  if (method === "HEAD" || status === 204 || status === 304) {
    return assertEquals(text, "");
  }
  const type = headers.get("content-type") ?? "";
  if (status < 400 && type === "application/xml; charset=utf-8") {
    return assertMatch(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>/);
  }
  if (status < 400 && type.startsWith("text/csv")) {
    assertEquals(type, "text/csv; charset=utf-8; header=present");
    return assertMatch(text, /\r\n$/);
  }
  if (status < 400 && /spreadsheetml\.sheet$/.test(type)) return assertMatch(text, /^PK/);
  assertMatch(type, /^application\/json/);
  assertMatch(text.replaceAll(STRING, '""'), /^\S+$/, "JSON is compact");
  if (status < 400) {
    assertEquals(body.success, true);
    assertEquals(body.error, null);
    assert(typeof body.data === "object" && body.data !== null);
  } else {
    assertEquals(Object.keys(body), ["success", "error"]);
    assertEquals(body.success, false);
    const { report: _, hint, ...error } = body.error;
    assertEquals(Object.keys(error), [
      "code",
      "message",
      "details",
      "request_id",
    ]);
    for (const { message, hint: what } of [{ ...error, hint }, ...error.details]) {
      assert(what === undefined || message.endsWith(`: ${what}`), "A hint ends the message");
    }
    assertEquals(body.error.request_id, headers.get("x-request-id"));
    assert(text.length < 40_000, "An error is short");
    assert(
      !/select |insert |update |products_|\.ts:/.test(text),
      "The error reveals internals",
    );
  }
}
