import * as v from "valibot";
import {
  CreateProduct,
  type Entry,
  isOfProduct,
  type ProductBody,
  UpdateProduct,
} from "./bodies.ts";
import { type ApiError, invalidBody, MAX_ERRORS, pointerTo } from "./errors.ts";
import { type Fields, namesIn } from "./fields.ts";
import { sentField, withNames } from "./named.ts";
import { isObject } from "./objects.ts";
import { ROWS, SCALARS } from "./product.ts";
import { REFERENCES } from "./references.ts";

/*
 * Keeps what is valid in an invalid body, so that one response lists all errors. The references and
 * dates among the invalid fields are checked against stored records. For example, a body with an
 * empty title and an unknown `license_id` gets both errors.
 */

/** Validates a body as that of `POST /products` or `PUT /products/{id}`. */
export function validBody(
  method: "create" | "update",
  body: Record<string, unknown>,
): ProductBody | ApiError {
  const schema = method === "create" ? CreateProduct : UpdateProduct;
  const result = v.safeParse(schema, body);
  return result.success ? result.output : refusedBody(schema, body, result.issues);
}

/**
 * Returns the error of a body with these issues. For a product, the error keeps the valid
 * references and dates.
 */
export function refusedBody(
  schema: v.GenericSchema,
  sent: unknown,
  issues: readonly v.BaseIssue<unknown>[],
): ApiError {
  const error = invalidBody(issues);
  // Beyond this number, values are not validated.
  const isWhole = isObject(sent) && issues.length <= MAX_ERRORS;
  if (isWhole) error.sent = sent;
  if (isWhole && isOfProduct(schema)) {
    error.accepted = acceptedParts(sent, new Set(issues.map(pointerTo)));
  }
  return error;
}

/**
 * Returns the references and dates of a body, in its structure. References at the refused pointers
 * are null.
 */
function acceptedParts(
  sent: Entry,
  refused: ReadonlySet<string>,
): ProductBody {
  const accepted: Entry = acceptedReferences(sent, "", undefined, SCALARS, refused);
  for (const [array, { fields }] of ROWS) {
    if (!(array in sent) || !REFERENCES_BY_ARRAY.has(array)) continue;
    const given = sent[array];
    const entries = Array.isArray(given) && !refused.has(`/${array}`)
      ? given
      // The array is invalid, so it may have had any reference.
      : [undefined];
    accepted[array] = entries.map((entry, i) =>
      acceptedReferences(entry, `/${array}/${i}`, array, fields, refused)
    );
  }
  const isRefused = (name: string) =>
    refused.values().some((pointer) => `${pointer}/`.startsWith(`/${name}/`));
  for (const name of DATE_FIELDS) {
    if (name in sent && !isRefused(name)) accepted[name] = sent[name];
  }
  return accepted;
}

/** The dates of a product: stored dates may contradict those of the body. */
const DATE_FIELDS = ["publication_date", "publishing_dates"];

/** The fields that refer to records, by the array that has them. */
const REFERENCES_BY_ARRAY = Map.groupBy(REFERENCES, ({ array }) => array?.name);

function acceptedReferences(
  sent: unknown,
  at: string,
  array: string | undefined,
  fields: Fields,
  refused: ReadonlySet<string>,
): Entry {
  const isRead = isObject(sent) && !refused.has(at);
  const named = isRead ? withNames(sent, namesIn(fields)) : {};
  const accepted: Entry = {};
  for (const { field } of REFERENCES_BY_ARRAY.get(array) ?? []) {
    const isGiven = field in named;
    // An entry has all of its references, known or not.
    if (!isGiven && array === undefined) continue;
    const isRefused = refused.has(`${at}/${sentField(named, field)}`);
    accepted[field] = isGiven && !isRefused ? named[field] : null;
  }
  return accepted;
}
