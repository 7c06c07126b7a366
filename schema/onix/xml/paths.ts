import { type Element, valueOf } from "./element.ts";
import { dataElement } from "../rules/facts.ts";

/**
 * The paths, without positions and each once, of the data elements with a value in these
 * elements of `at`. Those that are `used`, and what is in them, do not count.
 */
export function* leafPaths(
  elements: readonly Element[],
  at: string,
  used: ReadonlySet<Element> = NONE,
): Generator<string> {
  const groups = Map.groupBy(
    elements.filter((element) => !used.has(element)),
    ({ name }) => name,
  );
  for (const [name, same] of groups) {
    const path = `${at}/${name}`;
    if (same.some(saysSomething)) yield path;
    yield* leafPaths(same.flatMap(({ children }) => children), path, used);
  }
}

const NONE: ReadonlySet<Element> = new Set();

function saysSomething(element: Element): boolean {
  return element.children.length === 0 &&
    (dataElement(element.name)?.kind === "flag" ||
      valueOf(element) !== undefined);
}
