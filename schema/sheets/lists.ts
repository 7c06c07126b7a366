import type { Entry } from "../bodies.ts";

/*
 * Arrays in one cell: `Ines Brandt (A01); Olaf Kern (B06)`. A semicolon separates entries. An
 * entry that reads as one of the product's own is that, so a semicolon in it separates nothing.
 */

/** How the entries of an array are written in a cell. */
interface OneCell {
  write(entry: Entry): string;
  /** Reads an entry. `own` are the entries of the product that the cell does not have yet. */
  read(text: string, own: readonly Entry[]): Entry;
}

const sameName = (one: unknown, other: string) =>
  String(one).normalize("NFC").replace(/\s+/g, " ").trim() ===
    other.normalize("NFC").replace(/\s+/g, " ");

const LISTS: Readonly<Record<string, OneCell>> = {
  contributors: {
    write: ({ contributor_name: name, contributor_role_code: role }) =>
      `${name} (${role})`,
    read(text, own) {
      const [, name = text, role] =
        /^(.*\S)\s*\(([A-Za-z]\d\d)\)$/s.exec(text) ?? [];
      const code = role?.toUpperCase();
      const known = own.filter((one) => sameName(one.contributor_name, name));
      const same = known.find((one) => one.contributor_role_code === code) ??
        known[0];
      const { contributor_id, contributor_role_id } = same ?? {};
      return {
        ...same ? { contributor_id } : { contributor_name: name },
        ...code
          ? { contributor_role_code: code }
          : same
          ? { contributor_role_id }
          : {},
      };
    },
  },
  product_collections: {
    write: ({ collection_name: name, part_number: part }) =>
      part === null ? `${name}` : `${name} #${part}`,
    read(text, own) {
      const [, name = text, part = null] = /^(.*\S)\s+#(\S.*)$/s.exec(text) ??
        [];
      const same = own.find((one) => sameName(one.collection_name, name));
      return {
        ...same
          ? { collection_id: same.collection_id }
          : { collection_name: name },
        part_number: part,
      };
    },
  },
  subjects: {
    write: (
      {
        subject_scheme_identifier: scheme,
        subject_code: code,
        subject_heading_text: heading,
      },
    ) => `${scheme}:${code ?? heading}`,
    read(text, own) {
      const [, scheme, value = text] = /^(\w+):\s*(.*)$/s.exec(text) ?? [];
      const same = own.find((one) =>
        one.subject_scheme_identifier === scheme && one.subject_code === value
      );
      if (same) return same;
      return {
        ...scheme && { subject_scheme_identifier: scheme },
        // Keywords are words.
        [scheme === "20" ? "subject_heading_text" : "subject_code"]: value,
      };
    },
  },
};

/** The cell of an array. */
export function cellOfList(field: string, value: unknown): string {
  return (value as Entry[]).map(LISTS[field]!.write).join("; ");
}

/** The entries of a cell. */
export function readList(
  field: string,
  cell: string,
  stored: readonly Entry[],
): Entry[] {
  const { write, read } = LISTS[field]!;
  const own = new Map(stored.map((entry) => [entry, write(entry)]));
  const entries: Entry[] = [];
  for (let rest = cell.trim(); rest !== "";) {
    const [same] = [...own].find(([, text]) =>
      rest.startsWith(text) && /^\s*(?:;|$)/.test(rest.slice(text.length))
    ) ?? [];
    const text = same ? own.get(same)! : /^[^;]*/.exec(rest)![0];
    rest = rest.slice(text.length).replace(/^\s*;?\s*/, "");
    if (text.trim() === "") {
      continue;
    }
    const entry = same ?? read(text.trim(), [...own.keys()]);
    for (const one of own.keys()) {
      const isTaken = one === same || one === entry ||
        entry.contributor_id !== undefined &&
          one.contributor_id === entry.contributor_id &&
          !(entry.contributor_role_code &&
            one.contributor_role_code !== entry.contributor_role_code);
      if (isTaken) {
        own.delete(one);
      }
    }
    entries.push(entry);
  }
  return entries;
}
