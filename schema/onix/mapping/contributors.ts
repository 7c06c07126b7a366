import { about, codeOf, type Fields, required } from "../../fields.ts";
import { canonical, MAX_ENTRIES, objectsIn } from "../../objects.ts";
import { RECORDS } from "../../records.ts";
import {
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
import { check, checkedArray, schemaOf } from "./checks.ts";
import { anyOf, codecOf } from "./fields.ts";
import { readLeaf } from "./path.ts";
import { nameWords, spoken, withoutYears } from "./person_names.ts";
import { joined } from "./titles.ts";
import type { FieldCodec } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Contributors. An element has one person or organization, and one or more roles. A
 * product has a row for each role.
 */

/** A contributor in one role, as the record names them. */
export interface ContributorRow extends Person {
  role: string;
}

/** A contributor by name, with the other fields that the record says. */
export interface Person {
  [field: string]: unknown;
  name: string;
}

/** The parts of a name, in the order in which they are spoken. */
const NAME_PARTS = [
  "NamesBeforeKey",
  "PrefixToKey",
  "KeyNames",
  "NamesAfterKey",
  "SuffixToKey",
];

/** The names with the key names first. */
const INVERTED = ["PersonNameInverted", "CorporateNameInverted"];

/** The fields that have parts of a name. */
const PARTS = ["names_before_key", "key_names", "person_name_inverted"];

/** The fields beside the name, at their places in a contributor. */
const FIELD_CODECS = Object.entries(RECORDS.contributors.fields).flatMap(
  ([name, field]): [string, FieldCodec][] => {
    const codec = name === "name" ? undefined : codecOf(name, field, "Contributor");
    return codec ? [[name, codec]] : [];
  },
);

/** The fields that identify contributors before their names do. */
const NAME_IDENTIFIERS = ["isni", "orcid"];

/** What a row is checked against: a role, and the fields of a contributor. */
export const CONTRIBUTOR_FIELDS: Fields = {
  role: about("The role.", required(codeOf(17)), "ContributorRole"),
  ...RECORDS.contributors.fields,
};

const CONTRIBUTOR = { fields: CONTRIBUTOR_FIELDS };

export const contributors: FieldCodec = {
  read(descriptive, reader) {
    // One more than the API accepts is enough to know that there are too many.
    const rows: { found: Element; entry: ContributorRow }[] = [];
    for (const each of inSequence(childrenOf(descriptive, "Contributor"))) {
      if (rows.length > MAX_ENTRIES) break;
      for (const entry of readRows(each, reader)) {
        rows.push({ found: each, entry });
      }
    }
    return checkedArray({}, "Contributor", descriptive, rows, reader);
  },
  write(descriptive, now, before, reader) {
    writeRows(
      descriptive,
      contributorRows(now),
      contributorRows(before),
      reader,
    );
  },
  project: (value) => anyOf(contributorRows(value).map(projectRow)),
};

/** The rows of an element: one for each of its roles. */
function readRows(each: Element, reader: RecordReader): ContributorRow[] {
  const person = readPerson(each, reader);
  const roles = childrenOf(each, "ContributorRole");
  if (!person || roles.every((role) => !valueOf(role))) {
    warnOfMissing(each, person, reader);
    reader.release(each);
    return [];
  }
  const rows = roles.slice(0, MAX_ENTRIES + 1)
    .flatMap((role) => readRow(each, role, person, reader));
  const number = child(each, "SequenceNumber");
  if (rows.length === 0) reader.release(each);
  else if (number) reader.claim(number);
  return rows;
}

/** A person in one role, or nothing if the API accepts no such row. */
function readRow(
  each: Element,
  role: Element,
  person: Person,
  reader: RecordReader,
): ContributorRow | [] {
  const { result: row } = reader.attempt(() => {
    const code = readLeaf(role, "17", reader);
    if (typeof code !== "string") return;
    reader.claim(role);
    return check(
      schemaOf(CONTRIBUTOR),
      { role: code, ...person },
      ([field]) => ({ element: elementOfPerson(each, field!) ?? role }),
      reader,
      { keepsRest: true },
    );
  });
  return row ? reader.tie(each, row as ContributorRow) : [];
}

/** Warns of a contributor without a role or without a name, unless it stands for persons without names. */
function warnOfMissing(
  each: Element,
  person: Person | undefined,
  reader: RecordReader,
): void {
  if (person) reader.lacks(each, "ContributorRole");
  else if (!childValue(each, "UnnamedPersons")) {
    const empty = NAMES.find((name) => child(each, name));
    reader.lacks(each, empty ?? "PersonName");
  }
}

function contributorRows(value: unknown): ContributorRow[] {
  return objectsIn(value) as unknown as ContributorRow[];
}

/** The element of the name. */
function nameElementIn(each: Element): Element | undefined {
  return NAMES.map((name) => child(each, name)).find((found) => valueOf(found) !== undefined);
}

/** The element that says a field of a contributor. */
export function elementOfPerson(
  each: Element,
  field: string,
): Element | undefined {
  return field === "name"
    ? nameElementIn(each)
    : FIELD_CODECS.find(([name]) => name === field)?.[1].find?.(each);
}

const NAMES = [
  "PersonName",
  "KeyNames",
  "CorporateName",
  "PersonNameInverted",
  "CorporateNameInverted",
  ...NAME_PARTS,
];

/** By their numbers, where all have one. */
function inSequence(all: Element[]): Element[] {
  const numbered = all.map((each) => ({
    each,
    number: Number(childValue(each, "SequenceNumber") ?? NaN),
  }));
  if (numbered.some(({ number }) => Number.isNaN(number))) return all;
  return numbered.sort((a, b) => a.number - b.number).map(({ each }) => each);
}

function readPerson(
  each: Element,
  reader: RecordReader,
): Person | undefined {
  const use = (name: string) => {
    const found = child(each, name);
    const value = valueOf(found);
    if (found && value) reader.claim(found);
    return value;
  };
  const corporate = childValue(each, "CorporateName") ??
    childValue(each, "CorporateNameInverted");
  const parts = NAME_PARTS.map((part) => childValue(each, part));
  const inverted = childValue(each, "PersonNameInverted");
  const whole = childValue(each, "PersonName") ?? joined(parts);
  const name = whole ? withoutYears(whole) : inverted && spoken(inverted);
  if (!name && !corporate) return;
  if (name) {
    use("PersonName");
    NAME_PARTS.forEach(use);
  } else {
    use("CorporateName");
    if (!childValue(each, "CorporateName")) use("CorporateNameInverted");
  }
  const person: Person = { name: (name ?? corporate)! };
  if (!name) person.is_organization = true;
  for (const [field, codec] of FIELD_CODECS) {
    const { result: value } = reader.attempt(() => codec.read(each, reader));
    if (typeof value === "string") {
      person[field] = NAME_IDENTIFIERS.includes(field)
        ? value.replace(/^https?:\/\/\D*/i, "")
        : value;
    }
  }
  return person;
}

function projectRow(row: ContributorRow): Record<string, unknown> {
  const { role, name, is_organization } = row;
  const projected: Record<string, unknown> = { role, name: normalized(name) };
  if (is_organization) projected.is_organization = true;
  for (const [field, codec] of FIELD_CODECS) {
    const value = codec.project(row[field]);
    if (value !== undefined) projected[field] = value;
  }
  return projected;
}

type PersonEntry = Record<string, unknown>;

/** Rows with the element that says them. */
interface KnownRow {
  row: ContributorRow;
  each: Element;
  isFree: boolean;
}

function writeRows(
  descriptive: Element,
  now: ContributorRow[],
  before: ContributorRow[],
  reader: RecordReader,
): void {
  const known = before.map((row): KnownRow => ({
    row,
    each: reader.elementOf(row)!,
    isFree: true,
  }));
  const own = [...new Set(known.map(({ each }) => each))];
  const wanted: {
    each: Element;
    rows: ContributorRow[];
    was?: ContributorRow;
  }[] = [];
  for (const row of now) {
    const match = known.find((one) =>
      one.isFree && one.row.role === row.role && isSamePerson(one.row, row)
    ) ?? known.find((one) => one.isFree && isSamePerson(one.row, row));
    const last = wanted.at(-1);
    if (match) match.isFree = false;
    if (last && match && last.each === match.each) last.rows.push(row);
    else if (match && !wanted.some(({ each }) => each === match.each)) {
      wanted.push({ each: match.each, rows: [row], was: match.row });
    } else if (last && isSamePerson(last.rows[0]!, row)) last.rows.push(row);
    else wanted.push({ each: element("Contributor", []), rows: [row] });
  }
  const shown = (rows: ContributorRow[]) => canonical(rows.map(({ name, role }) => [name, role]));
  // A statement says all contributors in one text.
  if (shown(now) !== shown(before)) {
    removeChildren(descriptive, "ContributorStatement");
  }
  if (wanted.length > 0) removeChildren(descriptive, "NoContributor");
  for (const { each, rows, was } of wanted) {
    writeRoles(each, rows.map(({ role }) => role));
    writePerson(each, rows[0]!, was, reader);
  }
  const elements = wanted.map(({ each }) => each);
  const isInPlace = elements.length === own.length &&
    elements.every((each, i) => each === own[i]);
  if (!isInPlace) {
    replaceChildren(descriptive, own, elements);
    renumber(childrenOf(descriptive, "Contributor"), elements);
  }
}

/** Whether both rows mean one person: by the id or an identifier that both have, or by name. */
export function isSamePerson(a: PersonEntry, b: PersonEntry): boolean {
  return a.id !== undefined && b.id !== undefined ? a.id === b.id : isNamedSame(a, b);
}

function isNamedSame(a: PersonEntry, b: PersonEntry): boolean {
  for (const id of NAME_IDENTIFIERS) {
    if (a[id] && b[id]) return bare(a[id]) === bare(b[id]);
  }
  return normalized(String(a.name)) === normalized(String(b.name));
}

function bare(id: unknown): string {
  return String(id).replace(/[- ]/g, "");
}

function writeRoles(each: Element, roles: string[]): void {
  const old = childrenOf(each, "ContributorRole");
  if (canonical(old.map(valueOf)) === canonical(roles)) return;
  const unused = [...old];
  const wanted = roles.map((role) => {
    const i = unused.findIndex((one) => valueOf(one) === role);
    return i < 0 ? element("ContributorRole", role) : unused.splice(i, 1)[0]!;
  });
  replaceChildren(each, old, wanted);
}

/** Writes what has changed of a person. */
function writePerson(
  each: Element,
  row: ContributorRow,
  was: ContributorRow | undefined,
  reader: RecordReader,
): void {
  const now = projectRow(row);
  const before = was ? projectRow(was) : {};
  const isChanged = (field: string) => now[field] !== before[field];
  if (isChanged("name") || isChanged("is_organization")) {
    const name = row.is_organization ? "CorporateName" : "PersonName";
    const other = row.is_organization ? "PersonName" : "CorporateName";
    setChild(each, other, undefined);
    setChild(each, name, row.name);
  }
  for (const [field, codec] of FIELD_CODECS) {
    if (isChanged(field)) codec.write(each, now[field], before[field], reader);
  }
  if (["name", "is_organization", ...PARTS].some(isChanged)) {
    const others = row.is_organization
      ? ["PersonNameInverted", ...NAME_PARTS]
      : ["CorporateNameInverted"];
    removeChildren(each, ...others);
    removeOtherParts(each, row.name);
  }
}

/** Removes the parts of a name with words that the name has not. */
function removeOtherParts(each: Element, name: string): void {
  const words = new Set(nameWords(name));
  const others = each.children.filter((part) =>
    (NAME_PARTS.includes(part.name) || INVERTED.includes(part.name)) &&
    !nameWords(part.text).every((word) => words.has(word))
  );
  replaceChildren(each, others, []);
}

/** Contributors that are moved or new get numbers in their order, if any has one. */
function renumber(all: Element[], known: Element[]): void {
  const isNumbered = all.some((each) => child(each, "SequenceNumber"));
  const isNew = known.every((each) => !child(each, "SequenceNumber"));
  if (!isNumbered && !isNew) return;
  all.forEach((each, i) => setChild(each, "SequenceNumber", String(i + 1)));
}
