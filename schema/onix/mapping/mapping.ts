import { BoundedTree } from "../../bodies.ts";
import { idOfCode } from "../../code_ids.ts";
import { codeOf, elementOf, type Field, type Fields, type Values } from "../../fields.ts";
import { objectsIn } from "../../objects.ts";
import { CODE_LISTS } from "../../onix_codes.ts";
import { ARRAYS, FIELDS, SCALARS } from "../../product.ts";
import { isbnOf } from "../xml/converted.ts";
import { dateIn } from "../xml/dates.ts";
import { childrenOf, childValue, type Element } from "../xml/element.ts";
import { availability } from "./availability.ts";
import { check, checked } from "./checks.ts";
import { type Codec, type FieldCodec, scalar } from "./codec.ts";
import { COLLATERAL_TYPES, collateralOf } from "./collateral.ts";
import { collections } from "./collections.ts";
import { type ContributorRow, contributors } from "./contributors.ts";
import { cover } from "./cover.ts";
import { compositesOf } from "./entries.ts";
import { entryCodec, fieldCodec, projectionOf } from "./fields.ts";
import { identifiersOf, linked, namedParty } from "./linked.ts";
import { blockWith, type MappedField } from "./mapped.ts";
import { isAt, stepsOf } from "./path.ts";
import { salesRights } from "./sales_rights.ts";

/*
 * What a record says of a product, field by field. In: the descriptions of a product's
 * fields with their places. Out: for each field how it is read and written, its block, and
 * what the product has for it.
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
 * The fields whose mapping does not follow from their descriptions: a record names what the
 * product refers to, or says them in other elements.
 */
const IRREGULAR: Readonly<Record<string, MappedField>> = {
  product_form: linked(
    "ProductForm",
    codeOf(150),
    ({ product }) => FORM_CODES.get(product.product_form_id as string),
    UNDEFINED_FORM,
  ),
  publishing_status: linked(
    "PublishingStatus",
    codeOf(64),
    ({ product }) => product.publishing_status_code,
  ),
  imprint: namedParty("imprint"),
  publisher: namedParty("publisher"),
  imprint_identifiers: identifiersOf("imprint"),
  publisher_identifiers: identifiersOf("publisher"),
  collections: {
    block: "DescriptiveDetail",
    place: "Collection",
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
    block: "DescriptiveDetail",
    place: "Contributor",
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
    block: "ProductSupply",
    place: "ProductSupply",
    ...checked(availability(), codeOf(65).body!),
    project: scalar,
    valueIn: ({ product }) => product.product_availability_code,
  },
};

/** The arrays whose codecs do not follow from their descriptions. */
const ARRAY_CODECS: Readonly<Record<string, ProductCodec>> = {
  product_identifiers: entriesBut(
    "product_identifiers",
    ARRAYS.product_identifiers,
    isIsbnOrCode,
  ),
  publishing_dates: entriesBut("publishing_dates", ARRAYS.publishing_dates, saysDayOfPublication()),
  product_territories: supplies(),
  product_sales_rights: salesRights(),
};

/** Every field that a record says something for. Most follow from their descriptions. */
export const MAPPING: Readonly<Record<string, MappedField>> = {
  ...Object.fromEntries(
    // Arrays go first: a month of publication in one makes room for the day.
    Object.entries({ ...ARRAYS, ...SCALARS } as Fields).flatMap(([name, field]) => {
      const place = regularPlace(name, field);
      return place === null ? [] : [[name, productField(name, place, codecOf(name, field))]];
    }),
  ),
  ...IRREGULAR,
};

/** The fields with their names. */
export const MAPPED_FIELDS = Object.entries(MAPPING);

/** The place of a field by its description. Null: it is irregular, or no record says it. */
function regularPlace(name: string, field: Field): string | null {
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

/** The codec of a product's field. It may say itself what is compared. */
type ProductCodec = Codec & Partial<FieldCodec>;

/** A field that the product has under the same name. */
function productField(name: string, place: string, codec: ProductCodec): MappedField {
  const { project = projectionOf(place, FIELDS[name]!) } = codec;
  const valueIn: MappedField["valueIn"] = ({ product }) => product[name];
  return { block: blockWith(place), place, ...codec, project, valueIn };
}

/** Whether an entry of an array says another field, as the extent does that is the page count. */
function saysAnotherField(array: string): (each: Element) => boolean {
  const places = Object.entries(FIELDS).flatMap(([name, field]) => {
    const place = field.kind === "column" ? regularPlace(name, field) : null;
    const steps = place === null ? [] : stepsOf(place);
    return name !== array && steps[0]?.codes.length ? [steps] : [];
  });
  return (each) =>
    places.some(([step, leaf]) =>
      isAt(step!, each) && (!leaf || childValue(each, leaf.name) !== undefined)
    );
}

/** How a field stands in a record, an array without the entries that say another field. */
function codecOf(name: string, field: Field): ProductCodec {
  const known = ARRAY_CODECS[name];
  if (known) return known;
  if (field.kind === "values") return entriesBut(name, field, saysAnotherField(name));
  const codec = fieldCodec(name, field, "Product")!;
  return field.kind === "column" ? checked(codec, field.body!, name) : codec;
}

/** An array without some of the entries in the record. */
function entriesBut(
  name: string,
  array: Values,
  isElsewhere: (each: Element) => boolean,
): Codec {
  const place = elementOf(name, array)!;
  return compositesOf(place, { ...entryCodec(place, array), isElsewhere });
}

/** The day of publication has a field of its own. A year or month announces it. */
function saysDayOfPublication(): (date: Element) => boolean {
  const isPublication = saysAnotherField("publishing_dates");
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
