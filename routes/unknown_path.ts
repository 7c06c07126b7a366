import type { Services } from "../middleware/context.ts";
import { pathOf } from "../middleware/request.ts";
import { ApiError } from "../schema/errors.ts";
import { bareIsbn } from "../schema/values.ts";

/** The path of a product with something else in place of the id. */
const PRODUCT = /^\/products\/([^/]+)$/;

/** What monitors ask by habit. */
const HEALTH = /\/health(?:z|check)?(?:\/|$)/;

const ISBN = /^(?:\d-?){9}(?:(?:\d-?){3}\d|[\dXx])$/;

/** The error for an unknown path. Its message suggests a valid one. */
export function unknownPath(
  request: Request,
  { apiPrefix: prefix, docs }: Services,
): ApiError {
  const path = pathOf(request);
  const given = path.startsWith(prefix) ? PRODUCT.exec(path.slice(prefix.length))?.[1] : undefined;
  if (given !== undefined) {
    const isbn = ISBN.test(given) ? bareIsbn(given) : undefined;
    const search = isbn
      ? `by ISBN, use ${prefix}/products?isbn${isbn.length}=${isbn}`
      : `for products, use ${prefix}/products?search=`;
    return notFound(
      `The path of a product requires its id, a UUID: to search ${search}`,
    );
  }
  if (HEALTH.test(path)) {
    return notFound(
      "Unknown path: whether the service is ready is at /health/ready, whether it runs at /health/live",
    );
  }
  const description = `${prefix}/openapi.json`;
  return notFound(
    `Unknown path: see ${docs ? `/docs and ${description}` : description}`,
  );
}

function notFound(message: string): ApiError {
  return new ApiError("NOT_FOUND", message);
}
