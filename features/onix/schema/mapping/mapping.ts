import { BoundedTree } from "../../../../schema/entry_limits.ts";
import { idOfCode } from "../../../../schema/code_ids.ts";
import {
  codeOf,
  elementOf,
  type Field,
  type Fields,
  type Values,
} from "../../../../schema/fields.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import { CODE_LISTS } from "../../../../schema/onix_codes.ts";
import { ARRAYS, FIELDS, SCALARS } from "../../../../schema/product.ts";
import { isbnOf } from "../valid/converted.ts";
import { dateIn } from "../xml/dates.ts";
import { childrenOf, childValue, type Element } from "../xml/element.ts";
import { audiences } from "./audiences.ts";
import { availability } from "./availability.ts";
import { check, checked } from "../codecs/checks.ts";
import { type Codec, type FieldCodec, scalar } from "../codecs/codec.ts";
import { COLLATERAL_TYPES, collateralOf } from "./collateral.ts";
import { collections } from "./collections.ts";
import { type ContributorRow, contributors } from "./contributors.ts";
import { cover } from "./cover.ts";
import { compositesOf } from "../codecs/entries.ts";
import { entryCodec, fieldCodec, projectionOf } from "../codecs/fields.ts";
import { identifiersOf, linked, namedParty } from "./linked.ts";
import { blockWith, type MappedField } from "./mapped.ts";
import { isAtSegment, segmentsOf } from "../codecs/path.ts";
import { salesRights } from "./sales_rights.ts";

/*
 * The mapping between the fields of a product and the elements of a record. In: the descriptions
 * of the fields, with their paths. Out: for each field its block, its codec, and the value that
 * the product has.
 */

/** The code of a product without a form (List 150). */
const UNDEFINED_FORM = "00";

/** The proprietary type of the product's code, which identifies a product without identifiers. */
export const PRODUCT_CODE = "product_code";

/** The codes of product forms by the ids that products have. */
const FORM_CODES = new Map(
  CODE_LISTS[150].codes.map(({ code }) => [idOfCode("150", code), code]),
);

/**
 * The fields whose mapping does not follow from their descriptions: a record has names instead of
 * references, or other elements.
 */
const IRREGULAR: Readonly<Record<string, MappedField>> = {
  product_form: linked(
    "product_form_id",
    "ProductForm",
    codeOf(150),
    ({ product }) => FORM_CODES.get(product.product_form_id as string),
    UNDEFINED_FORM,
  ),
  publishing_status: linked(
    "publishing_status_id",
    "PublishingStatus",
    codeOf(64),
    ({ product }) => product.publishing_status_code,
  ),
  imprint: namedParty("imprint"),
  publisher: namedParty("publisher"),
  imprint_identifiers: identifiersOf("imprint"),
  publisher_identifiers: identifiersOf("publisher"),
  collections: {
    field: "product_collections",
    block: "DescriptiveDetail",
    path: "Collection",
    ...collections,
    valueIn: ({ product }) => {
      const names = new Map(
        objectsIn(product.collections).map(({ id, name }) => [id, name]),
      );
      return objectsIn(product.product_collections).map((row) => ({
        id: row.collection_id,
        name: names.get(row.collection_id),
        part_number: row.part_number,
      }));
    },
  },
  contributors: {
    field: "contributors",
    block: "DescriptiveDetail",
    path: "Contributor",
    ...contributors,
    valueIn: ({ product, contributors }) =>
      objectsIn(product.contributors).map((row): ContributorRow => ({
        ...contributors[String(row.contributor_id)],
        role: String(row.contributor_role_code),
        name: String(row.contributor_name),
      })),
  },
  ...Object.fromEntries(
    COLLATERAL_TYPES.map((type) => [type, collateralOf(type)]),
  ),
  cover_image_url: productField("cover_image_url", "SupportingResource", cover()),
  product_availability: {
    field: "product_availability_id",
    block: "ProductSupply",
    path: "ProductSupply",
    ...checked(availability(), codeOf(65).body!),
    project: scalar,
    valueIn: ({ product }) => product.product_availability_code,
  },
};

/** The arrays whose codecs do not follow from their descriptions. */
const ARRAY_CODECS: Readonly<Record<string, ProductCodec>> = {
  audiences: audiences(),
  product_identifiers: entriesBut(
    "product_identifiers",
    ARRAYS.product_identifiers,
    isIsbnOrCode,
  ),
  publishing_dates: entriesBut("publishing_dates", ARRAYS.publishing_dates, isOfPublicationDay()),
  product_territories: supplies(),
  product_sales_rights: salesRights(),
};

/** Every field that a record can contain. Most follow from their descriptions. */
export const MAPPING: Readonly<Record<string, MappedField>> = {
  ...Object.fromEntries(
    // Arrays go first: a month of publication in one makes room for the day.
    Object.entries({ ...ARRAYS, ...SCALARS } as Fields).flatMap(([name, field]) => {
      const path = regularPath(name, field);
      return path === null ? [] : [[name, productField(name, path, codecOf(name, field))]];
    }),
  ),
  ...IRREGULAR,
};

/** The fields with their names. */
export const MAPPED_FIELDS = Object.entries(MAPPING);

/**
 * Returns the path of a field by its description. Null if it is irregular, or no record contains
 * it.
 */
function regularPath(name: string, field: Field): string | null {
  if (name in IRREGULAR) return null;
  switch (field.kind) {
    case "column":
      return field.body && !field.refers ? elementOf(name, field) : null;
    case "values":
    case "list":
      return elementOf(name, field);
    case "rows":
      return name in ARRAY_CODECS ? elementOf(name, field) : null;
    default:
      return null;
  }
}

/** The codec of a product's field. It may have its own projection. */
type ProductCodec = Codec & Partial<FieldCodec>;

/** A field that the product has under the same name. */
function productField(name: string, path: string, codec: ProductCodec): MappedField {
  const { project = projectionOf(path, FIELDS[name]!) } = codec;
  const valueIn: MappedField["valueIn"] = ({ product }) => product[name];
  return { field: name, block: blockWith(path), path, ...codec, project, valueIn };
}

/** Returns whether an element belongs to another field, as the extent with the page count does. */
function isOfAnotherField(array: string): (each: Element) => boolean {
  const paths = Object.entries(FIELDS).flatMap(([name, field]) => {
    const path = field.kind === "column" ? regularPath(name, field) : null;
    const segments = path === null ? [] : segmentsOf(path);
    return name !== array && segments[0]?.codes.length ? [segments] : [];
  });
  return (each) =>
    paths.some(([segment, leaf]) =>
      isAtSegment(segment!, each) && (!leaf || childValue(each, leaf.name) !== undefined)
    );
}

/** Returns the codec of a field. For an array, it omits elements that belong to another field. */
function codecOf(name: string, field: Field): ProductCodec {
  const known = ARRAY_CODECS[name];
  if (known) return known;
  if (field.kind === "values") return entriesBut(name, field, isOfAnotherField(name));
  const codec = fieldCodec(name, field, "Product")!;
  return field.kind === "column" ? checked(codec, field.body!, name) : codec;
}

/** An array without some of the entries in the record. */
function entriesBut(
  name: string,
  array: Values,
  isElsewhere: (each: Element) => boolean,
): Codec {
  const path = elementOf(name, array)!;
  return compositesOf(path, { ...entryCodec(path, array), isElsewhere });
}

/** The day of publication has a field of its own. A year or month announces it. */
function isOfPublicationDay(): (date: Element) => boolean {
  const isPublication = isOfAnotherField("publishing_dates");
  return (date) => {
    const read = isPublication(date) ? dateIn(date) : undefined;
    return read !== undefined && !("date" in read && read.date.length < 10);
  };
}

/** ISBNs have fields of their own, and the product's own code is none of its identifiers. */
function isIsbnOrCode(identifier: Element): boolean {
  return isbnOf(identifier) !== undefined ||
    childValue(identifier, "IDTypeName") === PRODUCT_CODE &&
      childValue(identifier, "ProductIDType") === "01";
}

/** The supplies, if they have no more entries than a body may have. */
function supplies(): Codec {
  const all = fieldCodec(
    "product_territories",
    ARRAYS.product_territories,
    "Product",
  )!;
  return {
    ...all,
    read(record, reader) {
      const found = childrenOf(record, "ProductSupply");
      const value = check(
        BoundedTree,
        all.read(record, reader),
        () => ({ element: found[0]! }),
        reader,
      );
      if (value === undefined) found.forEach((each) => reader.release(each));
      return value;
    },
  };
}
