import {
  attributesAfter,
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  normalized,
  removeChildren,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { type Codec, textOf } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";
import { FORMS_OF_TITLE } from "../rules/dependents.ts";
import { withoutTags } from "../rules/xhtml.ts";
import { joined } from "../xml/person_names.ts";

/*
 * Codecs of titles: those of the product, and helpers shared with collections. A prefix and the
 * title without it are one title, with a space between them. A title that changes is written as
 * `TitleText` instead of its parts.
 */

const TITLE = ["TitlePrefix", "NoPrefix", "TitleWithoutPrefix", "TitleText"];

/** The distinctive title of the product (List 15, 01) at its own level (List 149, 01). */
export const title: Codec = {
  find: (descriptive) =>
    titleElements(descriptive, "01").flatMap((each) => elementOfTitle(each) ?? [])[0],
  read(descriptive, reader) {
    warnOfTitleCodes(descriptive, reader);
    const titles = titleElements(descriptive, "01");
    const own = titles.find((each) => textOfTitle(each) !== undefined);
    if (!own) return;
    claimTitle(descriptive, own, reader);
    const found = elementOfTitle(own)!;
    warnOfEntities(found, reader);
    for (const each of rivalTitles(descriptive, own)) {
      reader.warnOfOther(each, found);
    }
    // A part of a set may have a number alone: it follows the title, which is that of the set.
    const numbers = own === titles[0] ? [] : numbersIn(titles[0]!);
    for (const each of numbers) reader.claim(each);
    return [textOfTitle(own), ...numbers.map(valueOf)].join(" ");
  },
  write(descriptive, now) {
    const own = ownTitle(descriptive);
    // The number of a part without a title is in the text.
    if (textOfTitle(own) === undefined) removeChildren(own, ...NUMBERS);
    writeTitle(own, textOf(now)!);
    removeStatements(descriptive, own);
  },
};

export const subtitle: Codec = {
  find(descriptive) {
    const [own] = titleElements(descriptive, "01");
    return own && child(own, "Subtitle");
  },
  read(descriptive, reader) {
    const [own] = titleElements(descriptive, "01");
    const found = own && child(own, "Subtitle");
    const text = plainText(found);
    if (!text) return;
    reader.claim(found!);
    warnOfEntities(found!, reader);
    return text;
  },
  write(descriptive, now) {
    const own = ownTitle(descriptive);
    setChild(own, "Subtitle", textOf(now));
    removeStatements(descriptive, own);
  },
};

/** The element of the distinctive title, which is added where it is missing. */
function ownTitle(descriptive: Element): Element {
  return titleElements(descriptive, "01")[0] ??
    addTitle(descriptive, "01", "01");
}

/**
 * The titles that compete with that in `own`: the others at its level in the same composite, and
 * the first one of every other distinctive title. Titles at several levels are one title.
 */
function rivalTitles(descriptive: Element, own: Element): Element[] {
  const level = childValue(own, "TitleElementLevel");
  return childrenOf(descriptive, "TitleDetail")
    .filter((each) => childValue(each, "TitleType") === "01")
    .flatMap((detail) => {
      const all = childrenOf(detail, "TitleElement");
      const alike = all.filter((each) => childValue(each, "TitleElementLevel") === level);
      return all.includes(own) ? alike : [...alike, ...all].slice(0, 1);
    })
    .flatMap((each) => elementOfTitle(each) ?? []);
}

/** The elements that number a part of a set. */
const NUMBERS = ["PartNumber", "YearOfAnnual"];

function numbersIn(titleElement: Element): Element[] {
  return NUMBERS.flatMap((name) => child(titleElement, name) ?? [])
    .filter((each) => valueOf(each) !== undefined);
}

/** Warns of an entity in a text, which was escaped twice. */
function warnOfEntities(found: Element, reader: RecordReader): void {
  if (!/&(?:[a-z][a-z\d]{1,31}|#\d{1,7}|#x[\da-f]{1,6});/i.test(found.text)) {
    return;
  }
  reader.warn(
    "escaped_twice",
    "An entity of HTML stands in the text: it was escaped twice",
    found,
  );
}

/** Warns of wrong codes of titles. The titles are read nevertheless. */
export function warnOfTitleCodes(parent: Element, reader: RecordReader): void {
  reader.attempt(() => {
    for (const detail of childrenOf(parent, "TitleDetail")) {
      reader.checkCode(detail, "TitleType");
      for (const each of childrenOf(detail, "TitleElement")) {
        reader.checkCode(each, "TitleElementLevel");
      }
    }
  });
}

/** The elements of the distinctive title, or of the first one, those at the level first. */
export function titleElements(parent: Element, level: string): Element[] {
  const details = childrenOf(parent, "TitleDetail");
  const detail = details.find((each) => childValue(each, "TitleType") === "01") ??
    details[0];
  if (!detail) return [];
  const all = childrenOf(detail, "TitleElement");
  const isOwn = (each: Element) => childValue(each, "TitleElementLevel") === level;
  return [...all.filter(isOwn), ...all.filter((each) => !isOwn(each))];
}

/** The title in a title element. */
export function textOfTitle(titleElement: Element): string | undefined {
  const whole = plainText(child(titleElement, "TitleText"));
  if (whole) return whole;
  const prefix = plainText(child(titleElement, "TitlePrefix"));
  const rest = plainText(child(titleElement, "TitleWithoutPrefix"));
  return joined([prefix, rest]);
}

/** The element that has the title, or its main part. */
export function elementOfTitle(titleElement: Element): Element | undefined {
  return ["TitleText", "TitleWithoutPrefix", "TitlePrefix"]
    .map((name) => child(titleElement, name))
    .find((found) => plainText(found) !== undefined);
}

/** Claims a title, and the codes that the service writes with a title. */
export function claimTitle(
  parent: Element,
  titleElement: Element,
  reader: RecordReader,
): void {
  for (const each of titleElement.children) {
    if (TITLE.includes(each.name)) reader.claim(each);
  }
  const detail = titleDetailOf(parent, titleElement);
  const codes = [
    detail && child(detail, "TitleType"),
    child(titleElement, "TitleElementLevel"),
  ];
  for (const code of codes) if (code) reader.claim(code);
}

/** Writes a title as `TitleText`, in place of its parts. */
export function writeTitle(titleElement: Element, text: string): void {
  const old = titleElement.children.filter(({ name }) => TITLE.includes(name));
  const whole = old.find(({ name }) => name === "TitleText");
  const attributes = whole ? attributesAfter(whole) : {};
  replaceChildren(titleElement, old, [element("TitleText", text, attributes)]);
}

/**
 * Removes elements that repeat the title: the full title as one text, which recipients may show, and
 * titles of other types.
 */
export function removeStatements(parent: Element, titleElement: Element): void {
  const detail = titleDetailOf(parent, titleElement);
  if (!detail) return;
  removeChildren(detail, "TitleStatement");
  parent.children = parent.children.filter((each) =>
    each === detail || each.name !== "TitleDetail" ||
    !FORMS_OF_TITLE.includes(childValue(each, "TitleType") ?? "")
  );
}

/** The title that has an element. */
function titleDetailOf(parent: Element, titleElement: Element): Element | undefined {
  return childrenOf(parent, "TitleDetail").find(({ children }) => children.includes(titleElement));
}

/** Adds a title with one element. */
export function addTitle(
  parent: Element,
  type: string,
  level: string,
): Element {
  const added = element("TitleElement", [element("TitleElementLevel", level)]);
  const detail = childrenOf(parent, "TitleDetail")[0];
  if (detail) detail.children.push(added);
  else {
    parent.children.push(
      element("TitleDetail", [element("TitleType", type), added]),
    );
  }
  return added;
}

function plainText(found: Element | undefined): string | undefined {
  if (!found) return;
  return normalized(found.markup ? withoutTags(found.text) : found.text) ||
    undefined;
}
