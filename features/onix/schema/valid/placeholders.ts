import { type Element, element } from "../xml/element.ts";

/*
 * Placeholders for content that the schema requires and the product lacks. In: the name of a
 * missing element. Out: the element that the service writes. It also recognizes a placeholder that
 * comes back in a record.
 */

/** The data of placeholders. */
export interface Substitutes {
  /** The name of a supplier or publisher without one. */
  organization: string;
  /** The identifier of a product without one. */
  identifier: Element;
}

/** The codes that stand for a value, by element. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  CitedContentType: "01",
  ContentAudience: "00",
  MarketPublishingStatus: "00",
  NotificationType: "03",
  ProductAvailability: "99",
  ProductComposition: "00",
  ProductForm: "00",
  SupplierRole: "00",
  TextType: "01",
  TitleElementLevel: "01",
  TitleType: "00",
};

/** Codes that the service writes together with its values. */
const WRITTEN: Readonly<Record<string, string>> = { CollectionType: "10" };

/** The source of the placeholder for a publisher. */
export const NO_PUBLISHER = "organization";

/** The placeholders by parent and name. */
const SUBSTITUTES: Readonly<
  Record<string, (substitutes: Substitutes) => Element>
> = {
  "Product/ProductIdentifier": ({ identifier }) => identifier,
  "Supplier/SupplierName": ({ organization }) => element("SupplierName", organization),
  "SupplyDetail/Supplier": supplier,
  "SupplyDetail/UnpricedItemType": () => element("UnpricedItemType", "04"),
  // The organization publishes a product without a publisher. An import reads it as none.
  "PublishingDetail/Publisher": ({ organization }) =>
    element("Publisher", [
      element("PublishingRole", "01"),
      element("PublisherName", organization),
    ], { sourcename: NO_PUBLISHER }),
  "ProductSupply/SupplyDetail": (substitutes) =>
    element("SupplyDetail", [
      supplier(substitutes),
      element("ProductAvailability", "99"),
      element("UnpricedItemType", "04"),
    ]),
};

/** The element of this name that the service writes into the composite where a record lacks it. */
export function placeholder(
  name: string,
  parent: string,
  substitutes: Substitutes,
): Element | undefined {
  const value = PLACEHOLDERS[name];
  return value ? element(name, value) : SUBSTITUTES[`${parent}/${name}`]?.(substitutes);
}

/** Whether the service writes an element with this name into the composite where a record lacks it. */
export function hasPlaceholder(name: string, parent: string): boolean {
  return name in PLACEHOLDERS || `${parent}/${name}` in SUBSTITUTES;
}

function supplier({ organization }: Substitutes): Element {
  return element("Supplier", [
    element("SupplierRole", "00"),
    element("SupplierName", organization),
  ]);
}

/**
 * Removes placeholders from a record. That includes an undefined form, and the organization as
 * publisher, in a record that was sent back.
 */
export function withoutPlaceholders(
  { record, placeholders }: { record: Element; placeholders: ReadonlySet<Element> },
): Element {
  const isEmpty = (each: Element) =>
    placeholders.has(each) || each.attributes.sourcename === NO_PUBLISHER ||
    each.name === "ProductForm" && each.text === PLACEHOLDERS.ProductForm;
  const withoutIn = (given: Element): Element => {
    const { children } = given;
    const left = children.filter((each) => !isEmpty(each)).map(withoutIn);
    const isWhole = left.length === children.length &&
      left.every((each, i) => each === children[i]);
    return isWhole ? given : { ...given, children: left };
  };
  return withoutIn(record);
}

/** Whether an element is equal to a placeholder, so that no value is lost with it. */
export function isPlaceholder({ name, text }: Element): boolean {
  return (PLACEHOLDERS[name] ?? WRITTEN[name]) === text.trim();
}
