import * as v from "valibot";
import { Collateral, NewCollateral } from "./collateral.ts";
import { ANSWERED } from "./derived.ts";
import { chosen, fields, isObject, list, step } from "./fields.ts";
import { CURRENCIES } from "./onix_codes.ts";
import {
  Amount,
  Day,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  NoId,
  Percent,
  type RawNumber,
  text,
  Uuid,
} from "./values.ts";

/** The columns of a product that a client may write (specification, 2.1). */
export const CORE = {
  title: heading(500),
  subtitle: v.nullable(text()),
  isbn13: v.nullable(Isbn13),
  isbn10: v.nullable(Isbn10),
  page_count: v.nullable(v.pipe(
    v.number("invalid_type: Expected a whole number"),
    v.check(
      (pages) =>
        Number.isInteger(pages) && pages >= 1 && pages <= 2_147_483_647,
      "out_of_range: Expected a whole number from 1 to 2147483647",
    ),
    v.metadata({ type: "integer", minimum: 1, maximum: 2_147_483_647 }),
  )),
  publication_date: v.nullable(Day),
  format_id: v.nullable(Uuid),
  title_id: v.nullable(Uuid),
  publishing_status_id: v.nullable(Uuid),
  product_availability_id: v.nullable(Uuid),
  lifecycle_status_id: v.nullable(Uuid),
  license_id: v.nullable(Uuid),
  season_id: v.nullable(Uuid),
  publisher_id: v.nullable(Uuid),
  division_id: v.nullable(Uuid),
  imprint_id: v.nullable(Uuid),
  series_id: v.pipe(
    v.nullable(Uuid),
    v.description("One of the product's collections."),
  ),
  product_form_id: v.pipe(
    v.nullable(Uuid),
    v.description(
      "Written to the product's format, and so to every product on that format; without a format it has no effect.",
    ),
  ),
  product_type: v.nullable(oneOf(
    "normal",
    "kit",
    "kit_part",
    "indent",
    "charge",
    "special",
    "trade_only",
  )),
  cover_image_url: v.nullable(HttpUrl),
};

export const Currency = v.picklist(
  CURRENCIES,
  "invalid_code: Expected a currency of ISO 4217, in capitals",
);

const AMOUNTS = {
  retail_price: optional(Amount),
  retail_price_inc_tax: optional(Amount),
  list_price: optional(Amount),
  tax_rate: optional(Percent),
  valid_from: optional(Day),
  valid_to: optional(Day),
};

const IsDefault = v.pipe(
  v.nullable(v.boolean("invalid_type: Expected true or false")),
  v.transform((isDefault) => isDefault ?? false),
);

export const NewPrice = price({
  id: NoId,
  currency_code: Currency,
  is_default: v.optional(IsDefault, false),
});

export const ChangedPrice = price({
  id: Uuid,
  currency_code: v.optional(Currency),
  is_default: v.optional(IsDefault),
});

export const Unit = oneOf("inner", "outer", "pallet");

export const NewPacking = fields({ id: NoId, unit_of_measure: Unit });

export const ChangedPacking = fields({
  id: Uuid,
  unit_of_measure: v.optional(Unit),
});

export const Contributor = fields({
  contributor_id: Uuid,
  contributor_role_id: Uuid,
}, ["contributor_name", "contributor_role_name", "contributor_role_code"]);

export const Collection = fields({ collection_id: Uuid });

export const CustomField = fields({
  field_id: Uuid,
  field_value: v.nullable(v.union(
    [
      text(),
      v.number(),
      v.boolean(),
      v.custom<RawNumber>(isExactNumber),
    ],
    ({ input }) =>
      JSON.isRawJSON(input)
        ? "inexact_number: This number cannot be kept digit by digit: send it as a string"
        : "invalid_type: Expected a string, a number, a boolean or null",
  )),
}, ["field_name"]);

/** The arrays of a product (specification, 2.2), of which all but two are given whole. */
const LINKS = {
  contributors: list(Contributor, "contributor_id", "contributor_role_id"),
  product_collections: list(Collection, "collection_id"),
  custom_fields: list(CustomField, "field_id"),
};

const { title, ...optionalCore } = CORE;

/** A body of `POST /products`. */
export const CreateProduct = fields({
  title,
  ...v.partial(v.object({
    ...optionalCore,
    ...LINKS,
    product_prices: list(NewPrice),
    packing_configurations: list(NewPacking),
    collateral: list(NewCollateral),
  })).entries,
}, ANSWERED);

/**
 * A body of `PUT /products/{id}`: any part of a product. An absent field
 * leaves the product alone; a null clears it.
 */
export const UpdateProduct = fields(
  v.partial(v.object({
    title,
    ...optionalCore,
    ...LINKS,
    product_prices: list(merged(ChangedPrice, NewPrice), "id"),
    packing_configurations: list(merged(ChangedPacking, NewPacking), "id"),
    collateral: list(Collateral, "id"),
  })).entries,
  ANSWERED,
);

/** What a client may write of a product; what is absent is not to be touched. */
export type ProductBody = v.InferOutput<typeof UpdateProduct>;

/** A row to be changed where the entry has an `id`, else one to be created. */
function merged<
  const C extends v.GenericSchema<unknown, object>,
  const N extends v.GenericSchema<unknown, object>,
>(changed: C, created: N) {
  return chosen<v.InferOutput<C> | v.InferOutput<N>>(
    [created, changed],
    (entry) => isObject(entry) && "id" in entry ? changed : created,
  );
}

/** A price ends no earlier than it begins. */
function price<const E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    fields({ ...entries, ...AMOUNTS }),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value as {
        valid_from?: unknown;
        valid_to?: unknown;
      };
      const { valid_from, valid_to } = input;
      if (
        !v.is(Day, valid_from) || !v.is(Day, valid_to) || valid_from <= valid_to
      ) return;
      addIssue({
        message: "invalid_date: A price ends on the day it begins, or later",
        path: [step("object", input, "valid_to")],
      });
    }),
  );
}

function oneOf<const T extends readonly string[]>(...values: T) {
  return v.picklist(
    values,
    `invalid_value: Expected one of ${values.join(", ")}`,
  );
}

/** PostgreSQL keeps the digits of a plain decimal number, however many. */
function isExactNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value) &&
    /^-?\d{1,100}(\.\d{1,100})?$/.test(value.rawJSON) &&
    !/^-[0.]+$/.test(value.rawJSON);
}

function optional<const S extends v.GenericSchema>(schema: S) {
  return v.optional(v.nullable(schema));
}
