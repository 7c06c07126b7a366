import { type Element, element } from "./element.ts";

/*
 * What the schema demands and the catalogue has no value for: what the service writes there,
 * and how it is known again when it comes back.
 */

/** What stands in for what a record lacks. */
export interface Substitutes {
  /** The name of a supplier or publisher without one. */
  organization: string;
  /** The identifier of a product without one. */
  identifier: Element;
}

/** The codes that stand for a value, by element. */
const FILLERS: Readonly<Record<string, string>> = {
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

/** What the service writes of itself beside its values. */
const WRITTEN: Readonly<Record<string, string>> = { CollectionType: "10" };

/** The source of a publisher that stands in for none. */
export const NO_PUBLISHER = "organization";

/** What stands for an element, by its parent and name. */
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
export function filler(
  name: string,
  parent: string,
  substitutes: Substitutes,
): Element | undefined {
  const value = FILLERS[name];
  return value ? element(name, value) : SUBSTITUTES[`${parent}/${name}`]?.(substitutes);
}

/** Whether the service writes an element with this name into the composite where a record lacks it. */
export function hasFiller(name: string, parent: string): boolean {
  return name in FILLERS || `${parent}/${name}` in SUBSTITUTES;
}

function supplier({ organization }: Substitutes): Element {
  return element("Supplier", [
    element("SupplierRole", "00"),
    element("SupplierName", organization),
  ]);
}

/**
 * The record without what the service wrote because the schema demands it. That includes an
 * undefined form, and the organization as publisher, of a record that was sent back.
 */
export function withoutDemanded(
  { record, demanded }: { record: Element; demanded: ReadonlySet<Element> },
): Element {
  const saysNothing = (each: Element) =>
    demanded.has(each) || each.attributes.sourcename === NO_PUBLISHER ||
    each.name === "ProductForm" && each.text === FILLERS.ProductForm;
  const withoutIn = (given: Element): Element => {
    const { children } = given;
    const left = children.filter((each) => !saysNothing(each)).map(withoutIn);
    const isWhole = left.length === children.length &&
      left.every((each, i) => each === children[i]);
    return isWhole ? given : { ...given, children: left };
  };
  return withoutIn(record);
}

/** Whether an element says no more than what the service writes of itself: no value is lost with it. */
export function isFiller({ name, text }: Element): boolean {
  return (FILLERS[name] ?? WRITTEN[name]) === text.trim();
}
