import type { Element } from "../xml/element.ts";

/*
 * What the elements of a record stand for: rows of the product and records that it refers
 * to, whose ids they have. So an element is recognized after all its values have changed.
 * The ids are stored beside the record, by the places of their elements in it.
 */

/** The ids of elements, by their places among all elements of the record. */
export type Ids = Readonly<Record<string, string>>;

/** The ids that elements of the record have. */
export function idsIn(record: Element): Ids {
  const ids: Record<string, string> = {};
  visit(record, (each, place) => {
    if (each.id) ids[place] = each.id;
  });
  return ids;
}

/** Gives the elements of a stored record their ids. */
export function giveIds(record: Element, ids: Ids | null): Element {
  if (ids) {
    visit(record, (each, place) => {
      const id = ids[place];
      if (id) each.id = id;
    });
  }
  return record;
}

/** Gives elements the ids of others that say the same, one by one. */
export function copyIds(
  from: readonly Element[],
  to: readonly Element[],
): void {
  from.forEach((each, i) => {
    if (each.id) to[i]!.id = each.id;
    copyIds(each.children, to[i]!.children);
  });
}

/** Visits an element and all in it, with their places. Returns the next place. */
function visit(
  element: Element,
  see: (each: Element, place: number) => void,
  place = 0,
): number {
  see(element, place);
  let next = place + 1;
  for (const child of element.children) next = visit(child, see, next);
  return next;
}
