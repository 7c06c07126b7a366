import type { Entry } from "../../../../schema/bodies.ts";
import { about, codeOf, type Fields, required } from "../../../../schema/fields.ts";
import { canonical, MAX_ENTRIES, objectsIn } from "../../../../schema/objects.ts";
import { RECORDS } from "../../../../schema/records.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  removeChildren,
  removeDependents,
  replaceChildren,
  valueOf,
} from "../xml/element.ts";
import { check, checkedArray } from "../codecs/checks.ts";
import { type FieldCodec, unlessEmpty } from "../codecs/codec.ts";
import { schemaOfEntry } from "../codecs/entry_schemas.ts";
import { readLeaf } from "../codecs/leaf.ts";
import { bySequence, renumber } from "../codecs/sequence.ts";
import {
  elementOfPerson,
  isSamePerson,
  NAME_ELEMENTS,
  type Person,
  projectPerson,
  readPerson,
  writePerson,
} from "./person.ts";
import { TRANSLATORS } from "../rules/dependents.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Contributors. An element has one person or organization with one or more roles. A product has a
 * row for each role.
 */

/** The fields by which a row is validated: a role, and those of a contributor. */
const CONTRIBUTOR_FIELDS: Fields = {
  role: about("The role.", required(codeOf(17)), "ContributorRole"),
  ...RECORDS.contributors.fields,
};

const CONTRIBUTOR = { fields: CONTRIBUTOR_FIELDS };

/** A contributor in one role, as the record names them. */
export interface ContributorRow extends Person {
  role: string;
}

export const contributors: FieldCodec = {
  read(descriptive, reader) {
    // One more than the API accepts is enough to know that there are too many.
    const rows: { found: Element; entry: ContributorRow }[] = [];
    for (const each of bySequence(childrenOf(descriptive, "Contributor"))) {
      if (rows.length > MAX_ENTRIES) break;
      for (const entry of readContributor(each, reader)) {
        rows.push({ found: each, entry });
      }
    }
    return checkedArray({}, "Contributor", descriptive, rows, reader);
  },
  write(descriptive, now, before, reader) {
    writeContributors(
      descriptive,
      contributorRows(now),
      contributorRows(before),
      reader,
    );
  },
  project: (value) =>
    unlessEmpty(contributorRows(value).map((row) => ({ role: row.role, ...projectPerson(row) }))),
};

/** The rows of an element: one for each of its roles. */
function readContributor(contributor: Element, reader: RecordReader): ContributorRow[] {
  const person = readPerson(contributor, reader);
  const roles = childrenOf(contributor, "ContributorRole");
  if (!person || roles.every((role) => !valueOf(role))) {
    warnOfIncomplete(contributor, person, reader);
    reader.release(contributor);
    return [];
  }
  const rows = roles.slice(0, MAX_ENTRIES + 1)
    .flatMap((role) => readRole(contributor, role, person, reader));
  const number = child(contributor, "SequenceNumber");
  if (rows.length === 0) reader.release(contributor);
  else if (number) reader.claim(number);
  return rows;
}

/** Returns a person in one role, or undefined if the API refuses such a row. */
function readRole(
  contributor: Element,
  role: Element,
  person: Person,
  reader: RecordReader,
): ContributorRow | [] {
  const { result: row } = reader.attempt(() => {
    const code = readLeaf(role, "17", reader);
    if (typeof code !== "string") return;
    reader.claim(role);
    return check(
      schemaOfEntry(CONTRIBUTOR),
      { role: code, ...person },
      ([field]) => ({ element: elementOfPerson(contributor, field!) ?? role }),
      reader,
      { keepsRest: true },
    );
  });
  return row ? reader.tie(contributor, row as ContributorRow) : [];
}

/** Warns of a contributor without a role or without a name, unless it stands for persons without names. */
function warnOfIncomplete(
  contributor: Element,
  person: Person | undefined,
  reader: RecordReader,
): void {
  if (person) reader.warnOfMissing(contributor, "ContributorRole");
  else if (!childValue(contributor, "UnnamedPersons")) {
    const empty = NAME_ELEMENTS.find((name) => child(contributor, name));
    reader.warnOfMissing(contributor, empty ?? "PersonName");
  }
}

function contributorRows(value: unknown): ContributorRow[] {
  return objectsIn(value) as unknown as ContributorRow[];
}

/** Returns the rows with the content of an earlier one. A product has these once. */
export function repeatedRows(value: unknown): ReadonlySet<Entry> {
  const seen = new Set<string>();
  const fields = Object.keys(CONTRIBUTOR_FIELDS);
  return new Set(
    objectsIn(value).filter((row) => {
      const key = JSON.stringify(fields.map((field) => row[field]));
      return seen.has(key) || !seen.add(key);
    }),
  );
}

/** An element, and the rows to write into it. */
interface RowsOfElement {
  found: Element;
  rows: ContributorRow[];
  /** Its previous content, if it is not new. */
  earlier?: ContributorRow;
}

/** The rows by element: those of one person that follow each other share one. */
function rowsByElement(
  now: readonly ContributorRow[],
  before: readonly ContributorRow[],
  reader: RecordReader,
): RowsOfElement[] {
  const free = new Set(before);
  const all: RowsOfElement[] = [];
  for (const row of now) {
    const isSame = (one: ContributorRow) => isSamePerson(one, row);
    const earlier = free.values().find((one) => one.role === row.role && isSame(one)) ??
      free.values().find(isSame);
    if (earlier) free.delete(earlier);
    const known = earlier && reader.elementOf(earlier);
    const last = all.at(-1);
    if (known && !all.some(({ found }) => found === known)) {
      all.push({ found: known, rows: [row], earlier: earlier! });
    } else if (last && (last.found === known || isSame(last.rows[0]!))) {
      last.rows.push(row);
    } else all.push({ found: element("Contributor", []), rows: [row] });
  }
  return all;
}

function writeContributors(
  descriptive: Element,
  now: ContributorRow[],
  before: ContributorRow[],
  reader: RecordReader,
): void {
  const old = [...new Set(before.map((row) => reader.elementOf(row)!))];
  const wanted = rowsByElement(now, before, reader);
  const shown = (rows: ContributorRow[]) => canonical(rows.map(({ name, role }) => [name, role]));
  // A statement has all contributors in one text.
  if (shown(now) !== shown(before)) {
    removeDependents(descriptive, "Contributor");
  }
  for (const { found, rows, earlier } of wanted) {
    writeRoles(found, rows.map(({ role }) => role));
    writePerson(found, rows[0]!, earlier, reader);
  }
  const elements = wanted.map(({ found }) => found);
  const isInPlace = elements.length === old.length &&
    elements.every((each, i) => each === old[i]);
  if (!isInPlace) {
    replaceChildren(descriptive, old, elements);
    renumber(childrenOf(descriptive, "Contributor"));
  }
}

function writeRoles(contributor: Element, roles: string[]): void {
  const old = childrenOf(contributor, "ContributorRole");
  if (canonical(old.map(valueOf)) === canonical(roles)) return;
  const unused = [...old];
  const wanted = roles.map((role) => {
    const i = unused.findIndex((one) => valueOf(one) === role);
    return i < 0 ? element("ContributorRole", role) : unused.splice(i, 1)[0]!;
  });
  replaceChildren(contributor, old, wanted);
  const isTranslator = (role: string | undefined) => TRANSLATORS.includes(role ?? "");
  if (old.map(valueOf).some(isTranslator) && !roles.some(isTranslator)) {
    removeChildren(contributor, "FromLanguage", "ToLanguage");
  }
}
