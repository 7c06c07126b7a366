import { isRight } from "../rules/limits.ts";
import { childrenOf, childValue, type Element, valueOf } from "./element.ts";

/*
 * Where the restrictions of a product's sale stand. In release 3.0 they stand beside the
 * sales rights; 3.1 has places for them in the rights and in the markets.
 */

/** The types of rights that say that a restriction applies to them (List 46). */
const RESTRICTED = ["07", "08"];

/** All types of rights under which a product is for sale. */
const FOR_SALE = ["01", "02", ...RESTRICTED];

/**
 * The blocks of a product with its restrictions in the rights of sale that they restrict,
 * else in its markets. What they restrict and has no place for them is withheld: a right for
 * the rest of the world, with all other rights, and a supply without markets.
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

/** Without restrictions that stand in markets. Those that stand nowhere are withheld, and all rights that they restrict. */
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

/** The rights that restrictions of the product restrict: those that say so, else all of sale. */
function restrictedAmong(parts: readonly Element[]): Element[] {
  const ofTypes = (types: readonly string[]) =>
    parts.filter((each) => types.includes(typeOf(each) ?? ""));
  const said = ofTypes(RESTRICTED);
  return said.length > 0 ? said : ofTypes(FOR_SALE);
}

/** The type of a sales right, of which that for the rest of the world is nothing else. */
function typeOf(each: Element): string | undefined {
  return each.name === "ROWSalesRightsType" ? valueOf(each) : childValue(each, "SalesRightsType");
}

function hasMarkets(block: Element): boolean {
  return childrenOf(block, "Market").length > 0;
}

function withheld(each: Element): Element {
  return { ...each, isWithheld: true };
}
