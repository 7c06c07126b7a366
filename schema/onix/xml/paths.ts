import { type Element, valueOf } from "./element.ts";
import { dataElement } from "../rules/facts.ts";

/** The most paths that are told of a record, or of a message. */
export const MAX_PATHS = 1_000;

/** Paths without positions, and how many more there are. */
export interface Paths {
  paths: readonly string[];
  more: number;
}

export const NO_PATHS: Paths = { paths: [], more: 0 };

/** Collects paths. Those that are too many are counted, and not built: a path may be long. */
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
   * Adds the paths of the data elements with a value in these elements of `at`. Those that
   * are `used`, and what is in them, do not count, nor those that `isNoise` knows.
   */
  addLeaves(
    elements: readonly Element[],
    at: string,
    used: ReadonlySet<Element> = NONE,
    isNoise: (element: Element) => boolean = () => false,
  ): void {
    const groups = Map.groupBy(
      elements.filter((element) => !used.has(element)),
      ({ name }) => name,
    );
    for (const [name, same] of groups) {
      const path = `${at}/${name}`;
      const isTold = same.some((each) => saysSomething(each) && !isNoise(each));
      if (isTold) this.add(path);
      const children = same.flatMap(({ children }) => children);
      if (children.length > 0) this.addLeaves(children, path, used, isNoise);
    }
  }
}

const NONE: ReadonlySet<Element> = new Set();

function saysSomething(element: Element): boolean {
  return element.children.length === 0 &&
    (dataElement(element.name)?.kind === "flag" ||
      valueOf(element) !== undefined);
}
