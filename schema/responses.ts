import * as v from "valibot";
import { objectOf } from "./bodies.ts";
import type { Fields } from "./fields.ts";
import { ARRAYS, LISTED, SCALARS } from "./product.ts";
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
  ...entriesOf(SCALARS),
  ...v.partial(v.object(entriesOf(LISTED as Fields))).entries,
});

function entriesOf(fields: Fields): v.ObjectEntries {
  return (objectOf(fields, "shown") as v.ObjectSchema<
    v.ObjectEntries,
    undefined
  >).entries;
}
