import * as v from "valibot";
import { ApiError, type ErrorDetail, invalidAt, invalidBody } from "../../schema/errors.ts";
import {
  CreateProduct,
  type ProductBody,
  UpdateProduct,
  UpsertProduct,
} from "../../schema/bodies.ts";
import { chosen, closedObject, isObject, object } from "../../schema/objects.ts";
import { RESTORATION, RestoreProduct } from "../history/schema/history.ts";
import { described, oneOf, SentUuid, text } from "../../schema/values.ts";

/* The body of `POST /products/batch`. */

const MAX_OPERATIONS = 100;

const Match = oneOf("isbn13", "isbn10", "product_code");

export type Match = v.InferOutput<typeof Match>;

const Id = described("The id of the product.", SentUuid);

const IfMatch = described("As the header `If-Match`.", v.optional(text()));

/** The schema of a batch, given the schemas of the operations' bodies. */
function batch<
  const C extends v.GenericSchema,
  const U extends v.GenericSchema,
  const P extends v.GenericSchema,
>(
  created: C,
  changed: U,
  upserted: P,
  restoration: Record<keyof typeof RESTORATION, v.GenericSchema>,
) {
  const operations = {
    create: closedObject({
      method: described("Creates a product.", v.literal("create")),
      body: described("As that of `POST /products`.", created),
    }),
    update: closedObject({
      method: described("Updates a product.", v.literal("update")),
      id: Id,
      body: described("As that of `PUT /products/{id}`.", changed),
      if_match: IfMatch,
    }),
    delete: closedObject({
      method: described("Deletes a product.", v.literal("delete")),
      id: Id,
      if_match: IfMatch,
    }),
    restore: closedObject({
      method: described(
        "Restores the state of a version, or of a deleted product.",
        v.literal("restore"),
      ),
      id: Id,
      ...restoration,
      if_match: IfMatch,
    }),
    upsert: closedObject({
      method: described(
        "Updates the product that matches, or creates one.",
        v.literal("upsert"),
      ),
      match: described(
        "The field whose value in the body identifies the product.",
        Match,
      ),
      body: described("What the product is.", upserted),
    }),
  };
  type Operation = typeof operations[keyof typeof operations];
  type Schema = v.GenericSchema<unknown, v.InferOutput<Operation>>;
  const options: Record<string, Schema> = operations;
  const unknown = object({ method: oneOf(...Object.keys(options)) });
  return closedObject({
    operations: v.pipe(
      v.array(v.unknown(), "invalid_type: Expected an array"),
      v.description("The operations, in the order of their results."),
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
    atomic: described(
      "Whether nothing is written if an operation fails. The default is false.",
      v.optional(v.boolean("invalid_type: Expected true or false")),
    ),
    return: described(
      "Whether the results have the full products, or only their ids. The default is `full`.",
      v.optional(oneOf("full", "minimal")),
    ),
  });
}

const Body = v.custom<Record<string, unknown>>(
  isObject,
  "invalid_type: Expected an object",
);

const Unread = v.optional(v.unknown());

/**
 * The body of `POST /products/batch`. The bodies of its operations are validated one by one, by
 * `validBody` and `validRestoration`.
 */
export const Batch = batch(Body, Body, Body, {
  version: Unread,
  at: Unread,
  fields: Unread,
  skip_missing: Unread,
});

export type Batch = v.InferOutput<typeof Batch>;

/** `Batch` with the schemas of the operations' bodies, for the OpenAPI document. */
export const DescribedBatch = batch(
  CreateProduct,
  UpdateProduct,
  UpsertProduct,
  RESTORATION,
);

/** An operation before its body is validated. */
export type SentOperation = Batch["operations"][number];

/** Validates the choice of a restoration, as in the body of `POST /products/{id}/restore`. */
export function validRestoration(
  { version, at, fields, skip_missing }: Record<keyof typeof RESTORATION, unknown>,
): RestoreProduct | ApiError {
  const result = v.safeParse(RestoreProduct, { version, at, fields, skip_missing });
  return result.success ? result.output : invalidBody(result.issues);
}

/** The validated value that an upsert matches, or the error if the body has none. */
export function matchedValue(
  match: Match,
  sent: Record<string, unknown>,
  body: ProductBody,
): string | ApiError {
  const value = match === "product_code" ? sent[match] : body[match];
  if (typeof value === "string") {
    // The schema of product bodies ignores `product_code`, so it is not validated yet.
    const read = v.safeParse(v.object({ [match]: text() }), { [match]: value });
    return read.success ? value : invalidBody(read.issues);
  }
  return invalidAt(
    `/${match}`,
    "required: An upsert needs the field that it matches",
  );
}

/** Moves a pointer of a restoration into its operation. */
function placeInOperation(pointer: string): string {
  return Object.hasOwn(RESTORATION, pointer.split("/")[1] ?? "") ? pointer : `/body${pointer}`;
}

/** The error of an atomic batch, with pointers to the operation that failed. */
export function failedAt(index: number, error: ApiError): ApiError {
  const operation = `/operations/${index}`;
  const { code, message, headers } = error;
  const details = error.details.flatMap((detail): ErrorDetail[] =>
    "pointer" in detail
      ? [{ ...detail, pointer: `${operation}${placeInOperation(detail.pointer)}` }]
      : []
  );
  const whole = { pointer: operation, code: code.toLowerCase(), message };
  return new ApiError(code, `Operation ${index} failed: ${message}`, {
    cause: error,
    details: details.length > 0 ? details : [whole],
    headers,
  });
}
