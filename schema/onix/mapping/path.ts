import { childValue, type Element } from "../xml/element.ts";

/*
 * Where something stands below a composite: a path.
 *
 *     EditionNumber                                     a data element
 *     Extent[ExtentType=00,ExtentUnit=03]/ExtentValue   in a composite with these codes
 *     ContentDate[ContentDateRole=01]/Date              a date, in the formats of ONIX
 *     Text/@language                                    an attribute
 */

/** An element, with the codes that its children have. */
export interface Step {
  name: string;
  codes: [child: string, code: string][];
}

/** The steps of a path. */
export function stepsOf(path: string): Step[] {
  return path.split("/").map((step) => {
    const [, name = "", conditions] = /^(@?\w+)(?:\[(.+)\])?$/.exec(step)!;
    const codes = conditions?.split(",").map((one) => one.split("=") as [string, string]);
    return { name, codes: codes ?? [] };
  });
}

/** The data element at the end of a path, which may have the attribute that is meant. */
export function leafOf(path: string): string {
  return stepsOf(path).findLast(({ name }) => !name.startsWith("@"))!.name;
}

/** Whether an element is that of a step. */
export function isAt({ name, codes }: Step, element: Element): boolean {
  return element.name === name && !element.isWithheld &&
    codes.every(([child, code]) => childValue(element, child) === code);
}

/** The elements of a path that are there, from this one on, and the steps after them. */
export function walk(
  from: Element,
  steps: readonly Step[],
): { trail: Element[]; rest: readonly Step[] } {
  const trail = [from];
  for (const step of steps) {
    const next = trail.at(-1)!.children.find((each) => isAt(step, each));
    if (!next) break;
    trail.push(next);
  }
  return { trail, rest: steps.slice(trail.length - 1) };
}

/** Where a path ends in a composite: the last element that is there, and the name of the next. */
export function missingAt(
  composite: Element,
  path: string,
): { element: Element; missing?: string } {
  const { trail, rest: [next] } = walk(composite, stepsOf(path));
  const element = trail.at(-1)!;
  return !next || next.name.startsWith("@") ? { element } : { element, missing: next.name };
}
