import type { Meta } from "../schema/envelope.ts";

/** A longer header is omitted, since proxies limit headers. `meta` has the same data. */
const MAX_LENGTH = 2_048;

/**
 * The `Link` header of a page (RFC 8288): the first, previous, next and last page
 * of the list, if they exist. The last page precedes every page past the end.
 */
export function linkHeader(
  { pathname, searchParams }: URL,
  { page, total_pages }: Meta,
): { link?: string } {
  const last = Math.max(total_pages, 1);
  const pages = {
    first: 1,
    ...page > 1 && { prev: Math.min(page - 1, last) },
    ...page < last && { next: page + 1 },
    last,
  };
  const link = Object.entries(pages).map(([relation, page]) => {
    const query = new URLSearchParams(searchParams);
    query.set("page", String(page));
    return `<${pathname}?${query}>; rel="${relation}"`;
  }).join(", ");
  return link.length <= MAX_LENGTH ? { link } : {};
}
