import type { Entry } from "../../../../schema/bodies.ts";
import { RECORDS } from "../../../../schema/records.ts";
import {
  child,
  childValue,
  type Element,
  normalized,
  removeChildren,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import type { FieldCodec } from "../codecs/codec.ts";
import { fieldCodec } from "../codecs/fields.ts";
import { joined, NAME_PARTS, nameWords, spoken, withoutYears } from "../xml/person_names.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Reads and writes the person or organization of a `Contributor`. Its name can be in one element,
 * inverted (`Twain, Mark`), or in parts.
 */

/** A contributor by name, with the other fields in the record. */
export interface Person {
  [field: string]: unknown;
  name: string;
}

/** The names with the key names first. */
const INVERTED = ["PersonNameInverted", "CorporateNameInverted"];

/** What stands before and after a name, such as Prof. or MBE. */
const NAME_TITLES = ["TitlesBeforeNames", "LettersAfterNames", "TitlesAfterNames"];

/** The elements of names, that of the name as it is spoken first. */
export const NAME_ELEMENTS = [
  "PersonName",
  "KeyNames",
  "CorporateName",
  ...INVERTED,
  ...NAME_PARTS,
];

/** The fields that have parts of a name. */
const PART_FIELDS = ["names_before_key", "key_names", "person_name_inverted"];

/** The fields of a contributor except its name, at their paths. */
const FIELD_CODECS = Object.entries(RECORDS.contributors.fields).flatMap(
  ([name, field]): [string, FieldCodec][] => {
    const codec = name === "name" ? undefined : fieldCodec(name, field, "Contributor");
    return codec ? [[name, codec]] : [];
  },
);

/** The fields that identify contributors before their names do. */
const NAME_IDENTIFIERS = ["isni", "orcid"];

/** The element of the name. */
function nameElementIn(contributor: Element): Element | undefined {
  return NAME_ELEMENTS.map((name) => child(contributor, name)).find((found) =>
    valueOf(found) !== undefined
  );
}

/** Returns the element with a field of a contributor. */
export function elementOfPerson(
  contributor: Element,
  field: string,
): Element | undefined {
  return field === "name"
    ? nameElementIn(contributor)
    : FIELD_CODECS.find(([name]) => name === field)?.[1].find?.(contributor);
}

/** The person or organization of an element, if it has a name. */
export function readPerson(
  contributor: Element,
  reader: RecordReader,
): Person | undefined {
  const claim = (name: string) => {
    const found = child(contributor, name);
    if (found && valueOf(found)) reader.claim(found);
  };
  const corporate = childValue(contributor, "CorporateName") ??
    childValue(contributor, "CorporateNameInverted");
  const parts = NAME_PARTS.map((part) => childValue(contributor, part));
  const inverted = childValue(contributor, "PersonNameInverted");
  const whole = childValue(contributor, "PersonName") ?? joined(parts);
  const name = whole ? withoutYears(whole) : inverted && spoken(inverted);
  if (!name && !corporate) return;
  if (name) {
    claim("PersonName");
    NAME_PARTS.forEach(claim);
  } else {
    claim("CorporateName");
    if (!childValue(contributor, "CorporateName")) claim("CorporateNameInverted");
  }
  const person: Person = { name: (name ?? corporate)! };
  if (!name) person.is_organization = true;
  for (const [field, codec] of FIELD_CODECS) {
    const { result: value } = reader.attempt(() => codec.read(contributor, reader));
    if (typeof value === "string") {
      person[field] = NAME_IDENTIFIERS.includes(field)
        ? value.replace(/^https?:\/\/\D*/i, "")
        : value;
    }
  }
  return person;
}

/** Returns the part of a person that an element can contain. */
export function projectPerson(person: Person): Entry {
  const { name, is_organization } = person;
  const projected: Entry = { name: normalized(name) };
  if (is_organization) projected.is_organization = true;
  for (const [field, codec] of FIELD_CODECS) {
    const value = codec.project(person[field]);
    if (value !== undefined) projected[field] = value;
  }
  return projected;
}

/** Whether both rows are the same person: by an id or identifier that both have, or by name. */
export function isSamePerson(a: Entry, b: Entry): boolean {
  return a.id !== undefined && b.id !== undefined ? a.id === b.id : isNamedSame(a, b);
}

function isNamedSame(a: Entry, b: Entry): boolean {
  for (const id of NAME_IDENTIFIERS) {
    if (a[id] && b[id]) return bare(a[id]) === bare(b[id]);
  }
  return normalized(String(a.name)) === normalized(String(b.name));
}

function bare(id: unknown): string {
  return String(id).replace(/[- ]/g, "");
}

/** Writes the changed fields of a person. */
export function writePerson(
  contributor: Element,
  person: Person,
  earlier: Person | undefined,
  reader: RecordReader,
): void {
  const now = projectPerson(person);
  const before = earlier ? projectPerson(earlier) : {};
  const isChanged = (field: string) => now[field] !== before[field];
  if (isChanged("name") || isChanged("is_organization")) {
    const name = person.is_organization ? "CorporateName" : "PersonName";
    const other = person.is_organization ? "PersonName" : "CorporateName";
    setChild(contributor, other, undefined);
    setChild(contributor, name, person.name);
  }
  for (const [field, codec] of FIELD_CODECS) {
    if (isChanged(field)) codec.write(contributor, now[field], before[field], reader);
  }
  if (["name", "is_organization", ...PART_FIELDS].some(isChanged)) {
    const others = person.is_organization
      ? ["PersonNameInverted", ...NAME_PARTS]
      : ["CorporateNameInverted"];
    removeChildren(contributor, ...others);
    const titles = isChanged("name") ? NAME_TITLES : [];
    removeOtherParts(contributor, person.name, [...NAME_PARTS, ...INVERTED, ...titles]);
  }
}

/** Removes the parts of a name with words that the name does not have. */
function removeOtherParts(contributor: Element, name: string, parts: readonly string[]): void {
  const words = new Set(nameWords(name));
  const others = contributor.children.filter((part) =>
    parts.includes(part.name) &&
    !nameWords(part.text).every((word) => words.has(word))
  );
  replaceChildren(contributor, others, []);
}
