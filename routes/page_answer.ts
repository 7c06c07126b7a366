import type { Answer } from "../middleware/context.ts";
import { linkHeader } from "../middleware/link.ts";
import { success } from "../schema/envelope.ts";

/** The answer with one page of a list, whose entries are a JSON array. */
export function pageAnswer(
  url: URL,
  { page, limit }: { page: number; limit: number },
  { entries, total }: { entries: string; total: number },
): Answer {
  const meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
  return {
    status: 200,
    body: success(entries, meta),
    headers: linkHeader(url, meta),
  };
}
