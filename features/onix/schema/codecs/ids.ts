import type { Element } from "../xml/element.ts";

/*
 * The ids of the rows that elements became: rows of the product, and rows that it refers to. By its
 * id, an element is recognized even if all its values have changed. The ids are stored with the
 * record, by the positions of the elements.
 */

/** The ids of elements, by their positions among all elements of the record. */
export type Ids = Readonly<Record<string, string>>;

/** The ids that elements of the record have. */
export function idsIn(record: Element): Ids {
  const ids: Record<string, string> = {};
  visit(record, (each, position) => {
    if (each.id) ids[position] = each.id;
  });
  return ids;
}

/** Gives the elements of a stored record their ids. */
export function giveIds(record: Element, ids: Ids | null): Element {
  if (ids) {
    visit(record, (each, position) => {
      const id = ids[position];
      if (id) each.id = id;
    });
  }
  return record;
}

/** Copies ids to elements from others with the same content, one by one. */
export function copyIds(
  from: readonly Element[],
  to: readonly Element[],
): void {
  from.forEach((each, i) => {
    if (each.id) to[i]!.id = each.id;
    copyIds(each.children, to[i]!.children);
  });
}

/** Visits an element and all in it, with their positions. Returns the next position. */
function visit(
  element: Element,
  see: (each: Element, position: number) => void,
  position = 0,
): number {
  see(element, position);
  let next = position + 1;
  for (const child of element.children) next = visit(child, see, next);
  return next;
}
