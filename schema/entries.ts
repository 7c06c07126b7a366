import * as v from "valibot";
import { fields, isObject, step } from "./objects.ts";
import { Amount, ExactNumber, Percent } from "./numbers.ts";
import { CURRENCIES } from "./onix_codes.ts";
import { shownFields } from "./references.ts";
import { Day, NoId, oneOf, optional, text, Uuid } from "./values.ts";

/*
 * The entries of a product's arrays (specification, 2.2).
 */

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
}, Object.keys(shownFields("contributors")));

export const Collection = fields({ collection_id: Uuid });

export const CustomField = fields({
  field_id: Uuid,
  field_value: v.nullable(v.union(
    [
      text(),
      v.number(),
      v.boolean(),
      ExactNumber,
    ],
    ({ input }) =>
      JSON.isRawJSON(input)
        ? "inexact_number: This number cannot be stored exactly: send it as a string"
        : "invalid_type: Expected a string, a number, a boolean or null",
  )),
}, Object.keys(shownFields("custom_fields")));

function price<const E extends v.ObjectEntries>(entries: E) {
  return dated({ ...entries, ...AMOUNTS });
}

/** An object whose `valid_to` is not before its `valid_from`. */
export function dated<const E extends v.ObjectEntries>(
  entries: E,
  answered: readonly string[] = [],
) {
  return v.pipe(
    fields(entries, answered),
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value;
      if (!isObject(input)) return;
      const { valid_from, valid_to } = input;
      if (
        !v.is(Day, valid_from) || !v.is(Day, valid_to) || valid_from <= valid_to
      ) return;
      addIssue({
        message: "invalid_date: Expected a date that is not before valid_from",
        path: [step("object", input, "valid_to")],
      });
    }),
  );
}
