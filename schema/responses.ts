import * as v from "valibot";
import { entryOf, objectOf } from "./bodies.ts";
import type { Fields, Rows } from "./fields.ts";
import { ARRAYS, LISTED, SCALARS } from "./product.ts";
import { described } from "./values.ts";
import { isShared, PRODUCTS, RECORDS, type RecordTable } from "./records.ts";

/** A record. */
export function recordResponse(table: RecordTable) {
  const { fields } = RECORDS[table];
  return objectOf(
    isShared(table) ? fields : { ...fields, products: PRODUCTS },
    "shown",
  );
}

/** A full product, in responses to get, create and update. */
export const Product = objectOf({ ...SCALARS, ...ARRAYS }, "shown");

/** A product in a list, with the arrays that `include` names. */
export const ListedProduct = v.object({
  ...shownEntries(SCALARS),
  ...v.partial(v.object(shownEntries(LISTED as Fields))).entries,
  product_territories: described(
    "The markets of the product, with `include=supply_details` also the suppliers and prices there.",
    v.optional(v.array(v.union([
      entryOf(ARRAYS.product_territories, "shown"),
      entryOf(LISTED.product_territories as Rows, "shown"),
    ]))),
  ),
});

function shownEntries(fields: Fields): v.ObjectEntries {
  return (objectOf(fields, "shown") as v.ObjectSchema<
    v.ObjectEntries,
    undefined
  >).entries;
}
