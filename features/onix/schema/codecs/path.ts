import { childValue, type Element } from "../xml/element.ts";

/*
 * Parses and follows paths below a composite.
 *
 *     EditionNumber                                     a data element
 *     Extent[ExtentType=00,ExtentUnit=03]/ExtentValue   in a composite with these codes
 *     ContentDate[ContentDateRole=01]/Date              a date, in the formats of ONIX
 *     Text/@language                                    an attribute
 */

/** An element, with the codes that its children have. */
export interface Segment {
  name: string;
  codes: [child: string, code: string][];
}

/** The segments of a path. */
export function segmentsOf(path: string): Segment[] {
  return path.split("/").map((segment) => {
    const [, name = "", conditions] = /^(@?\w+)(?:\[(.+)\])?$/.exec(segment)!;
    const codes = conditions?.split(",").map((one) => one.split("=") as [string, string]);
    return { name, codes: codes ?? [] };
  });
}

/** Returns the data element at the end of a path, of which the path may name an attribute. */
export function leafOf(path: string): string {
  return segmentsOf(path).findLast(({ name }) => !name.startsWith("@"))!.name;
}

/** Whether an element is that of a segment. */
export function isAtSegment({ name, codes }: Segment, element: Element): boolean {
  return element.name === name && !element.isWithheld &&
    codes.every(([child, code]) => childValue(element, child) === code);
}

/** Returns the existing elements of a path, from this one on, and the segments after them. */
export function walk(
  from: Element,
  segments: readonly Segment[],
): { trail: Element[]; rest: readonly Segment[] } {
  const trail = [from];
  for (const segment of segments) {
    const next = trail.at(-1)!.children.find((each) => isAtSegment(segment, each));
    if (!next) break;
    trail.push(next);
  }
  return { trail, rest: segments.slice(trail.length - 1) };
}

/** Returns the last existing element of a path in a composite, and the name of the next. */
export function missingAt(
  composite: Element,
  path: string,
): { element: Element; missing?: string } {
  const { trail, rest: [next] } = walk(composite, segmentsOf(path));
  const element = trail.at(-1)!;
  return !next || next.name.startsWith("@") ? { element } : { element, missing: next.name };
}
