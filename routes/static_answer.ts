import type { Answer, Handler } from "../middleware/context.ts";
import { etagOf, isNotModified } from "../middleware/etag.ts";

/** Responds with a constant text, loaded on the first request. Honours `If-None-Match`. */
export function fixed(
  load: () => string | Promise<string>,
  headers: Record<string, string> = {},
): Handler {
  let loaded: Promise<{ body: Uint8Array<ArrayBuffer>; etag: string }>;
  async function encoded() {
    const text = await load();
    return { body: new TextEncoder().encode(text), etag: etagOf(text) };
  }
  return async ({ request }): Promise<Answer> => {
    const { body, etag } = await (loaded ??= encoded());
    if (isNotModified(request.headers, etag)) {
      return { status: 304, headers: { ...headers, etag } };
    }
    return { status: 200, body, headers: { ...headers, etag } };
  };
}
