import { childrenOf, childValue, type Element } from "../xml/element.ts";

/*
 * Numbers of contributors. Since revision 3 of release 3.1, the contributors of a product and of
 * its collections share one series of numbers. Before, each had its own. In: the children of
 * `DescriptiveDetail`. Out: the same with other numbers in the collections, if one number was there
 * twice.
 *
 * An author 1 and a series editor 1: the editor gets 2.
 */

export function withOneSeriesOfNumbers(children: readonly Element[]): Element[] {
  const own = numbersIn(children.filter(({ name }) => name === "Contributor"));
  const inCollections = children.filter(isCollection)
    .flatMap((each) => numbersIn(childrenOf(each, "Contributor")));
  const all = [...own, ...inCollections];
  if (new Set(all).size === all.length) return [...children];
  let last = Math.max(0, ...own);
  return children.map((each) => {
    if (!isCollection(each)) return each;
    const numbered = childrenOf(each, "Contributor")
      .filter((one) => childValue(one, "SequenceNumber"))
      .toSorted((a, b) => numberOf(a) - numberOf(b));
    const numbers = new Map(numbered.map((one) => [one, String(++last)]));
    return { ...each, children: each.children.map((one) => withNumber(one, numbers.get(one))) };
  });
}

function isCollection({ name, isWithheld }: Element): boolean {
  return name === "Collection" && !isWithheld;
}

function numbersIn(contributors: readonly Element[]): number[] {
  return contributors.filter((each) => !each.isWithheld && childValue(each, "SequenceNumber"))
    .map(numberOf);
}

function numberOf(contributor: Element): number {
  return Number(childValue(contributor, "SequenceNumber"));
}

function withNumber(contributor: Element, number: string | undefined): Element {
  if (number === undefined) return contributor;
  const children = contributor.children.map((each) =>
    each.name === "SequenceNumber" ? { ...each, text: number } : each
  );
  return { ...contributor, children };
}
