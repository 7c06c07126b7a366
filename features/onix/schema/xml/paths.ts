import { type Element, valueOf } from "./element.ts";
import { dataElement } from "../rules/facts.ts";

/*
 * Paths of elements in a record. In: elements. Out: their paths, with positions in messages
 * (`/Product/DescriptiveDetail/Subject[2]`), without positions in lists of unread or unsent
 * content.
 */

/** The maximum number of paths that are reported of a record, or of a message. */
export const MAX_PATHS = 1_000;

/** Paths without positions, and how many more there are. */
export interface Paths {
  paths: readonly string[];
  more: number;
}

export const NO_PATHS: Paths = { paths: [], more: 0 };

/** Collects paths. Beyond `MAX_PATHS` they are only counted: a path may be long. */
export class PathSet implements Paths {
  readonly #paths = new Set<string>();
  #more = 0;

  get paths(): string[] {
    return [...this.#paths];
  }

  get more(): number {
    return this.#more;
  }

  add(path: string): void {
    if (this.#paths.size < MAX_PATHS) this.#paths.add(path);
    else this.#more++;
  }

  /**
   * Adds the paths of all data elements with a value in these elements, whose path is `at`. A
   * `used` element is skipped with all elements in it, an `isNoise` one alone.
   */
  addLeaves(
    elements: readonly Element[],
    at: string,
    used: ReadonlySet<Element> = NO_ELEMENTS,
    isNoise: (element: Element) => boolean = () => false,
  ): void {
    const groups = new Map<string, { isReported: boolean; children: Element[] }>();
    for (const element of elements) {
      if (used.has(element)) continue;
      const group = groups.getOrInsertComputed(
        element.name,
        () => ({ isReported: false, children: [] }),
      );
      group.isReported ||= hasContent(element) && !isNoise(element);
      for (const child of element.children) group.children.push(child);
    }
    for (const [name, { isReported, children }] of groups) {
      const path = `${at}/${name}`;
      if (isReported) this.add(path);
      if (children.length > 0) {
        this.addLeaves(children, path, used, isNoise);
      }
    }
  }
}

const NO_ELEMENTS: ReadonlySet<Element> = new Set();

function hasContent(element: Element): boolean {
  return element.children.length === 0 &&
    (dataElement(element.name)?.kind === "flag" ||
      valueOf(element) !== undefined);
}

/** The segments of paths to the children, by composite. */
export type SegmentsOfComposites = Map<Element, ReadonlyMap<Element, string>>;

/** The paths of these elements, with positions where a name occurs repeatedly. */
export function pathsOf(
  record: Element,
  wanted: ReadonlySet<Element>,
  segments: SegmentsOfComposites = new Map(),
): Map<Element, string> {
  const paths = new Map<Element, string>();
  const trail: Element[] = [];
  const segmentTo = (element: Element, i: number) => {
    const parent = trail[i - 1];
    if (!parent) return `/${element.name}`;
    return segments.getOrInsertComputed(parent, segmentsIn).get(element)!;
  };
  const visit = (element: Element) => {
    trail.push(element);
    if (wanted.has(element)) paths.set(element, trail.map(segmentTo).join(""));
    for (const child of element.children) {
      if (paths.size === wanted.size) break;
      visit(child);
    }
    trail.pop();
  };
  if (wanted.size > 0) visit(record);
  return paths;
}

/** The segments of paths to the children, with positions where a name occurs repeatedly. */
function segmentsIn({ children }: Element): ReadonlyMap<Element, string> {
  const counts = new Map<string, number>();
  const positions = children.map(({ name }) => {
    const position = (counts.get(name) ?? 0) + 1;
    counts.set(name, position);
    return position;
  });
  return new Map(children.map((child, i) => {
    const isRepeated = counts.get(child.name)! > 1;
    const position = isRepeated ? `[${positions[i]}]` : "";
    return [child, `/${child.name}${position}`];
  }));
}
