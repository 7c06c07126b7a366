import * as v from "valibot";
import { bodyDetails } from "./errors.ts";
import { ApiError, type ErrorDetail, invalid } from "./errors.ts";
import { chosen, fields, isObject } from "./objects.ts";
import { CreateProduct, type ProductBody, UpdateProduct } from "./product.ts";
import { oneOf, text, Uuid } from "./values.ts";

/** Operations in one batch. */
const MAX_OPERATIONS = 100;

/** The fields that an upsert may find its product by. */
export const MATCHES = ["isbn13", "isbn10", "product_code"] as const;

export type Match = typeof MATCHES[number];

/** A UUID in either case, as it was sent: the answer to a deletion repeats it. */
const SentId = v.pipe(
  v.string("invalid_type: Expected a UUID as a string"),
  v.check(
    (id) => v.is(Uuid, id),
    "invalid_uuid: Expected a UUID such as 0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
  ),
  v.metadata({ format: "uuid" }),
);

const IfMatch = v.pipe(
  v.optional(text()),
  v.description("As the header `If-Match`."),
);

/** The operations, with these schemas for their bodies. */
function operations<
  const C extends v.GenericSchema,
  const U extends v.GenericSchema,
>(created: C, changed: U) {
  return {
    create: fields({ method: v.literal("create"), body: created }),
    update: fields({
      method: v.literal("update"),
      id: SentId,
      body: changed,
      if_match: IfMatch,
    }),
    delete: fields({
      method: v.literal("delete"),
      id: SentId,
      if_match: IfMatch,
    }),
    upsert: fields({
      method: v.literal("upsert"),
      match: oneOf(...MATCHES),
      body: changed,
    }),
  };
}

function batch<T>(
  options: Record<string, v.GenericSchema<unknown, T>>,
) {
  const unknown = fields({ method: oneOf(...Object.keys(options)) });
  const operation = chosen<T>(
    Object.values(options),
    (entry) =>
      isObject(entry) && Object.hasOwn(options, String(entry.method))
        ? options[String(entry.method)]!
        : unknown as never,
  );
  return fields({
    operations: v.pipe(
      v.array(v.unknown(), "invalid_type: Expected an array"),
      v.minLength(1, "too_few: At least one operation"),
      v.maxLength(
        MAX_OPERATIONS,
        `too_many: At most ${MAX_OPERATIONS} operations`,
      ),
      v.array(operation),
    ),
    atomic: v.optional(v.boolean("invalid_type: Expected true or false")),
    return: v.optional(oneOf("full", "minimal")),
  });
}

const Body = v.custom<Record<string, unknown>>(
  isObject,
  "invalid_type: Expected an object",
);

/** A body of `POST /products/batch`. The bodies of its operations are read one by one. */
export const Batch = batch<SentOperation>(operations(Body, Body));

/** The same with what each body may hold, for the description of the API. */
export const DescribedBatch = batch<unknown>(
  operations(CreateProduct, UpdateProduct),
);

/** An operation whose body is not read yet. */
export type SentOperation =
  | { method: "create"; body: Record<string, unknown> }
  | {
    method: "update";
    id: string;
    body: Record<string, unknown>;
    if_match?: string | undefined;
  }
  | { method: "delete"; id: string; if_match?: string | undefined }
  | { method: "upsert"; match: Match; body: Record<string, unknown> };

/** A body, or what is wrong with it. */
export type ReadBody = ProductBody | ApiError;

/** Reads a body as one of `POST /products`, or of `PUT /products/{id}`. */
export function readBody(
  method: "create" | "update",
  body: Record<string, unknown>,
): ReadBody {
  const schema = method === "create" ? CreateProduct : UpdateProduct;
  const result = v.safeParse(schema, body);
  return result.success
    ? result.output
    : invalid("The body", bodyDetails(result.issues));
}

/** The value that an upsert finds its product by, bare, or what is wrong where the body has none. */
export function matchedValue(
  match: Match,
  sent: Record<string, unknown>,
  body: ProductBody,
): string | ApiError {
  const value = match === "product_code" ? sent[match] : body[match];
  if (typeof value === "string") {
    // The bodies of products ignore a product code, so nothing has read it yet.
    const read = v.safeParse(v.object({ [match]: text() }), { [match]: value });
    return read.success ? value : invalid("The body", bodyDetails(read.issues));
  }
  return invalid("The body", [{
    pointer: `/${match}`,
    code: "required",
    message: "The product is found by this field",
  }]);
}

/** The failure of a whole batch, which says which of its operations has failed. */
export function failedAt(index: number, error: ApiError): ApiError {
  const operation = `/operations/${index}`;
  const { code, message, headers } = error;
  const details = error.details.flatMap((detail): ErrorDetail[] =>
    "pointer" in detail
      ? [{ ...detail, pointer: `${operation}/body${detail.pointer}` }]
      : []
  );
  const itself = { pointer: operation, code: code.toLowerCase(), message };
  return new ApiError(code, `Operation ${index} failed: ${message}`, {
    cause: error,
    details: details.length > 0 ? details : [itself],
    headers,
  });
}
