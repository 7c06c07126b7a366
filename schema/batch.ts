import * as v from "valibot";
import { ApiError, bodyDetails, type ErrorDetail, invalid } from "./errors.ts";
import { chosen, fields, isObject } from "./objects.ts";
import { CreateProduct, type ProductBody, UpdateProduct } from "./product.ts";
import { described, oneOf, SentUuid, text } from "./values.ts";

/** Operations in one batch. */
const MAX_OPERATIONS = 100;

/** The fields that an upsert may find its product by. */
const Match = oneOf("isbn13", "isbn10", "product_code");

export type Match = v.InferOutput<typeof Match>;

const IfMatch = described("As the header `If-Match`.", v.optional(text()));

/** A batch, with these schemas for the bodies of its operations. */
function batch<
  const C extends v.GenericSchema,
  const U extends v.GenericSchema,
>(created: C, changed: U) {
  const operations = {
    create: fields({ method: v.literal("create"), body: created }),
    update: fields({
      method: v.literal("update"),
      id: SentUuid,
      body: changed,
      if_match: IfMatch,
    }),
    delete: fields({
      method: v.literal("delete"),
      id: SentUuid,
      if_match: IfMatch,
    }),
    upsert: fields({
      method: v.literal("upsert"),
      match: Match,
      body: changed,
    }),
  };
  type Operation = typeof operations[keyof typeof operations];
  type Schema = v.GenericSchema<unknown, v.InferOutput<Operation>>;
  const options: Record<string, Schema> = operations;
  const unknown = fields({ method: oneOf(...Object.keys(options)) });
  return fields({
    operations: v.pipe(
      v.array(v.unknown(), "invalid_type: Expected an array"),
      v.minLength(1, "too_few: At least one operation"),
      v.maxLength(
        MAX_OPERATIONS,
        `too_many: At most ${MAX_OPERATIONS} operations`,
      ),
      v.array(chosen(Object.values(options), (entry) => {
        const { method } = isObject(entry) ? entry : {};
        return typeof method === "string" && Object.hasOwn(options, method)
          ? options[method]!
          : unknown as never;
      })),
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
export const Batch = batch(Body, Body);

/** The same with what each body may hold, for the description of the API. */
export const DescribedBatch = batch(CreateProduct, UpdateProduct);

/** An operation whose body is not read yet. */
export type SentOperation = v.InferOutput<typeof Batch>["operations"][number];

/** Reads a body as one of `POST /products`, or of `PUT /products/{id}`. */
export function readBody(
  method: "create" | "update",
  body: Record<string, unknown>,
): ProductBody | ApiError {
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
