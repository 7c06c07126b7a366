import type { KeyedOutcome } from "../db/idempotency.ts";
import type { EntryPage } from "../db/entry_page.ts";
import { etagOf } from "../db/entity_tag.ts";
import type { HandlerResponse, Routed } from "./context.ts";
import type { Admitted } from "./guard.ts";

/* The responses that handlers share. */

/** A longer `Link` is omitted, since proxies limit headers. `meta` has the same data. */
const MAX_LINK = 2_048;

/** 200 with this data, which is JSON text. */
export function ok(
  data: string,
  headers?: HandlerResponse["headers"],
): HandlerResponse {
  return { status: 200, body: successText(data), headers };
}

/** 200 with a page that is followed by a cursor, and its `meta`. */
export function followed(data: string, meta: object): HandlerResponse {
  return { status: 200, body: successText(data, meta) };
}

/** 200 with a page of a list, `Link`, and the totals in `meta`. */
export function page(
  { url, query: { page, limit } }: Admitted<
    { page: number; limit: number }
  >,
  { entries, total, isNearest }: EntryPage,
): HandlerResponse {
  const meta = {
    page,
    limit,
    total,
    total_pages: Math.ceil(total / limit),
    ...isNearest && { nearest: true },
  };
  const headers = linkHeader(url, meta);
  return { status: 200, body: successText(entries, meta), headers };
}

/** 201 with a new record. A request with the same `Idempotency-Key` gets it again. */
export function created(
  context: Routed,
  { id, response, isReplayed }: KeyedOutcome,
): HandlerResponse {
  return {
    status: 201,
    body: successText(response),
    headers: {
      location: locationOf(context, id!),
      etag: etagOf(response),
      ...isReplayed && { "idempotent-replayed": "true" },
    },
  };
}

/** 201 with a new record that contains a secret, which no other response shows. */
export function issued(context: Routed, id: string, record: object): HandlerResponse {
  return {
    status: 201,
    body: successText(JSON.stringify(record)),
    headers: { "location": locationOf(context, id), "cache-control": "no-store" },
  };
}

/** 200 with a record, and its entity tag. */
export function current(
  record: string,
  etag = etagOf(record),
): HandlerResponse {
  return ok(record, { etag });
}

/** 200 with the id as requested, and whether a record was deleted. */
export function deletion(id: string, deleted: boolean): HandlerResponse {
  return ok(JSON.stringify({ id, deleted }));
}

/** The path of a new resource: its id, below the path of the request. */
function locationOf({ url }: Routed, id: string): string {
  return `${url.pathname}/${id}`;
}

/**
 * The `Link` header of a page (RFC 8288): the first, previous, next and last page
 * of the list, if they exist. The last page precedes every page past the end.
 */
function linkHeader(
  { pathname, searchParams }: URL,
  { page, total_pages }: { page: number; total_pages: number },
): { link?: string } {
  const last = Math.max(total_pages, 1);
  const pages = {
    first: 1,
    ...page > 1 && { prev: Math.min(page - 1, last) },
    ...page < last && { next: page + 1 },
    last,
  };
  const others = new URLSearchParams(searchParams);
  others.delete("page");
  const query = others.size > 0 ? `${others}&page=` : "page=";
  const link = Object.entries(pages)
    .map(([relation, page]) => `<${pathname}?${query}${page}>; rel="${relation}"`).join(", ");
  return link.length <= MAX_LINK ? { link } : {};
}

/** The envelope of a success (specification, 7.1). `data` is JSON text. */
function successText(data: string, meta?: object): string {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}
