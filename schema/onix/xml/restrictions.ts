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
  const areInRights = restricted.length > 0 &&
    restricted.every(({ name }) => name === "SalesRights");
  const areInMarkets = !areInRights && blocks.some(hasMarkets);
  const restrict = (each: Element): Element => ({
    ...each,
    children: [...each.children, ...restrictions],
  });
  const inPublishing = (each: Element): Element[] => {
    if (restrictions.includes(each)) {
      return areInRights || areInMarkets ? [] : [withheld(each)];
    }
    if (areInRights) return [restricted.includes(each) ? restrict(each) : each];
    const isLost = restricted.length > 0 && isRight(each);
    return [isLost ? withheld(each) : each];
  };
  return blocks.map((block) => {
    const { name, children } = block;
    if (name === "PublishingDetail") {
      return { ...block, children: children.flatMap(inPublishing) };
    }
    if (name !== "ProductSupply" || areInRights) return block;
    if (!hasMarkets(block)) return withheld(block);
    const inSupply = (each: Element) => each.name === "Market" ? restrict(each) : each;
    return { ...block, children: children.map(inSupply) };
  });
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
