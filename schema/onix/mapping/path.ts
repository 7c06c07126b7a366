import { dataElement } from "../rules/facts.ts";
import { expectedNumber, isAmbiguous, KINDS, shortest, withPoint } from "../rules/kinds.ts";
import { withoutTags } from "../rules/xhtml.ts";
import { dateIn, writeDate } from "../xml/dates.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { type Codec, textOf } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";
import { missingPart } from "./required.ts";

/*
 * Where a value stands below a composite. In: a path from the description of a field. Out:
 * the codec that reads and writes it.
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

/** The value at a path. `isWhole` if the field is a JSON integer. */
export function codecAt(path: string, { isWhole = false } = {}): Codec {
  const steps = stepsOf(path);
  const attribute = steps.at(-1)!.name.startsWith("@") ? steps.pop()!.name.slice(1) : undefined;
  const leaf = steps.at(-1)!.name;
  const above = steps.slice(0, -1);
  const kind = isWhole ? "n" : dataElement(leaf)!.kind;

  /** Every element at the path, in order. The first one counts. */
  function all(composite: Element): Element[] {
    let within = [composite];
    for (const step of above) {
      within = within.flatMap(({ children }) => children.filter((each) => isAt(step, each)));
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
      for (const [i, { codes }] of above.entries()) {
        for (const [name] of codes) reader.claim(child(within[i + 1]!, name)!);
      }
      const isOne = kind === "flag" || reader.isSilent ||
        above.length === 0 && isLast(composite, found);
      for (const each of isOne ? [] : all(composite)) {
        reader.warnOfOther(each, found);
      }
      return value;
    },
    write(composite, now) {
      const text = textOf(now);
      const { trail, rest } = walk(composite, above);
      if (attribute) return setAttribute(find(composite), attribute, text);
      if (text === undefined && above.length > 0) {
        return replaceChildren(composite, trail.slice(1, 2), []);
      }
      for (const step of rest) trail.push(addInOrder(trail.at(-1)!, step));
      // What is changed here does not come from that source.
      if (trail[1]) trail[1].attributes = {};
      if (leaf === "Date" && text) writeDate(trail.at(-1)!, text);
      else setChild(trail.at(-1)!, leaf, text);
    },
  };
}

/**
 * Warns of wrong or missing codes that decide whether a composite is that of the step. If
 * none was `found`, one of these composites might have been it: the field is unreadable.
 */
function warnOfCodes(
  parent: Element,
  { name, codes }: Step,
  found: Element | undefined,
  reader: RecordReader,
): void {
  if (codes.length === 0 || reader.isSilent) return;
  const tell = () => {
    for (const each of childrenOf(parent, name)) {
      for (const [code] of codes) {
        if (childValue(each, code) !== undefined) reader.checkCode(each, code);
        else reader.lacksCode(each, code);
      }
      const missing = missingPart(each);
      if (missing !== undefined) reader.lacks(each, missing);
    }
  };
  if (found) reader.attempt(tell);
  else tell();
}

/** Whether no child of its name follows a child: most are the only ones. */
function isLast({ children }: Element, found: Element): boolean {
  return children.findLast(({ name }) => name === found.name) === found;
}

/** The date of a composite, as the API has it. */
function readDay(
  composite: Element,
  found: Element,
  reader: RecordReader,
): string | undefined {
  const read = dateIn(composite);
  if (!read) return;
  if ("fault" in read) {
    // A date of another calendar is valid, although no field can hold it.
    if (read.fault === "other_calendar") {
      reader.warn(read.fault, read.message, found);
    } else reader.unreadable(found, read.fault, read.message);
  } else if ("from" in read) {
    const message = "Expected one date, not a span of time";
    reader.unreadable(found, "invalid_date", message);
  } else {
    if (read.reformatted) {
      reader.warn("reformatted", `The date is read as ${read.date}`, found);
    }
    const format = child(composite, "DateFormat");
    if (format) reader.claim(format);
    return read.date;
  }
}

/** Adds the composite of a step in the order of its codes. */
function addInOrder(parent: Element, { name, codes }: Step): Element {
  const made = element(
    name,
    codes.map(([child, code]) => element(child, code)),
  );
  const others = childrenOf(parent, name);
  const codesOf = (each: Element) => codes.map(([child]) => childValue(each, child)).join();
  const next = others.findIndex((each) => codesOf(each) > codesOf(made));
  const place = next < 0 ? others.length : next;
  replaceChildren(parent, others, others.toSpliced(place, 0, made));
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

/** The kinds of whole numbers, and of all numbers. */
const WHOLE_NUMBERS = new Set(["n", "n+", "int"]);
const NUMBERS = new Set([...WHOLE_NUMBERS, "d", "d+", "dec", "percent"]);

/** The value of a data element in the type of its field. Warns of a value that cannot be read. */
export function readLeaf(
  found: Element,
  kind: string,
  reader: RecordReader,
): string | number | boolean | undefined {
  if (kind === "flag") return true;
  const text = found.markup && kind !== "flow" ? withoutTags(found.text).trim() : valueOf(found);
  if (text === undefined || text === "") return;
  if (!NUMBERS.has(kind)) {
    return reader.isCode(text, found, kind) ? text : undefined;
  }
  const number = withPoint(text);
  if (!KINDS.dec!.form.test(number)) {
    reader.unreadable(
      found,
      "invalid_number",
      isAmbiguous(text)
        ? "A comma before three last digits may separate thousands or be a decimal sign: write a point, or no sign"
        : expectedNumber("dec"),
    );
    return;
  }
  if (number !== text) {
    const message = "A decimal comma is read as a decimal point";
    reader.warn("reformatted", message, found);
  }
  if (!WHOLE_NUMBERS.has(kind)) return shortest(number);
  return /^\+?\d{1,15}(?:\.0*)?$/.test(number) ? Number(number) : number;
}
