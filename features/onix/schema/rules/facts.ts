import composites from "./composites.txt" with { type: "text" };
import dataElements from "./data_elements.txt" with { type: "text" };
import onix21 from "./onix21.txt" with { type: "text" };
import { type Composite, mayLack, type Particle, readComposite, singlesIn } from "./models.ts";
import { type Release, RELEASES } from "./releases.ts";

/*
 * Facts about every element of ONIX for Books, read from the tables in `composites.txt`,
 * `data_elements.txt` and `onix21.txt`.
 */

/** The texts of the tables. */
export const TABLES = [composites, dataElements, onix21];

/** A data element: its kind of value, and its attributes by their letters. */
export interface DataElement {
  kind: string;
  attributes: string;
}

/** The element of a tag. */
export interface KnownTag {
  name: string;
  /** Whether the element has children. Otherwise it has a value. */
  isComposite: boolean;
}

/** The short tags, by reference name. */
const SHORT_TAGS = new Map<string, string>();
/** The elements by tag, of either kind. */
const KNOWN = new Map<string, KnownTag>();
const COMPOSITE_NAMES = new Set<string>();
/** The composites that are another one in some parent, as `EpubLicense` is in `Price/EpubLicense`. */
const SPECIAL = new Set<string>();
/** The tables of each release. */
const BY_RELEASE = { "3.0": tables(), "3.1": tables() };

function tables() {
  return {
    /** The lines of the table, by composite. */
    lines: new Map<string, string>(),
    /** The parsed lines, each parsed at its first use. */
    composites: new Map<string, Composite>(),
    data: new Map<string, DataElement>(),
  };
}

/** Content that several composites share, by the names in braces. */
const GROUPS = new Map<string, string>();

for (const line of linesOf(composites)) {
  const [, group, model] = /^\{(\w+)\}: (.*)$/.exec(line) ?? [];
  if (group) {
    GROUPS.set(group, model!);
    continue;
  }
  const [, name = "", release, content = ""] = /^([\w/]+)(?:@(\S+))?: (.*)$/.exec(line)!;
  for (const each of RELEASES) {
    if (release && release !== each) continue;
    BY_RELEASE[each].lines.set(name, content);
  }
  if (name.includes("/")) {
    SPECIAL.add(name.slice(name.indexOf("/") + 1));
    continue;
  }
  COMPOSITE_NAMES.add(name);
  const short = name === "ONIXMessage" ? "ONIXmessage" : name.toLowerCase();
  addName(name, short, true);
}

for (const line of linesOf(dataElements)) {
  const [, name = "", release, short = "", kind = "", attributes = ""] =
    /^(\w+)(?:@(\S+))? (\S+) (\S+)(?: (\w+))?$/.exec(line)!;
  for (const each of RELEASES) {
    if (release && release !== each) continue;
    BY_RELEASE[each].data.set(name, { kind, attributes });
  }
  addName(name, short, false);
}

function addName(name: string, short: string, isComposite: boolean): void {
  SHORT_TAGS.set(name, short);
  const known = { name, isComposite };
  KNOWN.set(name, known);
  KNOWN.set(short, known);
}

/** The names of elements of release 2.1, by either tag. */
const ONIX21 = new Map(
  linesOf(onix21).flatMap((line) => {
    const [name = "", short = ""] = line.split(" ");
    return [[name, name], [short, name]] as const;
  }),
);

/** The lines of a table without its comments. */
function linesOf(table: string): string[] {
  return table.split("\n").filter((line) => /^[^#]/.test(line));
}

/** The element with this tag of either kind. */
export function knownTag(tag: string): KnownTag | undefined {
  return KNOWN.get(tag);
}

/** The reference name of an element of release 2.1 that later releases have no more. */
export function nameInOnix21(tag: string): string | undefined {
  return ONIX21.get(tag);
}

/** The name without its namespace's prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** The short tag of an element with this reference name. */
export function shortTag(name: string): string {
  return SHORT_TAGS.get(name) ?? name;
}

/** Whether an element of either release with this name has children. */
export function isComposite(name: string): boolean {
  return COMPOSITE_NAMES.has(name);
}

/** The data element of the release, or of either one. */
export function dataElement(
  name: string,
  release?: Release,
): DataElement | undefined {
  return release
    ? BY_RELEASE[release].data.get(name)
    : BY_RELEASE["3.1"].data.get(name) ?? BY_RELEASE["3.0"].data.get(name);
}

/** Whether the release has an element with this name. */
export function isInRelease(release: Release, name: string): boolean {
  const { data, lines } = BY_RELEASE[release];
  return data.has(name) || lines.has(name);
}

/** The composite of the release, as it is in this parent. */
export function composite(
  release: Release,
  name: string,
  parent = "",
): Composite | undefined {
  const { lines, composites } = BY_RELEASE[release];
  const special = SPECIAL.has(name) ? `${parent}/${name}` : name;
  const key = lines.has(special) ? special : name;
  const line = lines.get(key);
  return line === undefined
    ? undefined
    : composites.getOrInsertComputed(key, () => readComposite(line, GROUPS, release));
}

/** The content models that a composite has in the releases. */
function modelsOf(name: string): Particle[] {
  return RELEASES.flatMap((release) => composite(release, name)?.model ?? []);
}

/** The elements of which a composite of any release has one at most, by its name. */
const SINGLES = new Map<string, ReadonlySet<string>>();

/** Whether a composite may contain the element, and no second one. */
export function isAtMostOnce(name: string, parent: string): boolean {
  // Messages have any number of other names.
  if (!COMPOSITE_NAMES.has(parent)) return false;
  const singles = SINGLES.getOrInsertComputed(parent, () => singlesIn(modelsOf(parent)));
  return singles.has(name);
}

/** The composites that may contain an element, by its name. */
const PARENTS = new Map<string, Set<string>>();

/** The composites that may contain the element in either release. */
export function parentsOf(name: string): ReadonlySet<string> | undefined {
  if (PARENTS.size === 0) {
    for (const each of COMPOSITE_NAMES) {
      for (const child of childNames(each)) {
        PARENTS.getOrInsert(child, new Set()).add(each);
      }
    }
  }
  return PARENTS.get(name);
}

/** Whether a composite is valid without the element, in each release that has it. */
export function isOptional(name: string, parent: string): boolean {
  return modelsOf(parent).every((model) => mayLack(model, name));
}

/** Whether the composite may contain the element in either release. */
export function isPartOf(name: string, parent: string): boolean {
  return parentsOf(name)?.has(parent) ?? false;
}

/** The names of what a composite may contain in either release, in their order. */
export function childNames(name: string): string[] {
  return modelsOf(name).flatMap((model) =>
    model.kind === "element" ? [model.name] : [...model.names]
  );
}

/**
 * The composite in `parent` that has this element, which stood in `parent` itself in ONIX
 * 2.1. Undefined for an element in its place, or of another place.
 */
export function compositeSince21(
  parent: string,
  name: string,
): string | undefined {
  const parents = parentsOf(name);
  if (!parents || parents.has(parent) || !isComposite(parent)) return;
  return childNames(parent).find((each) => parents.has(each));
}
