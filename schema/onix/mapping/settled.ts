import * as v from "valibot";
import { CreateProduct, entryOf, pathBody } from "../../bodies.ts";
import type { Fields } from "../../fields.ts";
import { isObject, list, object } from "../../objects.ts";
import { ARRAYS, SCALARS } from "../../product.ts";
import { COLLECTION_FIELDS } from "./collections.ts";
import { CONTRIBUTOR_FIELDS } from "./contributors.ts";
import type { Element } from "../xml/element.ts";
import type { Reading } from "./reading.ts";
import { coverOf, readView, type Values, VIEW } from "./view.ts";

/*
 * The values of a record that a product can have, in the form in which it has them. What
 * the schemas of bodies refuse stays in the record alone.
 */

/** The types of collateral in the order in which a record has them. */
export const COLLATERAL = ["text_content", "cited_content", "award"] as const;

/** The fields without which, or with a wrong one, a record is rejected. */
const NEEDED = ["title", "isbn13", "isbn10"];

const LINKED_FIELDS: Fields = {
  contributors: { ...ARRAYS.contributors, fields: CONTRIBUTOR_FIELDS },
  collections: { ...ARRAYS.product_collections, fields: COLLECTION_FIELDS },
  publisher: COLLECTION_FIELDS.name!,
  imprint: COLLECTION_FIELDS.name!,
};

const Name = v.optional(v.nullable(nameSchema()));

const Linked = object({
  contributors: v.optional(list(entryOf(CONTRIBUTOR_FIELDS))),
  collections: v.optional(list(entryOf(COLLECTION_FIELDS), "name")),
  publisher: Name,
  imprint: Name,
});

const Paths = object({
  product_territories: v.optional(pathBody(ARRAYS.product_territories)),
  product_sales_rights: v.optional(pathBody(ARRAYS.product_sales_rights)),
});

function nameSchema(): v.GenericSchema {
  const { name } = COLLECTION_FIELDS;
  if (name?.kind !== "column") throw new TypeError("A name is a column");
  return name.body!;
}

/** The names of the fields that `CreateProduct` validates. The cover follows from the resources. */
const IN_BODY = Object.keys(VIEW).filter((name) => {
  if (name === "cover_image_url") return false;
  const array = (ARRAYS as Fields)[name];
  return name in SCALARS
    ? name !== "collections"
    : array?.kind === "values" || array?.kind === "list";
});

/** The values of a record by field, with warnings for what is left out. */
export function settledValues(record: Element, reading: Reading): Values {
  const read = readView(record, reading);
  const collateral = COLLATERAL.flatMap((type) => entriesOf(read[type]));
  const given: Values = { collateral };
  for (const name of IN_BODY) {
    if (read[name] !== undefined) given[name] = read[name];
  }
  // A partial update has no title, which a body must have.
  if (read.title === undefined) given.title = "-";
  const body = reading.settle(
    CreateProduct,
    given,
    { ...SCALARS, ...ARRAYS },
    NEEDED,
  );
  const { contributors = [], collections = [], publisher, imprint } = read;
  const linked = reading.settle(
    Linked,
    { contributors, collections, publisher, imprint },
    LINKED_FIELDS,
  );
  const paths = reading.settle(Paths, {
    product_territories: read.product_territories ?? [],
    product_sales_rights: read.product_sales_rights ?? [],
  }, ARRAYS);
  const values: Values = {
    ...read,
    contributors: linked.contributors ?? [],
    collections: linked.collections ?? [],
    publisher: linked.publisher,
    imprint: linked.imprint,
    product_territories: paths.product_territories ?? [],
    product_sales_rights: paths.product_sales_rights ?? [],
  };
  for (const name of IN_BODY) values[name] = body[name];
  if (read.title === undefined) delete values.title;
  for (const type of COLLATERAL) {
    values[type] = entriesOf(body.collateral)
      .filter(({ collateral_type }) => collateral_type === type);
  }
  values.cover_image_url = coverOf(body.supporting_resources);
  return values;
}

function entriesOf(value: unknown): Values[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
