import { dataElement } from "../rules/facts.ts";
import { writeDate } from "../xml/dates.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  replaceChildren,
  setChild,
} from "../xml/element.ts";
import { type Codec, textOf } from "./codec.ts";
import { removeOtherDates } from "./dates.ts";
import { readDay, readLeaf } from "./leaf.ts";
import { isAtSegment, type Segment, segmentsOf, walk } from "./path.ts";
import type { RecordReader } from "./record_reader.ts";
import { missingPart } from "./required.ts";

/*
 * Codec of a value at a path. In: the path in the description of a field. Out: the codec that
 * reads and writes it.
 */

/** The value at a path. `isWhole` if the field is a JSON integer. */
export function codecAt(path: string, { isWhole = false } = {}): Codec {
  const segments = segmentsOf(path);
  const attribute = segments.at(-1)!.name.startsWith("@")
    ? segments.pop()!.name.slice(1)
    : undefined;
  const leaf = segments.at(-1)!.name;
  const above = segments.slice(0, -1);
  const kind = isWhole ? "n" : dataElement(leaf)!.kind;

  /** Every element at the path, in order. The first one counts. */
  function all(composite: Element): Element[] {
    let within = [composite];
    for (const segment of above) {
      within = within.flatMap(({ children }) =>
        children.filter((each) => isAtSegment(segment, each))
      );
    }
    return within.flatMap((each) => childrenOf(each, leaf));
  }

  function find(composite: Element): Element | undefined {
    if (above.length === 0) return child(composite, leaf);
    const { trail, rest } = walk(composite, above);
    return rest.length === 0 ? child(trail.at(-1)!, leaf) : undefined;
  }

  return {
    find,
    read(composite, reader) {
      const found = find(composite);
      if (above.length > 0) warnOfCodes(composite, above[0]!, found, reader);
      if (!found) return kind === "flag" ? false : undefined;
      if (attribute) return found.attributes[attribute];
      const within = above.length === 0 ? [composite] : walk(composite, above).trail;
      const value = leaf === "Date"
        ? readDay(within.at(-1)!, found, reader)
        : readLeaf(found, kind, reader);
      if (value === undefined) return;
      reader.claim(found);
      claimCodes(above, within, reader);
      const mayHaveOthers = kind !== "flag" && !reader.isSilent &&
        (above.length > 0 || !isLast(composite, found));
      if (mayHaveOthers) all(composite).forEach((each) => reader.warnOfOther(each, found));
      return value;
    },
    write(composite, now) {
      const text = textOf(now);
      const { trail, rest } = walk(composite, above);
      if (attribute) return setAttribute(find(composite), attribute, text);
      if (text === undefined && above.length > 0) {
        return replaceChildren(composite, trail.slice(1, 2), []);
      }
      for (const segment of rest) trail.push(addInOrder(trail.at(-1)!, segment));
      // The attributes name the source of the old value and its date: `sourcename`, `datestamp`.
      if (trail[1]) trail[1].attributes = {};
      const [parent, last] = trail.slice(-2) as [Element, Element?];
      if (last && leaf === "Date" && text) {
        writeDate(last, text);
        const others = childrenOf(parent, last.name).filter((each) => each !== last);
        removeOtherDates(parent, [last], others);
      } else setChild(trail.at(-1)!, leaf, text);
    },
  };
}

/**
 * Warns of wrong or missing codes that decide whether a composite matches the segment. If none was
 * `found`, one of these composites may be the right one, so the field is unreadable.
 */
function warnOfCodes(
  parent: Element,
  { name, codes }: Segment,
  found: Element | undefined,
  reader: RecordReader,
): void {
  if (codes.length === 0 || reader.isSilent) return;
  const report = () => {
    for (const each of childrenOf(parent, name)) {
      for (const [code] of codes) {
        if (childValue(each, code) !== undefined) reader.checkCode(each, code);
        else reader.failWithoutCode(each, code);
      }
      const missing = missingPart(each);
      if (missing !== undefined) reader.warnOfMissing(each, missing);
    }
  };
  if (found) reader.attempt(report);
  else report();
}

/** Claims the codes in the path of a value, since they identify the field. */
function claimCodes(
  segments: readonly Segment[],
  [, ...trail]: readonly Element[],
  reader: RecordReader,
): void {
  for (const [i, { codes }] of segments.entries()) {
    for (const [name] of codes) reader.claim(child(trail[i]!, name)!);
  }
}

/** Whether no child of its name follows a child: most are the only ones. */
function isLast({ children }: Element, found: Element): boolean {
  return children.findLast(({ name }) => name === found.name) === found;
}

/** Adds the composite of a segment in the order of its codes. */
function addInOrder(parent: Element, { name, codes }: Segment): Element {
  const made = element(
    name,
    codes.map(([child, code]) => element(child, code)),
  );
  const others = childrenOf(parent, name);
  const codesOf = (each: Element) => codes.map(([child]) => childValue(each, child)).join();
  const next = others.findIndex((each) => codesOf(each) > codesOf(made));
  const at = next < 0 ? others.length : next;
  replaceChildren(parent, others, others.toSpliced(at, 0, made));
  return made;
}

function setAttribute(
  found: Element | undefined,
  attribute: string,
  value: string | undefined,
): void {
  if (!found) return;
  const { [attribute]: _, ...others } = found.attributes;
  found.attributes = value === undefined ? others : { ...others, [attribute]: value };
}
