import type { Services } from "../middleware/context.ts";
import { pathOf } from "../middleware/request.ts";
import { ApiError, withHint } from "../schema/errors.ts";
import { isShared, nounOf, TABLES_BY_PATH } from "../schema/records.ts";
import { bareIsbn, UUID_PATTERN } from "../schema/values.ts";

/** A path with an id, or another value in its place: the resource, and that value. */
const WITH_ID = new RegExp(
  `^(?:/onix|/publishing-programs/${UUID_PATTERN})?(/[a-z-]+)/([^/]+)(?:/.*)?$`,
);

const UUID = new RegExp(`^${UUID_PATTERN}$`);

/** Paths that monitors request by convention. */
const HEALTH = /\/health(?:z|check)?(?:\/|$)/;

const ISBN = /^(?:\d-?){9}(?:(?:\d-?){3}\d|[\dXx])$/;

/** The error for an unknown path. Its message suggests a valid one. */
export function unknownPath(
  request: Request,
  { apiPrefix: prefix, docs }: Services,
): ApiError {
  const path = pathOf(request);
  if (HEALTH.test(path)) {
    return notFound(withHint(
      "Unknown path",
      "whether the service is ready is at /health/ready, whether it runs at /health/live",
    ));
  }
  // A regular expression would compare each run of slashes again from each of them.
  let end = path.length;
  while (path[end - 1] === "/") end--;
  const withoutSlash = path.slice(0, end);
  if (withoutSlash !== path && !["", prefix].includes(withoutSlash)) {
    return notFound(
      withHint("Unknown path: paths have no slash at the end", `use ${withoutSlash}`),
    );
  }
  const advice = path.startsWith(prefix) ? findById(path.slice(prefix.length), prefix) : undefined;
  if (advice) return notFound(advice);
  const description = `${prefix}/openapi.json`;
  return notFound(
    withHint("Unknown path", `see ${docs ? `/docs and ${description}` : description}`),
  );
}

/**
 * Advice to find the id of a record by the name or code in the path: `/publishers/Penguin`,
 * `/product-forms/BC`.
 */
function findById(path: string, prefix: string): string | undefined {
  const [, resource = "", given = ""] = WITH_ID.exec(path) ?? [];
  if (UUID.test(given)) return;
  const list = `${prefix}${resource}`;
  const requires = (noun: string, hint: string) =>
    withHint(`The path of a ${noun} requires its id, a UUID`, hint);
  switch (resource) {
    case "/products": {
      const isbn = ISBN.test(given) ? bareIsbn(given) : undefined;
      const search = isbn
        ? `by ISBN, use ${list}?isbn${isbn.length}=${isbn}`
        : `for products, use ${list}?search=`;
      return requires("product", `to search ${search}`);
    }
    case "/recipients":
      return requires("recipient", `to find it by name, use ${list}?name=${given}`);
    case "/webhooks":
      return requires("webhook", `GET ${list} lists them`);
    case "/code-lists":
      return withHint("The path of a code list requires its number", `GET ${list} has them all`);
  }
  const table = TABLES_BY_PATH.get(resource);
  if (!table) return;
  // Code lists have no filter by name: their lists are short.
  const parameter = isShared(table) ? "code" : "name";
  return requires(nounOf(table), `to find it by ${parameter}, use ${list}?${parameter}=${given}`);
}

function notFound(text: string): ApiError {
  return new ApiError("NOT_FOUND", text);
}
