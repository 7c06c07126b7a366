import type { Entry } from "../bodies.ts";

/*
 * Arrays in one cell: `Ines Brandt (A01); Olaf Kern (B06)`. A semicolon separates entries, but not
 * within the text of an entry that the product has.
 */

/** How the entries of an array are written in a cell. */
interface OneCell {
  write(entry: Entry): string;
  /** Reads an entry. `left` are the entries of the product that the cell does not have yet. */
  read(text: string, left: Entry[], stored: readonly Entry[]): Entry;
}

const LISTS: Readonly<Record<string, OneCell>> = {
  contributors: {
    write: (one) => `${one.contributor_name} (${one.contributor_role_code})`,
    read(text, left, stored) {
      const [, name = text, role] = /^(.*\S)\s*\(([A-Za-z]\d\d)\)$/s.exec(text) ?? [];
      const code = role?.toUpperCase();
      const isMeant = isNamed("contributor_name", name);
      const same = take(
        left,
        (one) =>
          isMeant(one) &&
          one.contributor_role_code === (code ?? one.contributor_role_code),
      );
      const id = (same ?? stored.find(isMeant))?.contributor_id;
      return {
        ...id ? { contributor_id: id } : { contributor_name: name },
        ...code
          ? { contributor_role_code: code }
          : same && { contributor_role_id: same.contributor_role_id },
      };
    },
  },
  product_collections: {
    write: ({ collection_name: name, part_number: part }) =>
      part === null ? `${name}` : `${name} #${part}`,
    read(text, left) {
      const [, name = text, part_number = null] = /^(.*\S)\s+#(\S.*)$/s.exec(text) ?? [];
      const same = take(left, isNamed("collection_name", name));
      return same
        ? { collection_id: same.collection_id, part_number }
        : { collection_name: name, part_number };
    },
  },
  subjects: {
    write: (one) =>
      `${one.subject_scheme_identifier}:${one.subject_code ?? one.subject_heading_text}`,
    read(text, left) {
      const [, scheme, value = text] = /^(\w+):\s*(.*)$/s.exec(text) ?? [];
      // Keywords are words.
      const field = scheme === "20" ? "subject_heading_text" : "subject_code";
      return take(
        left,
        (one) => one.subject_scheme_identifier === scheme && one[field] === value,
      ) ??
        { ...scheme && { subject_scheme_identifier: scheme }, [field]: value };
    },
  },
};

function isNamed(field: string, name: string): (entry: Entry) => boolean {
  const key = (text: unknown) => String(text).normalize("NFC").replace(/\s+/g, " ").trim();
  return (entry) => key(entry[field]) === key(name);
}

function take(
  left: Entry[],
  isMeant: (entry: Entry) => boolean,
): Entry | undefined {
  const at = left.findIndex(isMeant);
  return at < 0 ? undefined : left.splice(at, 1)[0];
}

/** Writes an array as one cell. */
export function writeList(field: string, value: unknown): string {
  return (value as Entry[]).map(LISTS[field]!.write).join("; ");
}

/** Reads the entries of a cell, where the product has `stored`. */
export function readList(
  field: string,
  cell: string,
  stored: readonly Entry[],
): Entry[] {
  const { write, read } = LISTS[field]!;
  const left = [...stored];
  const entries: Entry[] = [];
  for (let rest = cell.trim(); rest !== "";) {
    const same = take(left, (one) => {
      const text = write(one);
      return rest.startsWith(text) &&
        /^\s*(?:;|$)/.test(rest.slice(text.length));
    });
    const text = same ? write(same) : /^[^;]*/.exec(rest)![0];
    rest = rest.slice(text.length).replace(/^\s*;?\s*/, "");
    if (same) entries.push(same);
    else if (text.trim() !== "") entries.push(read(text.trim(), left, stored));
  }
  return entries;
}
