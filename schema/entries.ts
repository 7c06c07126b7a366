import * as v from "valibot";
import { dated, fields } from "./objects.ts";
import { Amount, ExactNumber, Percent } from "./numbers.ts";
import { code } from "./onix_codes.ts";
import { shownFields } from "./references.ts";
import { Day, NoId, optional, text, Unit, Uuid } from "./values.ts";

/*
 * The entries of a product's arrays (specification, 2.2). The OpenAPI document
 * has each export under its name.
 */

export const CurrencyCode = code(
  96,
  "Expected a currency of ISO 4217, in capitals",
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

export const NewPrice = dated({
  id: NoId,
  currency_code: CurrencyCode,
  is_default: v.optional(IsDefault, false),
  ...AMOUNTS,
});

export const ChangedPrice = dated({
  id: Uuid,
  currency_code: v.optional(CurrencyCode),
  is_default: v.optional(IsDefault),
  ...AMOUNTS,
});

export const NewPackingConfiguration = fields({
  id: NoId,
  unit_of_measure: Unit,
});

export const ChangedPackingConfiguration = fields({
  id: Uuid,
  unit_of_measure: v.optional(Unit),
});

export const ContributorLink = fields({
  contributor_id: Uuid,
  contributor_role_id: Uuid,
}, Object.keys(shownFields("contributors")));

export const CollectionLink = fields({ collection_id: Uuid });

export const CustomFieldValue = fields({
  field_id: Uuid,
  field_value: v.nullable(v.union(
    [text(), v.number(), v.boolean(), ExactNumber],
    ({ input }) =>
      JSON.isRawJSON(input)
        ? "inexact_number: This number cannot be stored exactly: send it as a string"
        : "invalid_type: Expected a string, a number, a boolean or null",
  )),
}, Object.keys(shownFields("custom_fields")));
