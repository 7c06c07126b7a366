import type { Meta } from "../schema/envelope.ts";

/**
 * Clients and proxies take only so much of headers, and a query may be as long.
 * Beyond it `meta` alone says which pages there are.
 */
const MAX_LENGTH = 2_048;

/**
 * The `Link` header of a page (RFC 8288): to the first, previous, next and last
 * page of the same list, as far as there are such. From a page past the end the
 * last one is the previous one.
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
