import {
  child,
  childrenOf,
  type Element,
  element,
  removeChildren,
  valueOf,
} from "../xml/element.ts";
import { joined, NAME_PARTS, spoken } from "../xml/person_names.ts";

/*
 * Who wrote a text, such as a review. Since revision 3, release 3.1 has a `TextSource` for each
 * person or organization. Release 3.0 has `TextAuthor`, `TextSourceCorporate` and
 * `TextSourceDescription`. A text has one of the two kinds, never both.
 *
 * `<TextSource><PersonName>Jane Roe</PersonName></TextSource>` is `<TextAuthor>Jane Roe</TextAuthor>`.
 */

/** The elements that `TextSource` replaces. */
const OLDER = ["TextAuthor", "TextSourceCorporate", "TextSourceDescription"] as const;

export type OlderElement = typeof OLDER[number];

/** The elements that say who a source is. */
const NAMES = [
  "NameIdentifier",
  "PersonName",
  "PersonNameInverted",
  "KeyNames",
  "CorporateName",
  "CorporateNameInverted",
];

/** A value of an older element, and the elements in a source that contain it. */
interface SourceValue {
  value: string;
  elements: Element[];
}

/** The sources of a text that have a name or an identifier. */
function textSourcesIn(content: Element): Element[] {
  return childrenOf(content, "TextSource")
    .filter((source) => NAMES.some((name) => child(source, name)));
}

/** Whether `TextSource` says who wrote a text. */
export function hasTextSources(content: Element): boolean {
  return textSourcesIn(content).length > 0;
}

/** The values of an older element in the sources of a text. */
export function valuesInSources(content: Element, older: OlderElement): SourceValue[] {
  return textSourcesIn(content).flatMap((source) => {
    switch (older) {
      case "TextAuthor":
        return personIn(source) ?? [];
      case "TextSourceCorporate":
        return corporateNameIn(source) ?? [];
      case "TextSourceDescription":
        return childrenOf(source, older).flatMap((each) => valueIn(each) ?? []);
    }
  });
}

/** The name of a person, if a source is one. */
function personIn(source: Element): SourceValue | undefined {
  const parts = NAME_PARTS.flatMap((name) => child(source, name) ?? []);
  const whole = child(source, "PersonName");
  const value = valueOf(whole) ?? joined(parts.map(valueOf));
  if (value) return { value, elements: [...whole ? [whole] : [], ...parts] };
  const inverted = valueIn(child(source, "PersonNameInverted"));
  return inverted && { ...inverted, value: spoken(inverted.value) };
}

/** The name of an organization, if a source is one. A source that also names a person is that person. */
export function corporateNameIn(source: Element): SourceValue | undefined {
  if (personIn(source)) return;
  return valueIn(child(source, "CorporateName")) ??
    valueIn(child(source, "CorporateNameInverted"));
}

function valueIn(found: Element | undefined): SourceValue | undefined {
  const value = valueOf(found);
  return value === undefined ? undefined : { value, elements: [found!] };
}

/** The children of a text with the elements of release 3.0 for its sources. */
export function withOlderSources(content: Element): Element[] {
  const { children } = content;
  const others = children.filter(({ name }) => name !== "TextSource");
  if (!hasTextSources(content)) return others;
  const persons = valuesInSources(content, "TextAuthor");
  const corporate = valuesInSources(content, "TextSourceCorporate").slice(0, 1);
  const descriptions = valuesInSources(content, "TextSourceDescription")
    .flatMap(({ elements }) => elements);
  // One a language.
  const byLanguage = Map.groupBy(descriptions, ({ attributes }) => attributes.language);
  const at = children.findIndex(({ name }) => name === "TextSource");
  return children.toSpliced(
    at,
    0,
    ...persons.map((person) => olderElement("TextAuthor", person)),
    ...corporate.map((one) => olderElement("TextSourceCorporate", one)),
    ...Array.from(byLanguage.values(), ([first]) => first!),
  ).filter((each) => each.name !== "TextSource" && !(isOlder(each) && children.includes(each)));
}

/** The children of a text without the sources that an older element names, or without their descriptions. */
export function withoutInSources(content: Element, older: OlderElement): Element[] {
  const removed = valuesInSources(content, older).flatMap(({ elements }) => elements);
  if (older !== "TextSourceDescription") {
    return content.children.filter((each) =>
      each.name !== "TextSource" || !each.children.some((one) => removed.includes(one))
    );
  }
  for (const source of childrenOf(content, "TextSource")) removeChildren(source, older);
  return content.children;
}

/** A name in the language in which its source has it. */
function olderElement(name: OlderElement, { value, elements: [named] }: SourceValue): Element {
  const { language } = named!.attributes;
  return element(name, value, language === undefined ? {} : { language });
}

/** The children of a text. If it has a `TextSource`, the elements that this replaces are withheld. */
export function withoutOlderBesideSources(content: Element): Element[] {
  const { children } = content;
  if (!hasTextSources(content)) return children;
  return children.map((each) => isOlder(each) ? { ...each, isWithheld: true } : each);
}

function isOlder({ name }: Element): boolean {
  return OLDER.some((older) => older === name);
}
