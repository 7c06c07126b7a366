import type { Queries } from "../db/database.ts";
import type { KeyedRequest, Outcome } from "../db/idempotency.ts";
import type { Precondition } from "../db/products/write.ts";
import type { Page } from "../db/products/list.ts";
import { type Body, type BodySchema, readBody } from "../middleware/body.ts";
import type { Answer, Authenticated, Handler } from "../middleware/context.ts";
import {
  etagOf,
  idempotencyKeyOf,
  isNotModified,
  linkHeader,
  preconditionOf,
} from "../middleware/conditional.ts";
import { success } from "../middleware/respond.ts";
import { readQuery } from "../schema/parameters.ts";

/*
 * The handlers that resources share: products, their sales rights and territories, and
 * the records that they reference.
 */

type QuerySchema = Parameters<typeof readQuery>[0];
type Query<S extends QuerySchema> =
  & ReturnType<typeof readQuery<S>>
  & { page: number; limit: number };

/** The response 200 with this data, which is JSON text. */
export function ok(data: string, headers?: Answer["headers"]): Answer {
  return { status: 200, body: success(data), headers };
}

/** The response with `show` of the record, or 304 (RFC 9110, 15.4.5). */
export function found(
  { request }: Authenticated,
  record: string,
  { show = (record) => record, etag = etagOf(record) }: {
    show?: (record: string) => string;
    etag?: string;
  } = {},
): Answer {
  return isNotModified(request.headers, etag)
    ? { status: 304, headers: { etag } }
    : ok(show(record), { etag });
}

/** Lists a page, with `Link` and the totals in `meta`. */
export function listing<S extends QuerySchema>(
  parameters: S,
  list: (context: Authenticated, query: Query<S>) => Promise<Page>,
): Handler<Authenticated> {
  return async (context) => {
    const url = new URL(context.request.url);
    const query = readQuery(parameters, url) as Query<S>;
    const { entries, total } = await list(context, query);
    const { page, limit } = query;
    const meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
    const headers = linkHeader(url, meta);
    return { status: 200, body: success(entries, meta), headers };
  };
}

/** Creates a record, once per `Idempotency-Key`. */
export function creating<S extends BodySchema>(
  path: string,
  schema: S,
  create: (
    database: Queries,
    body: Body<S>,
    request: KeyedRequest,
  ) => Promise<Outcome>,
): Handler<Authenticated> {
  const operation = `POST ${path}`;
  return async (context) => {
    const key = idempotencyKeyOf(context.request.headers);
    using memory = context.memory.bodies.reserve(context.facts.caller);
    const { text, body } = await readBody(context, schema, memory);
    const request = { operation, key, text };
    const { id, answer, isReplayed } = await create(
      context.database,
      body,
      request,
    );
    const headers = {
      location: `${context.services.apiPrefix}${path}/${id}`,
      etag: etagOf(answer),
      ...isReplayed && { "idempotent-replayed": "true" },
    };
    return { status: 201, body: success(answer), headers };
  };
}

/** Updates the record with the id in the path, and returns it. Honours `If-Match`. */
export function updating<S extends BodySchema>(
  schema: S,
  update: (
    database: Queries,
    id: string,
    body: Body<S>,
    precondition?: Precondition,
  ) => Promise<string>,
): Handler<Authenticated> {
  return async (context) => {
    const { request, params, database } = context;
    using memory = context.memory.bodies.reserve(context.facts.caller);
    const { body } = await readBody(context, schema, memory);
    const precondition = preconditionOf(request.headers.get("if-match"));
    const record = await update(database, params.id!, body, precondition);
    return ok(record, { etag: etagOf(record) });
  };
}

/** Deletes the record with the id in the path, if it exists. Honours `If-Match`. */
export function deleting(
  remove: (
    database: Queries,
    id: string,
    precondition?: Precondition,
  ) => Promise<boolean>,
): Handler<Authenticated> {
  return async ({ request, params, database }) => {
    const id = params.id!;
    const precondition = preconditionOf(request.headers.get("if-match"));
    const deleted = await remove(database, id, precondition);
    return ok(JSON.stringify({ id, deleted }));
  };
}
