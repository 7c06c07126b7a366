import * as v from "valibot";
import { amount, day, entry, field, percent, same } from "./entry.ts";
import { dated, fields } from "./objects.ts";
import { ExactNumber } from "./numbers.ts";
import { code } from "./onix_codes.ts";
import { shownFields } from "./references.ts";
import { NoId, oneOf, text, Uuid } from "./values.ts";

/*
 * The entries of a product's arrays, in bodies (specification, 2.2) and in
 * answers. The OpenAPI document has each export under its name.
 */

export const CurrencyCode = code(
  96,
  "Expected a currency of ISO 4217, in capitals",
);

const IsDefault = v.pipe(
  v.nullable(v.boolean("invalid_type: Expected true or false")),
  v.transform((isDefault) => isDefault ?? false),
);

const PRICE = {
  id: field(NoId, Uuid),
  currency_code: same(CurrencyCode),
  is_default: field(v.optional(IsDefault, false), v.boolean()),
  retail_price: amount,
  retail_price_inc_tax: amount,
  list_price: amount,
  tax_rate: percent,
  valid_from: day,
  valid_to: day,
};

const price = entry(PRICE);

export const Price = price.answer;
export const NewPrice = dated(price.body);
export const ChangedPrice = dated(
  entry({
    ...PRICE,
    id: same(Uuid),
    currency_code: field(v.optional(CurrencyCode), CurrencyCode),
    is_default: field(v.optional(IsDefault), v.boolean()),
  }).body,
);

const Unit = oneOf("inner", "outer", "pallet");

export const { body: NewPackingConfiguration, answer: PackingConfiguration } =
  entry({ id: field(NoId, Uuid), unit_of_measure: same(Unit) });
export const ChangedPackingConfiguration = fields({
  id: Uuid,
  unit_of_measure: v.optional(Unit),
});

export const { body: ContributorLink, answer: Contributor } = entry({
  contributor_id: same(Uuid),
  contributor_role_id: same(Uuid),
  ...shownFields("contributors"),
});

export const { body: CollectionLink, answer: ProductCollection } = entry({
  collection_id: same(Uuid),
});

const Value = v.union(
  [text(), v.number(), v.boolean(), ExactNumber],
  ({ input }) =>
    JSON.isRawJSON(input)
      ? "inexact_number: This number cannot be stored exactly: send it as a string"
      : "invalid_type: Expected a string, a number, a boolean or null",
);

export const { body: CustomFieldValue, answer: CustomField } = entry({
  field_id: same(Uuid),
  field_value: field(
    v.nullable(Value),
    v.nullable(v.union([v.string(), v.number(), v.boolean()])),
  ),
  ...shownFields("custom_fields"),
});
