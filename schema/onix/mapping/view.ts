import { idOfCode } from "../../code_ids.ts";
import { elementOf, type Field, type Fields } from "../../fields.ts";
import { isObject } from "../../objects.ts";
import { CODE_LISTS } from "../../onix_codes.ts";
import { ARRAYS, SCALARS } from "../../product.ts";
import { collections } from "./collections.ts";
import { type ContributorRow, contributors } from "./contributors.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { isbnPart, useAll } from "./identifiers.ts";
import {
  type Book,
  canonical,
  type Part,
  replaceChildren,
  scalar,
  setChild,
  textOf,
} from "./part.ts";
import { isbnOf, NO_PUBLISHER } from "../xml/mend.ts";
import type { Reading } from "./reading.ts";
import { readDate, writeDate } from "./dates.ts";
import {
  entriesOf,
  partOf,
  projectFields,
  readFields,
  writeFields,
} from "./straight.ts";
import { subtitle, title } from "./titles.ts";

/*
 * What a record says of a product, field by field: where it stands, how it is read and
 * written, and what the product has for it. The order is that of the blocks of a record.
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

/** A field in a record. */
export interface Place extends Part {
  /** Its block. Null: before the blocks. */
  block: Block | null;
  /** What the product has for it. */
  of(book: Book): unknown;
}

/** The fields of a product by name, as bodies have them. */
const FIELDS: Fields = { ...SCALARS, ...ARRAYS };

/** The code of a product without a form (List 150). */
const UNDEFINED_FORM = "00";

/** By which fields the entries of a type are told apart. */
const COLLATERAL_KEYS: Readonly<Record<string, readonly string[]>> = {
  text_content: ["text_type", "language"],
  cited_content: ["source_title"],
  award: ["prize_name"],
};

export const VIEW: Readonly<Record<string, Place>> = {
  isbn13: own(null, "isbn13", isbnPart("isbn13")),
  isbn10: own(null, "isbn10", isbnPart("isbn10")),
  product_identifiers: own(
    null,
    "product_identifiers",
    without("product_identifiers", isElsewhere),
  ),

  product_form: {
    block: "DescriptiveDetail",
    ...codePart("ProductForm", UNDEFINED_FORM),
    of: ({ product }) => FORMS.get(product.product_form_id as string),
  },
  ...straight("DescriptiveDetail", "product_form_details"),
  ...straight("DescriptiveDetail", "product_form_description"),
  ...straight("DescriptiveDetail", "primary_content_type"),
  ...straight("DescriptiveDetail", "measures"),
  ...straight("DescriptiveDetail", "epub_technical_protections"),
  collections: {
    block: "DescriptiveDetail",
    ...collections,
    of: ({ product }) => {
      const names = new Map(
        objects(product.collections).map(({ id, name }) => [id, name]),
      );
      return objects(product.product_collections).map((row) => ({
        name: names.get(row.collection_id),
        part_number: row.part_number,
      }));
    },
  },
  title: own("DescriptiveDetail", "title", title),
  subtitle: own("DescriptiveDetail", "subtitle", subtitle),
  contributors: {
    block: "DescriptiveDetail",
    ...contributors,
    of: ({ product, contributors }) =>
      objects(product.contributors).map((row): ContributorRow => ({
        ...contributors[String(row.contributor_id)],
        role: String(row.contributor_role_code),
        name: String(row.contributor_name),
      })),
  },
  ...straight("DescriptiveDetail", "edition_types"),
  ...straight("DescriptiveDetail", "edition_number"),
  ...straight("DescriptiveDetail", "edition_statement"),
  ...straight("DescriptiveDetail", "languages"),
  page_count: own("DescriptiveDetail", "page_count", pageCount()),
  extents: own("DescriptiveDetail", "extents", without("extents", isPageCount)),
  ...straight("DescriptiveDetail", "subjects"),
  ...straight("DescriptiveDetail", "audiences"),
  ...straight("DescriptiveDetail", "audience_ranges"),

  text_content: collateral("TextContent", "text_content"),
  cited_content: collateral("CitedContent", "cited_content"),
  ...straight("CollateralDetail", "supporting_resources"),
  cover_image_url: own("CollateralDetail", "cover_image_url", cover()),
  award: collateral("Prize", "award"),

  imprint: {
    block: "PublishingDetail",
    ...namedBy("Imprint", "ImprintName"),
    of: ({ product }) => product.imprint_name,
  },
  publisher: {
    block: "PublishingDetail",
    ...namedBy("Publisher", "PublisherName", {
      name: "PublishingRole",
      code: "01",
    }),
    of: ({ product }) => product.publisher_name,
  },
  ...straight("PublishingDetail", "city_of_publication"),
  ...straight("PublishingDetail", "country_of_publication"),
  publishing_status: {
    block: "PublishingDetail",
    ...codePart("PublishingStatus"),
    of: ({ product }) => product.publishing_status_code,
  },
  publication_date: own(
    "PublishingDetail",
    "publication_date",
    publicationDate(),
  ),
  publishing_dates: own(
    "PublishingDetail",
    "publishing_dates",
    without("publishing_dates", isPublication),
  ),
  product_sales_rights: own(
    "PublishingDetail",
    "product_sales_rights",
    salesRights(),
  ),

  ...straight("RelatedMaterial", "related_works"),
  ...straight("RelatedMaterial", "related_products"),

  product_territories: own(
    "ProductSupply",
    "product_territories",
    partOf("product_territories", FIELDS.product_territories!, "Product")!,
  ),
  product_availability: {
    block: "ProductSupply",
    ...availability(),
    of: ({ product }) => product.product_availability_code,
  },
};

/** The codes of product forms by the ids that products have. */
const FORMS = new Map(
  CODE_LISTS[150].codes.map(({ code }) => [idOfCode("150", code), code]),
);

/** A field that has the product's name for it. */
function own(block: Block | null, name: string, part: Part): Place {
  return { block, ...part, of: ({ product }) => product[name] };
}

/** A field that maps straight. */
function straight(block: Block, name: string): Record<string, Place> {
  const field = FIELDS[name]!;
  const part = partOf(name, field, block)!;
  const inner = elementOf(name, field)!;
  const isScalar = field.kind === "column";
  const read: Part["read"] = (composite, reading) => {
    const value = part.read(composite, reading);
    if (isScalar && value !== undefined) {
      reading.useFor(name, child(composite, inner)!);
    }
    return value;
  };
  return { [name]: own(block, name, { ...part, read }) };
}

/** An array without the entries that are fields of their own. */
function without(name: string, isElsewhere: (each: Element) => boolean): Part {
  const field = FIELDS[name]! as Field & { fields: Fields };
  const inner = elementOf(name, field)!;
  const whole = partOf(name, field, "Product")!;
  return {
    ...whole,
    read: (composite, reading) =>
      childrenOf(composite, inner).flatMap((each) =>
        isElsewhere(each)
          ? []
          : reading.from(each, readFields(field.fields, each, reading))
      ),
  };
}

/** A data element with a code that links to a record. */
function codePart(name: string, none?: string): Part {
  return {
    read(composite, reading) {
      const found = child(composite, name);
      const code = valueOf(found);
      if (found && code) reading.useFor(name, found);
      return code === none ? undefined : code;
    },
    write: (composite, now) => setChild(composite, name, textOf(now)),
    project: scalar,
  };
}

/** The first composite with a role, by its name. */
function namedBy(
  composite: string,
  name: string,
  role?: { name: string; code: string },
): Part {
  const find = (parent: Element) =>
    childrenOf(parent, composite).find((each) =>
      !role || childValue(each, role.name) === role.code
    );
  return {
    read(parent, reading) {
      const found = find(parent);
      if (!found || found.attributes.sourcename === NO_PUBLISHER) return;
      const value = childValue(found, name);
      if (value === undefined) return;
      reading.useFor(composite, child(found, name)!);
      const code = role && child(found, role.name);
      if (code) reading.use(code);
      return value;
    },
    write(parent, now) {
      const found = find(parent);
      const text = textOf(now);
      if (text === undefined) {
        if (found) replaceChildren(parent, [found], []);
      } else if (found) {
        found.attributes = {};
        setChild(found, name, text);
      } else {
        const children = role ? [element(role.name, role.code)] : [];
        const made = element(composite, [...children, element(name, text)]);
        const others = childrenOf(parent, composite);
        replaceChildren(parent, others, [made, ...others]);
      }
    },
    project: scalar,
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

function isPageCount(extent: Element): boolean {
  return childValue(extent, "ExtentType") === "00" &&
    childValue(extent, "ExtentUnit") === "03";
}

function pageCount(): Part {
  const find = (parent: Element) =>
    childrenOf(parent, "Extent").find(isPageCount);
  return {
    read(parent, reading) {
      const found = find(parent);
      const value = found && childValue(found, "ExtentValue");
      if (!value) return;
      useAll(found, reading);
      reading.useFor("page_count", child(found, "ExtentValue")!);
      return /^\d{1,15}(?:[.,]0*)?$/.test(value)
        ? Number.parseInt(value)
        : value;
    },
    write(parent, now) {
      const found = find(parent);
      const text = textOf(now);
      if (text === undefined) {
        if (found) replaceChildren(parent, [found], []);
      } else if (found) setChild(found, "ExtentValue", text);
      else {
        parent.children.push(element("Extent", [
          element("ExtentType", "00"),
          element("ExtentValue", text),
          element("ExtentUnit", "03"),
        ]));
      }
    },
    project: scalar,
  };
}

function isPublication(date: Element): boolean {
  return childValue(date, "PublishingDateRole") === "01";
}

function publicationDate(): Part {
  const find = (parent: Element) =>
    childrenOf(parent, "PublishingDate").find(isPublication);
  return {
    read(parent, reading) {
      const found = find(parent);
      const date = found && readDate(found);
      if (!found || date === undefined) return;
      if (!/^\d{4}-\d\d-\d\d$/.test(date)) {
        reading.warn(
          "imprecise_date",
          "publication_date needs a day: the date is kept in the record",
          found,
          { name: "Date" },
        );
        return;
      }
      useAll(found, reading);
      reading.useFor("publication_date", child(found, "Date")!);
      return date;
    },
    write(parent, now) {
      const found = find(parent);
      if (typeof now !== "string") {
        if (found) replaceChildren(parent, [found], []);
        return;
      }
      const target = found ??
        element("PublishingDate", [element("PublishingDateRole", "01")]);
      if (!found) parent.children.push(target);
      writeDate(target, now);
    },
    project: scalar,
  };
}

/** The collateral of one type, whose entries have `collateral_type` in bodies. */
function collateral(name: string, type: string): Place {
  const { fields } = ARRAYS.collateral.types![type]!;
  const withType = (value: unknown) =>
    objects(value).filter(({ collateral_type }) => collateral_type === type);
  const part = entriesOf(name, {
    read: (each, reading) => ({
      collateral_type: type,
      ...readFields(fields, each, reading),
    }),
    write: (each, now, before, reading) =>
      writeFields(fields, each, now, before, reading),
    project: (entry) => projectFields(fields, name, entry) ?? {},
    key: [...COLLATERAL_KEYS[type]!],
  });
  return {
    block: "CollateralDetail",
    ...part,
    of: ({ product }) => withType(product.collateral),
  };
}

/** The first link of the first front cover. Whoever has no such resource has a URL alone. */
function cover(): Part {
  const isFront = (each: Element) =>
    childValue(each, "ResourceContentType") === "01" &&
    childValue(each, "ResourceMode") === "03";
  const linkOf = (parent: Element) =>
    childrenOf(parent, "SupportingResource").filter(isFront)
      .flatMap((each) => childrenOf(each, "ResourceVersion"))
      .map((version) => child(version, "ResourceLink"))
      .find((link) => valueOf(link));
  return {
    // It follows from the resources that a product can have.
    read: () => undefined,
    write(parent, now) {
      const url = textOf(now);
      if (url === undefined || linkOf(parent)) return;
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

/** The sales rights, and after them that of the rest of the world, which has no territory. */
function salesRights(): Part {
  const { fields } = ARRAYS.product_sales_rights;
  const rest = "ROWSalesRightsType";
  const isRest = (entry: Record<string, unknown>) =>
    entry.is_rest_of_world === true;
  const inTerritory = entriesOf("SalesRights", {
    read: (each, reading) => readFields(fields, each, reading),
    write: (each, now, before, reading) =>
      writeFields(fields, each, now, before, reading),
    project: (entry) => projectFields(fields, "SalesRights", entry) ?? {},
    key: ["sales_rights_type", "territory"],
  });
  return {
    read(parent, reading) {
      const rights = inTerritory.read(parent, reading) as unknown[];
      const found = child(parent, rest);
      const code = valueOf(found);
      if (!found || !code) return rights;
      reading.use(found);
      const entry = { sales_rights_type: code, is_rest_of_world: true };
      return [...rights, reading.from(found, entry)];
    },
    write(parent, now, before, reading) {
      const all = objects(now);
      inTerritory.write(
        parent,
        all.filter((entry) => !isRest(entry)),
        objects(before).filter((entry) => !isRest(entry)),
        reading,
      );
      setChild(parent, rest, textOf(all.find(isRest)?.sales_rights_type));
    },
    project: (value) => {
      const all = objects(value).map((entry) => ({
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

/** The availability, if all supply details have the same. Those with their own keep it. */
function availability(): Part {
  const name = "ProductAvailability";
  const codesIn = (product: Element) =>
    childrenOf(product, "ProductSupply")
      .flatMap((supply) => childrenOf(supply, "SupplyDetail"))
      .flatMap((detail) => childValue(detail, name) ?? []);
  return {
    read(product) {
      const codes = new Set(codesIn(product));
      const [code] = codes;
      return codes.size === 1 ? code : undefined;
    },
    write(product, now) {
      const code = textOf(now);
      if (code === undefined || codesIn(product).length > 0) return;
      const details = childrenOf(product, "ProductSupply")
        .flatMap((supply) => childrenOf(supply, "SupplyDetail"));
      for (const detail of details) setChild(detail, name, code);
    },
    project: scalar,
  };
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The first link of the first front cover (List 158, 01) that is an image (List 159, 03). */
export function coverOf(resources: unknown): unknown {
  const covers = objects(resources).filter((resource) =>
    resource.resource_content_type === "01" && resource.resource_mode === "03"
  );
  return covers.flatMap(({ resource_versions }) => objects(resource_versions))
    .flatMap(({ resource_links }) => resource_links ?? [])[0];
}

/** The values of a record, those of its blocks only if it has them. */
export type Values = Record<string, unknown>;

/** The values in a record. Those of absent blocks are undefined. */
export function readView(record: Element, reading: Reading): Values {
  const values: Values = {};
  for (const [name, place] of Object.entries(VIEW)) {
    const container = containerOf(record, place.block);
    values[name] = container && place.read(container, reading);
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

/** What the values say, by field, in one form. */
export function formOf(name: string, value: unknown): string {
  return canonical(VIEW[name]!.project(value));
}
