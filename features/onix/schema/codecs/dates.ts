import { childValue, type Element, replaceChildren } from "../xml/element.ts";

/*
 * Removes dates that say a changed date in another form. Release 3.0 has any number of dates with one
 * role, of which a field has one.
 *
 * For example, a record has the day of publication, and then "Spring 2027" as a text. If the day
 * changes, the text goes.
 */

/** Removes those of `others` that have the role of a changed date. */
export function removeOtherDates(
  parent: Element,
  changed: readonly Element[],
  others: readonly Element[],
): void {
  const roles = new Set(changed.map(roleOf));
  const rivals = others.filter((each) => {
    const role = roleOf(each);
    return role !== undefined && roles.has(role);
  });
  replaceChildren(parent, rivals, []);
}

/** The role of a date, such as that in `PublishingDateRole`. */
function roleOf(date: Element): string | undefined {
  return date.name.endsWith("Date") ? childValue(date, `${date.name}Role`) : undefined;
}
