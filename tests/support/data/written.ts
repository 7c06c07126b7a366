import type { Field } from "../../../schema/fields.ts";
import { SCALARS } from "../../../schema/product.ts";

/** The fields of a product that a client writes, apart from its arrays. */
export const WRITTEN = Object.entries<Field>(SCALARS).flatMap(([name, field]) =>
  field.kind === "column" && field.body ? [name] : []
);
