import { comparedName } from "../../../schema/named.ts";
import { spoken, withoutYears } from "../../onix/schema/xml/person_names.ts";
import type { CellChange } from "./report.ts";
import type { Entry } from "../../../schema/bodies.ts";
import { MAX_ENTRIES } from "../../../schema/objects.ts";

/*
 * Reads and writes arrays in one cell: `Ines Brandt (A01); Olaf Kern (B06)`. A semicolon separates
 * entries, except within the text of an entry that the product has.
 */

/** The form of an array's entries in a cell. */
interface OneCell {
  write(entry: Entry): string;
  /** The key by which an entry is found that is written in another way. */
  key(entry: Entry): string;
  /** Reads an entry. `stored`: those of the product. */
  read(text: string, stored: StoredEntries): Entry;
  /** The sentence about an entry that lacks a field: how to write it. */
  incomplete?(entry: Entry): string;
  /** Adds the fields that a cell cannot show, from the entry that it replaces. */
  complete?(entry: Entry, stored: StoredEntries): Entry;
}

const LISTS: Readonly<Record<string, OneCell>> = {
  contributors: {
    write: (one) => `${one.contributor_name} (${one.contributor_role_code})`,
    key: (one) => nameKey(one.contributor_name),
    read(text, stored) {
      const [, name = text, role] = /^(.*\S)\s*\(([A-Za-z]\d\d)\)$/s.exec(text) ?? [];
      const code = role?.toUpperCase();
      const key = nameKey(name);
      const same = stored.take(key, (one) => !code || one.contributor_role_code === code);
      const id = (same ?? stored.find(key))?.contributor_id;
      return {
        ...id ? { contributor_id: id } : { contributor_name: name },
        ...code
          ? { contributor_role_code: code }
          : same && { contributor_role_id: same.contributor_role_id },
      };
    },
    incomplete: ({ contributor_name: name = "Ines Brandt" }) =>
      `The role is missing: write it in brackets, such as ${name} (A01)`,
  },
  product_collections: {
    write: ({ collection_name: name, part_number: part }) =>
      part === null ? `${name}` : `${name} #${part}`,
    key: (one) => nameKey(one.collection_name),
    read(text, stored) {
      const [, name = text, part_number = null] = /^(.*\S)\s+#(\S.*)$/s.exec(text) ?? [];
      const same = stored.take(nameKey(name));
      return same
        ? { collection_id: same.collection_id, part_number }
        : { collection_name: name, part_number };
    },
  },
  subjects: {
    write: (one) =>
      `${one.subject_scheme_identifier}:${one.subject_code ?? one.subject_heading_text}`,
    key(one) {
      const scheme = String(one.subject_scheme_identifier);
      return subjectKey(scheme, one[subjectField(scheme)]);
    },
    read(text, stored) {
      const [, scheme, value = text] = /^(\w+):\s*(.*)$/s.exec(text) ?? [];
      return stored.take(subjectKey(scheme, value)) ??
        { ...scheme && { subject_scheme_identifier: scheme }, [subjectField(scheme)]: value };
    },
    incomplete: ({ subject_scheme_identifier: scheme, subject_code: code }) =>
      scheme
        ? `The code is missing: write it after the colon, such as ${scheme}:FBA`
        : `The scheme is missing: write it before a colon, such as 93:${code}`,
    complete(entry, stored) {
      const scheme = entry.subject_scheme_identifier;
      const before = stored.takeFirst((one) => one.subject_scheme_identifier === scheme);
      // The heading belongs to the old code.
      return { ...before, subject_code: null, subject_heading_text: null, ...entry };
    },
  },
};

function nameKey(name: unknown): string {
  return comparedName(String(name));
}

/** The field of a subject's value. Keywords are words. */
function subjectField(scheme: string | undefined): string {
  return scheme === "20" ? "subject_heading_text" : "subject_code";
}

function subjectKey(scheme: string | undefined, value: unknown): string {
  return JSON.stringify([scheme, value]);
}

/** An entry of the product, until it is found in the cell. */
interface Stored {
  index: number;
  entry: Entry;
  isTaken: boolean;
}

/** A tree of the texts of entries, by their parts between semicolons, which can be within texts too. */
interface Node {
  /** The entries whose texts end with a part. */
  ends: Map<string, Stored[]>;
  next: Map<string, Node>;
}

/** The maximum number of parts of cells that are looked up, which takes some milliseconds. */
const MAX_PARTS = 50_000;

/** Finds entries of a product by their texts or keys, in constant time. An entry is taken once. */
class StoredEntries {
  readonly #all: Stored[] = [];
  readonly #byKey = new Map<string, Stored[]>();
  readonly #texts: Node = { ends: new Map(), next: new Map() };
  #partsLeft = MAX_PARTS;

  constructor(entries: readonly Entry[], { write, key }: OneCell) {
    for (const [index, entry] of entries.entries()) {
      const stored = { index, entry, isTaken: false };
      this.#all.push(stored);
      this.#byKey.getOrInsert(key(entry), []).push(stored);
      const parts = write(entry).split(";");
      const end = parts.pop()!;
      let node = this.#texts;
      for (const part of parts) {
        node = node.next.getOrInsertComputed(part, () => ({ ends: new Map(), next: new Map() }));
      }
      node.ends.getOrInsert(end.trimEnd(), []).push(stored);
    }
  }

  /** The first entry with a key. */
  find(key: string): Entry | undefined {
    return this.#byKey.get(key)?.[0]?.entry;
  }

  /** Takes the first free entry with a key. */
  take(key: string, isWanted: (entry: Entry) => boolean = () => true): Entry | undefined {
    const found = this.#byKey.get(key)?.find(({ entry, isTaken }) => !isTaken && isWanted(entry));
    if (found) found.isTaken = true;
    return found?.entry;
  }

  /** Takes the first free entry that fulfils the condition. */
  takeFirst(isWanted: (entry: Entry) => boolean): Entry | undefined {
    const found = this.#all.find(({ entry, isTaken }) => !isTaken && isWanted(entry));
    if (found) found.isTaken = true;
    return found?.entry;
  }

  /** Whether the entry is one of the product. */
  has(entry: Entry): boolean {
    return this.#all.some((one) => one.entry === entry);
  }

  /**
   * Takes the first entry whose text is at this place of the cell, before a semicolon or the end of
   * the cell. Returns it with that place.
   */
  takeAt(cell: string, at: number): { entry: Entry; end: number } | undefined {
    let found: { stored: Stored; end: number } | undefined;
    let node: Node | undefined = this.#texts;
    for (let from = at; node && from <= cell.length;) {
      this.#partsLeft--;
      const end = endOfPart(cell, from);
      const part = cell.slice(from, end);
      const stored = node.ends.get(part.trimEnd())?.find(({ isTaken }) => !isTaken);
      if (stored && stored.index < (found?.stored.index ?? Infinity)) found = { stored, end };
      node = node.next.get(part);
      from = end + 1;
    }
    if (!found) return;
    found.stored.isTaken = true;
    return { entry: found.stored.entry, end: found.end };
  }

  /** Whether the cell has had more parts than any list. */
  get isExhausted(): boolean {
    return this.#partsLeft < 0;
  }
}

function endOfPart(cell: string, from: number): number {
  const end = cell.indexOf(";", from);
  return end < 0 ? cell.length : end;
}

/** Writes an array as one cell. */
export function writeList(field: string, value: unknown): string {
  return (value as Entry[]).map(LISTS[field]!.write).join("; ");
}

/**
 * Reads the entries of a cell. `stored`: the array of the product. Returns undefined if the cell
 * has more entries than an array may have.
 */
export function readList(
  field: string,
  text: string,
  stored: readonly Entry[],
): Entry[] | undefined {
  const list = LISTS[field]!;
  const left = new StoredEntries(stored, list);
  const cell = text.trim();
  const entries: Entry[] = [];
  for (let at = 0; at < cell.length;) {
    const same = left.takeAt(cell, at);
    const end = same ? same.end : endOfPart(cell, at);
    const part = cell.slice(at, end).trim();
    if (same) entries.push(same.entry);
    else if (part !== "") entries.push(list.read(part, left));
    if (entries.length > MAX_ENTRIES || left.isExhausted) return;
    at = end + 1;
    while (/\s/.test(cell.charAt(at))) at++;
  }
  // Equal entries come first: the others take the places that are left.
  const { complete } = list;
  return complete
    ? entries.map((entry) => left.has(entry) ? entry : complete(entry, left))
    : entries;
}

/** How to complete an entry that lacks a field, as a sentence. */
export function remedyInList(field: string, entry: Entry): string | undefined {
  return LISTS[field]?.incomplete?.(entry);
}

/** Returns the values that entries lose because a cell does not show them: the headings of codes. */
export function lostInList(
  field: string,
  before: readonly Entry[],
  after: readonly Entry[],
): CellChange[] {
  if (field !== "subjects") return [];
  const kept = new Set(after.map(({ subject_heading_text: heading }) => heading));
  return before.flatMap(({ subject_code: code, subject_heading_text: from }, i) =>
    code && from && !kept.has(from)
      ? [{ column: `subjects[${i + 1}].subject_heading_text`, from, to: null }]
      : []
  );
}

/** Words in names that are not those of people. */
const NO_PERSON =
  /[&\d]|(?<!\p{L})(?:ltd|limited|inc|gmbh|co|corp|llc|plc|ag|kg|verlag|press|trust|society|university|publishers?)(?!\p{L})/iu;

/**
 * Turns the name of a person that is written surname first: `Tarnow, Ines` becomes `Ines Tarnow`.
 * Returns undefined for another name.
 */
export function turnedName(name: string): string | undefined {
  if (!name.includes(",") || name.length > MAX_TURNED) return;
  const bare = withoutYears(name);
  const parts = bare.split(",").map((part) => part.trim());
  const isPerson = parts.length === 2 || parts.length === 3;
  if (!isPerson || parts.some((part) => part === "" || NO_PERSON.test(part))) return;
  return spoken(bare);
}

/** The longest name that is turned. */
const MAX_TURNED = 200;
