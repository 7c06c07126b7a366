import * as v from "valibot";
import { CreateProduct, entryOf, pathBody } from "../../bodies.ts";
import { codeOf, type Column, elementOf, type Fields } from "../../fields.ts";
import { list, object } from "../../objects.ts";
import { ARRAYS, FIELDS, SCALARS } from "../../product.ts";
import type { Element } from "../xml/element.ts";
import { objectsIn } from "./codec.ts";
import { COLLECTION_FIELDS } from "./collections.ts";
import { CONTRIBUTOR_FIELDS } from "./contributors.ts";
import { codecOf } from "./fields.ts";
import {
  COLLATERAL_TYPES,
  containerOf,
  coverOf,
  MAPPING,
  type RecordValues,
} from "./mapping.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * The values of a record that a product can have. In: what was read of it. Out: the values by
 * field, in the form in which the schemas of bodies return them. What those refuse stays in
 * the record alone, with a warning.
 */

/** The fields with which a record is rejected if they are wrong, with what then stands for them. */
const NEEDED = { title: "-", isbn13: null, isbn10: null };

const name = COLLECTION_FIELDS.name as Column;

/** What products have by reference, and records by name or code. */
const LINKED = {
  publisher: name,
  imprint: name,
  product_form: codeOf(150),
  publishing_status: codeOf(64),
  product_availability: codeOf(65),
};

/** What is validated besides the body. */
const OTHER_FIELDS: Fields = {
  contributors: {
    ...ARRAYS.contributors,
    fields: CONTRIBUTOR_FIELDS,
    keepsRest: true,
  },
  collections: {
    ...ARRAYS.product_collections,
    fields: COLLECTION_FIELDS,
    keepsRest: true,
  },
  product_territories: ARRAYS.product_territories,
  product_sales_rights: ARRAYS.product_sales_rights,
  ...LINKED,
};

const OtherValues = object({
  contributors: v.optional(list(entryOf(CONTRIBUTOR_FIELDS))),
  collections: v.optional(list(entryOf(COLLECTION_FIELDS), "name")),
  product_territories: v.optional(pathBody(ARRAYS.product_territories)),
  product_sales_rights: v.optional(pathBody(ARRAYS.product_sales_rights)),
  ...Object.fromEntries(
    Object.entries(LINKED).map(([name, { body }]) => [
      name,
      v.optional(v.nullable(body!)),
    ]),
  ),
});

/** The names of the fields that `CreateProduct` validates. The cover follows from the resources. */
const IN_BODY = Object.keys(MAPPING).filter((name) => {
  if (name === "cover_image_url") return false;
  const array = (ARRAYS as Fields)[name];
  return name in SCALARS
    ? name !== "collections"
    : array?.kind === "values" || array?.kind === "list";
});

/** Keeps of the values that were read those that a product can have, and warns of the others. Changes `read`. */
export function validValues(
  read: RecordValues,
  reader: RecordReader,
): RecordValues {
  const body = reader.keepValid(
    CreateProduct,
    {
      collateral: COLLATERAL_TYPES.flatMap((type) => objectsIn(read[type])),
      // A partial update has no title, which a body must have.
      title: NEEDED.title,
      ...picked(read, IN_BODY),
    },
    FIELDS,
    locate,
    NEEDED,
  );
  const others = reader.keepValid(
    OtherValues,
    {
      product_territories: [],
      product_sales_rights: [],
      ...picked(read, Object.keys(OTHER_FIELDS)),
    },
    OTHER_FIELDS,
    locate,
  );
  const values: RecordValues = { ...others };
  for (const name of IN_BODY) values[name] = body?.[name];
  if (read.title === undefined) delete values.title;
  for (const type of COLLATERAL_TYPES) {
    values[type] = objectsIn(body?.collateral)
      .filter(({ collateral_type }) => collateral_type === type);
  }
  values.cover_image_url = coverOf(body?.supporting_resources);
  return values;
}

function picked(values: RecordValues, names: readonly string[]): RecordValues {
  return Object.fromEntries(
    names.flatMap((name) =>
      values[name] === undefined ? [] : [[name, values[name]]]
    ),
  );
}

/** The element of a field in the composite of its object. */
function locate(
  ...[name, field, composite, index]: Parameters<
    Parameters<RecordReader["keepValid"]>[3]
  >
): Element | undefined {
  if (composite.name === "Product") {
    const mapped = MAPPING[name];
    const container = mapped && containerOf(composite, mapped.block);
    return container && mapped.find?.(container, index);
  }
  if (elementOf(name, field) === null) return;
  return codecOf(name, field, composite.name)?.find?.(composite, index);
}
