import type { Answer, Handler } from "../middleware/context.ts";
import { etagOf, isNotModified } from "../middleware/etag.ts";

/**
 * Answers with a text that stays the same while the service runs, and is had
 * when it is first asked for; 304 to who has it already.
 */
export function fixed(
  load: () => string | Promise<string>,
  headers: Record<string, string> = {},
): Handler {
  let known: { body: string; etag: string } | undefined;
  return async ({ request }): Promise<Answer> => {
    if (!known) {
      const body = await load();
      known = { body, etag: etagOf(body) };
    }
    const { body, etag } = known;
    if (isNotModified(request.headers, etag)) {
      return { status: 304, headers: { ...headers, etag } };
    }
    return { status: 200, body, headers: { ...headers, etag } };
  };
}
