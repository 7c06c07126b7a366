import { idOfCode } from "../../code_ids.ts";
import {
  codeOf,
  type Column,
  elementOf,
  type Field,
  type Fields,
  type Values,
} from "../../fields.ts";
import { CODE_LISTS } from "../../onix_codes.ts";
import { ARRAYS, FIELDS, SCALARS } from "../../product.ts";
import { RECORDS } from "../../records.ts";
import { isPartOf } from "../rules/facts.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { dateIn } from "../xml/dates.ts";
import { isbnOf } from "../xml/converted.ts";
import { NO_PUBLISHER } from "../xml/mend.ts";
import { check, checked } from "./checks.ts";
import { COLLECTION_FIELDS, collections } from "./collections.ts";
import {
  CONTRIBUTOR_FIELDS,
  type ContributorRow,
  contributors,
} from "./contributors.ts";
import { codecOf, codecOfEntry, projectFields } from "./fields.ts";
import { codecAt, isAt, type Step, stepsOf } from "./path.ts";
import {
  type Codec,
  type RecordReader,
  scalar,
  textOf,
} from "./record_reader.ts";
import { objectsIn } from "../../objects.ts";
import { compositesOf } from "./entries.ts";
import { BoundedTree, type Entry } from "../../bodies.ts";

/*
 * What a record says of a product, field by field. In: the descriptions of a product's
 * fields with their places. Out: for each field how it is read and written, its block, and
 * what the product has for it.
 */

/** The blocks of a record, which a partial update replaces as wholes. */
export const BLOCKS = [
  "DescriptiveDetail",
  "CollateralDetail",
  "PromotionDetail",
  "ContentDetail",
  "PublishingDetail",
  "RelatedMaterial",
  "ProductionDetail",
  "ProductSupply",
] as const;

export type Block = typeof BLOCKS[number];

/** What a record is written from. */
export interface Book {
  /** The full product, as `GET /products/{id}` shows it, with `product_territories` and `product_sales_rights`. */
  product: Record<string, unknown>;
  /** The records of its contributors, as `GET /contributors/{id}` shows them, by id. */
  contributors: Readonly<Record<string, Record<string, unknown>>>;
  /** The identifiers of its publisher and its imprint. */
  identifiers: Readonly<Record<PartyName, readonly Entry[]>>;
  /** The name of the organization. */
  organization: string;
  /** The reference that the product is bound to. Null: `urn:uuid:` and its id. */
  reference: string | null;
}

/** A field in a record. */
export interface Mapped extends Codec {
  /** Its block. Null: before the blocks. */
  block: Block | null;
  /** Its place there: a path, or the composite that it is about. */
  place: string;
  /** What the product has for it. */
  valueIn(book: Book): unknown;
  /** Removes the elements of the record that the product referred to before, except its name. */
  leave?(composite: Element): void;
}

/** The fields that name one record, with the references that products have to it. */
export const REFERENCES: Readonly<Record<string, string>> = {
  publisher: "publisher_id",
  imprint: "imprint_id",
};

/** The parties that a product refers to, and that may have identifiers. */
export type PartyName = "publisher" | "imprint";

/** What identifies them, by the fields in which a record says it. */
export const IDENTIFIERS: Readonly<Record<`${PartyName}_identifiers`, Values>> =
  {
    publisher_identifiers: RECORDS.publishers.fields.identifiers as Values,
    imprint_identifiers: RECORDS.imprints.fields.identifiers as Values,
  };

/** The places of their names. */
const PARTY_PLACES: Readonly<Record<PartyName, string>> = {
  publisher: "Publisher[PublishingRole=01]/PublisherName",
  imprint: "Imprint/ImprintName",
};

/** The code of a product without a form (List 150). */
const UNDEFINED_FORM = "00";

/** The codes of product forms by the ids that products have. */
const FORM_CODES = new Map(
  CODE_LISTS[150].codes.map(({ code }) => [idOfCode("150", code), code]),
);

/** What the name of a party is. */
const NAME = COLLECTION_FIELDS.name as Column;

/** The types of collateral in the order in which a record has them. */
export const COLLATERAL_TYPES = [
  "text_content",
  "cited_content",
  "award",
] as const;

/** The fields that a record has by names and codes, and the product by references or in other fields. */
const UNDER_OTHER_NAMES: Readonly<Record<string, Mapped>> = {
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
  imprint: linked(
    PARTY_PLACES.imprint,
    NAME,
    ({ product }) => product.imprint_name,
  ),
  publisher: linked(
    PARTY_PLACES.publisher,
    NAME,
    ({ product }) => product.publisher_name,
  ),
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
    COLLATERAL_TYPES.map((type) => [type, collateral(type)]),
  ),
  cover_image_url: ownField("cover_image_url", "SupportingResource", cover()),
  product_availability: {
    block: "ProductSupply",
    place: "ProductSupply",
    ...checked(availability(), codeOf(65).body!),
    valueIn: ({ product }) => product.product_availability_code,
  },
};

/** The arrays of a product of which other fields hold some entries. */
const OWN_ARRAYS: Readonly<Record<string, Codec>> = {
  product_identifiers: entriesBut("product_identifiers", isElsewhere),
  publishing_dates: entriesBut("publishing_dates", dayOfPublication()),
  product_territories: supplies(),
  product_sales_rights: salesRights(),
};

/** Every field that a record says something for. Most follow from their descriptions. */
export const MAPPING: Readonly<Record<string, Mapped>> = {
  ...Object.fromEntries(
    // Arrays go first: a month of publication in one makes room for the day.
    Object.entries({ ...ARRAYS, ...SCALARS } as Fields).flatMap(
      ([name, field]) => {
        const place = isSaid(name, field) ? elementOf(name, field) : null;
        if (place === null) return [];
        const codec = OWN_ARRAYS[name] ?? entriesBut(name, isOfAnother(name));
        return [[name, ownField(name, place, codec)]];
      },
    ),
  ),
  ...UNDER_OTHER_NAMES,
};

/** The fields with their names. */
export const MAPPED = Object.entries(MAPPING);

/** Whether a record says the field itself. */
function isSaid(name: string, field: Field): boolean {
  if (name in UNDER_OTHER_NAMES) return false;
  switch (field.kind) {
    case "column":
      return field.body !== undefined && !field.refers;
    case "rows":
      return field.path !== undefined;
    default:
      return field.kind === "values" || field.kind === "list";
  }
}

/** The block that has the first element of a path, by the content models. */
function blockWith(path: string): Block | null {
  const [{ name }] = stepsOf(path) as [Step];
  if (name === "ProductSupply") return name;
  return BLOCKS.find((block) => isPartOf(name, block)) ?? null;
}

/** A field that has the product's name for it. */
function ownField(name: string, place: string, codec: Codec): Mapped {
  const valueIn: Mapped["valueIn"] = ({ product }) => product[name];
  return { block: blockWith(place), place, ...codec, valueIn };
}

/** A name or code that links to a record. `none` is the code of a product without a link. */
function linked(
  place: string,
  { body }: Column,
  valueIn: Mapped["valueIn"],
  none?: string,
): Mapped {
  const codec = checked(codecAt(place), body!);
  const [step, leaf] = stepsOf(place) as [Step, Step?];
  const read: Codec["read"] = (composite, reader) => {
    const value = codec.read(composite, reader);
    if (leaf) warnOfNameless(composite, step, leaf, reader);
    return value === none || isStandIn(composite, step) ? undefined : value;
  };
  const leave: Mapped["leave"] = (composite) => {
    const found = leaf &&
      childrenOf(composite, step.name).find((each) => isAt(step, each));
    if (!found) return;
    const codes = step.codes.map(([name]) => name);
    found.children = found.children.filter(({ name }) =>
      name === leaf.name || codes.includes(name)
    );
  };
  return { block: blockWith(place), place, ...codec, read, valueIn, leave };
}

/** Warns of the composites of a step that have its codes, and no name. */
function warnOfNameless(
  parent: Element,
  { name, codes }: Step,
  leaf: Step,
  reader: RecordReader,
): void {
  for (const each of childrenOf(parent, name)) {
    const hasCodes = codes.every(([code]) => child(each, code));
    if (hasCodes && !childValue(each, leaf.name)) reader.lacks(each, leaf.name);
  }
}

/** Whether the composite of a step stands in for a publisher that the product does not have. */
function isStandIn(parent: Element, { name }: Step): boolean {
  return child(parent, name)?.attributes.sourcename === NO_PUBLISHER;
}

/**
 * The identifiers of a party that a record names. They are values of the party, not of the
 * product, so they have no form to compare. What goes out is the record's, but of a type that
 * the party has, as the party has it.
 */
function identifiersOf(party: PartyName): Mapped {
  const [step, leaf] = stepsOf(PARTY_PLACES[party]) as [Step, Step];
  const field = IDENTIFIERS[`${party}_identifiers`];
  const all = codecOf("identifiers", field, step.name)!;
  const typeOf = field.distinct![0]!.keyOf;
  const partyIn = (block: Element) => {
    const found = block.children.find((each) => isAt(step, each));
    const isNamed = found && childValue(found, leaf.name) !== undefined;
    return isNamed && !isStandIn(block, step) ? found : undefined;
  };
  const read: Codec["read"] = (block, reader) => {
    const found = partyIn(block);
    return found && all.read(found, reader);
  };
  return {
    block: blockWith(step.name),
    place: PARTY_PLACES[party].replace(leaf.name, `${step.name}Identifier`),
    read,
    write(block, now, _, reader) {
      const before = objectsIn(read(block, reader));
      let after = before;
      for (const own of objectsIn(now)) {
        const [first, ...others] = after.filter((one) =>
          typeOf(one) === typeOf(own)
        );
        if (!first) after = [...after, own];
        else if (first.id_value !== own.id_value) {
          after = after.filter((one) => !others.includes(one))
            .map((one) => one === first ? own : one);
        }
      }
      const found = partyIn(block);
      if (found && after !== before) all.write(found, after, before, reader);
    },
    project: () => undefined,
    valueIn: ({ identifiers }) => identifiers[party],
  };
}

/** The entries that say another field, such as the extent that is the page count. */
function isOfAnother(array: string): (each: Element) => boolean {
  const places = Object.entries(FIELDS).flatMap(([name, field]) => {
    const place = field.kind === "column" && isSaid(name, field)
      ? elementOf(name, field)
      : null;
    const steps = place === null ? [] : stepsOf(place);
    return name !== array && steps[0]?.codes.length ? [steps] : [];
  });
  return (each) =>
    places.some(([step, leaf]) =>
      isAt(step!, each) && (!leaf || childValue(each, leaf.name) !== undefined)
    );
}

/** An array without some of the entries in the record, or any other field. */
function entriesBut(
  name: string,
  isElsewhere: (each: Element) => boolean,
): Codec {
  const field = FIELDS[name]!;
  const whole = codecOf(name, field, "Product")!;
  if (field.kind === "column") return checked(whole, field.body!, name);
  if (field.kind !== "values") return whole;
  return compositesOf(elementOf(name, field)!, {
    ...codecOfEntry(elementOf(name, field)!, field),
    isElsewhere,
  });
}

/** The day of publication has a field of its own. A year or month announces it. */
function dayOfPublication(): (date: Element) => boolean {
  const isPublication = isOfAnother("publishing_dates");
  return (date) => {
    const read = isPublication(date) ? dateIn(date) : undefined;
    return read !== undefined && !("date" in read && read.date.length < 10);
  };
}

/** ISBNs have fields of their own, and the product's own code is none of its identifiers. */
function isElsewhere(identifier: Element): boolean {
  return isbnOf(identifier) !== undefined ||
    childValue(identifier, "IDTypeName") === PRODUCT_CODE &&
      childValue(identifier, "ProductIDType") === "01";
}

/** The proprietary type of the product's code, which identifies a product without other identifiers. */
export const PRODUCT_CODE = "product_code";

/** The collateral of one type, whose entries have `collateral_type` in bodies. */
function collateral(type: typeof COLLATERAL_TYPES[number]): Mapped {
  const { fields, element, same } = ARRAYS.collateral.types![type]!;
  const entry = codecOfEntry(element, { fields, same });
  return {
    block: "CollateralDetail",
    place: element,
    ...compositesOf(element, {
      ...entry,
      read: (each, reader) => ({
        collateral_type: type,
        ...entry.read(each, reader),
      }),
    }),
    valueIn: ({ product }) =>
      objectsIn(product.collateral).filter(({ collateral_type }) =>
        collateral_type === type
      ),
  };
}

/** The first link of the first front cover. A product without resources may still have a cover URL. */
function cover(): Codec {
  const isFront = (each: Element) =>
    childValue(each, "ResourceContentType") === "01" &&
    childValue(each, "ResourceMode") === "03";
  const linkOf = (parent: Element) =>
    childrenOf(parent, "SupportingResource").filter(isFront)
      .flatMap((each) => childrenOf(each, "ResourceVersion"))
      .map((version) => child(version, "ResourceLink"))
      .find((link) => valueOf(link));
  return {
    find: linkOf,
    // It follows from the resources that a product can have.
    read: () => undefined,
    write(parent, now, before) {
      const url = textOf(now);
      const link = linkOf(parent);
      if (url === undefined) return;
      if (link) {
        // A link that was changed itself stays.
        if (valueOf(link) === before) link.text = url;
        return;
      }
      parent.children.push(element("SupportingResource", [
        element("ResourceContentType", "01"),
        element("ContentAudience", "00"),
        element("ResourceMode", "03"),
        element("ResourceVersion", [
          element("ResourceForm", "01"),
          element("ResourceLink", url),
        ]),
      ]));
    },
    project: scalar,
  };
}

/** The supplies, if they have no more entries than a body may have. */
function supplies(): Codec {
  const all = codecOf(
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

/** The sales rights, and after them that of the rest of the world, an element of its own without territory. */
function salesRights(): Codec {
  const { fields } = ARRAYS.product_sales_rights;
  const rest = "ROWSalesRightsType";
  const typeOfRest = checked(
    codecAt(rest),
    (fields.sales_rights_type as Column).body!,
  );
  const isRest = (entry: Record<string, unknown>) =>
    entry.is_rest_of_world === true;
  const entry = codecOfEntry("SalesRights", ARRAYS.product_sales_rights);
  const inTerritory = compositesOf("SalesRights", entry);
  return {
    find: (parent, index = 0) =>
      [...childrenOf(parent, "SalesRights"), ...childrenOf(parent, rest)][
        index
      ],
    read(parent, reader) {
      const rights = inTerritory.read(parent, reader) as unknown[] | undefined;
      const found = child(parent, rest);
      const code = rights && typeOfRest.read(parent, reader);
      if (!found || !code) return rights;
      const right = { sales_rights_type: code, is_rest_of_world: true };
      const { result } = reader.attempt(() =>
        entry.accept(right, found, reader)
      );
      return result ? [...rights, reader.tie(found, result)] : rights;
    },
    write(parent, now, before, reader) {
      const all = objectsIn(now);
      inTerritory.write(
        parent,
        all.filter((entry) => !isRest(entry)),
        objectsIn(before).filter((entry) => !isRest(entry)),
        reader,
      );
      setChild(parent, rest, textOf(all.find(isRest)?.sales_rights_type));
    },
    project: (value) => {
      const all = objectsIn(value).map((entry) => ({
        ...projectFields(fields, "SalesRights", entry),
        ...isRest(entry) && { is_rest_of_world: true },
      }));
      // An element can say one for the rest of the world, and says it last.
      all.sort((a, b) =>
        Number("is_rest_of_world" in a) - Number("is_rest_of_world" in b)
      );
      return all.length > 0 ? all : undefined;
    },
  };
}

/** The availability, if all supply details have the same. A changed one is that of all that had the old one. */
function availability(): Codec {
  const name = "ProductAvailability";
  const detailsIn = (product: Element) =>
    childrenOf(product, "ProductSupply")
      .flatMap((supply) => childrenOf(supply, "SupplyDetail"));
  const codesIn = (product: Element) =>
    detailsIn(product).flatMap((detail) => childrenOf(detail, name))
      .filter((each) => valueOf(each) !== undefined);
  return {
    find: (product) => codesIn(product)[0],
    read(product, reader) {
      const [first, ...others] = codesIn(product);
      const code = valueOf(first);
      if (!first || others.some((other) => valueOf(other) !== code)) return;
      reader.claim(first);
      return code;
    },
    write(product, now, before) {
      const code = textOf(now);
      if (code === undefined) return;
      const old = codesIn(product).length > 0 ? textOf(before) : undefined;
      for (const detail of detailsIn(product)) {
        if (childValue(detail, name) === old) setChild(detail, name, code);
      }
    },
    project: scalar,
  };
}

/** The first link of the first front cover (List 158, 01) that is an image (List 159, 03). */
export function coverOf(resources: unknown): unknown {
  const covers = objectsIn(resources).filter((resource) =>
    resource.resource_content_type === "01" && resource.resource_mode === "03"
  );
  return covers.flatMap(({ resource_versions }) => objectsIn(resource_versions))
    .flatMap(({ resource_links }) => resource_links ?? [])[0];
}

/** The values of a record, those of its blocks only if it has them. */
export type RecordValues = Record<string, unknown>;

/** A record that was read. */
export interface Reading {
  record: Element;
  values: RecordValues;
  reader: RecordReader;
}

/** The fields in which a product differs from a record, with the product's values. */
export type Differences = Readonly<Record<string, unknown>>;

/** The values in a record. Those of absent blocks are undefined. */
export function readValues(
  record: Element,
  reader: RecordReader,
): RecordValues {
  const values: RecordValues = {};
  for (const [name, { block, read }] of MAPPED) {
    const container = containerOf(record, block);
    if (!container) continue;
    const { result, isWhole } = reader.attempt(() => read(container, reader));
    if (!isWhole) reader.markUnreadable(name);
    if (result !== undefined) values[name] = result;
  }
  values.cover_image_url = coverOf(values.supporting_resources);
  return values;
}

/** The composite in which a field of the block stands. */
export function containerOf(
  record: Element,
  block: Block | null,
): Element | undefined {
  // Each `ProductSupply` is an entry of its own.
  return block === null || block === "ProductSupply"
    ? record
    : child(record, block);
}

/** The element of a field of the product in a record, or of the entry with this index. */
export function elementOfField(
  record: Element,
  name: string,
  index?: number,
): Element | undefined {
  const { block, find } = MAPPING[name]!;
  const container = containerOf(record, block);
  return container && find?.(container, index);
}

/** What a product has once, with the fields in which a repetition is the same. */
const ONCE: Readonly<Record<string, readonly string[]>> = {
  contributors: Object.keys(CONTRIBUTOR_FIELDS),
  collections: ["name"],
};

/** The entries that a product has once, and that are the same as an earlier one. */
export function repeatedIn(name: string, value: unknown): Set<Entry> {
  const key = ONCE[name];
  const seen = new Set<string>();
  const repeated = !key ? [] : objectsIn(value).filter((entry) => {
    const id = JSON.stringify(key.map((field) => entry[field]));
    return seen.has(id) || !seen.add(id);
  });
  return new Set(repeated);
}
