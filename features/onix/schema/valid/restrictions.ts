import { isRight } from "../rules/limits.ts";
import { childrenOf, childValue, type Element, valueOf } from "../xml/element.ts";

/*
 * Moves the restrictions of a product's sale. Release 3.0 has them next to the sales rights.
 * Release 3.1 has them in the rights and in the markets.
 */

/** The types of rights to which a restriction applies (List 46). */
const RESTRICTED = ["07", "08"];

/** All types of rights under which a product is for sale. */
const FOR_SALE = ["01", "02", ...RESTRICTED];

/**
 * Moves the restrictions of a product to the rights that they restrict, or else to its markets. If
 * a restriction has no place there, the entries that it restricts are withheld: with a right for
 * the rest of the world all other rights, and supplies without markets.
 */
export function withRestrictionsInPlace(blocks: Element[]): Element[] {
  const parts = blocks.filter(({ name }) => name === "PublishingDetail")
    .flatMap(({ children }) => children.filter((each) => !each.isWithheld));
  const restrictions = parts.filter(({ name }) => name === "SalesRestriction");
  if (restrictions.length === 0) return blocks;
  const restricted = restrictedAmong(parts);
  const haveRights = restricted.length > 0 &&
    restricted.every(({ name }) => name === "SalesRights");
  if (haveRights) {
    return blocks.map((block) =>
      block.name === "PublishingDetail"
        ? withRestrictedRights(block, restricted, restrictions)
        : block
    );
  }
  const haveMarkets = blocks.some(hasMarkets);
  return blocks.map((block) => {
    switch (block.name) {
      case "PublishingDetail":
        return withoutRestrictions(block, restrictions, haveMarkets, restricted.length > 0);
      case "ProductSupply":
        return hasMarkets(block) ? withRestrictedMarkets(block, restrictions) : withheld(block);
      default:
        return block;
    }
  });
}

function withRestrictedRights(
  block: Element,
  restricted: readonly Element[],
  restrictions: readonly Element[],
): Element {
  const children = block.children.filter((each) => !restrictions.includes(each))
    .map((each) => restricted.includes(each) ? withMoreChildren(each, restrictions) : each);
  return { ...block, children };
}

/**
 * Removes the restrictions, because markets have them now. Without markets they are withheld. Rights
 * to which they apply are withheld in both cases.
 */
function withoutRestrictions(
  block: Element,
  restrictions: readonly Element[],
  haveMarkets: boolean,
  areRightsRestricted: boolean,
): Element {
  const children = block.children.flatMap((each) => {
    if (restrictions.includes(each)) return haveMarkets ? [] : [withheld(each)];
    return [areRightsRestricted && isRight(each) ? withheld(each) : each];
  });
  return { ...block, children };
}

function withRestrictedMarkets(block: Element, restrictions: readonly Element[]): Element {
  const children = block.children.map((each) =>
    each.name === "Market" ? withMoreChildren(each, restrictions) : each
  );
  return { ...block, children };
}

function withMoreChildren(each: Element, more: readonly Element[]): Element {
  return { ...each, children: [...each.children, ...more] };
}

/** Returns the rights that restrictions apply to: those with such a type, or else all for sale. */
function restrictedAmong(parts: readonly Element[]): Element[] {
  const ofTypes = (types: readonly string[]) =>
    parts.filter((each) => types.includes(typeOf(each) ?? ""));
  const restricted = ofTypes(RESTRICTED);
  return restricted.length > 0 ? restricted : ofTypes(FOR_SALE);
}

/** Returns the type of a sales right. That for the rest of the world is an element of its own. */
function typeOf(each: Element): string | undefined {
  return each.name === "ROWSalesRightsType" ? valueOf(each) : childValue(each, "SalesRightsType");
}

function hasMarkets(block: Element): boolean {
  return childrenOf(block, "Market").length > 0;
}

function withheld(each: Element): Element {
  return { ...each, isWithheld: true };
}
