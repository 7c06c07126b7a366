import { nameWords } from "../../schema/onix/mapping/person_names.ts";
import { names, organization, raw, sql, type Statement } from "../connections/sql.ts";
import { comparedName, RecordsByName } from "../record_names.ts";
import { nextUpdate } from "../times.ts";
import { uuidv7 } from "../uuid.ts";
import { COLUMNS, FILLED, IDENTIFYING, type LinkRow, type Table } from "./link_tables.ts";

/*
 * Which record of the organization a name in ONIX means: a publisher, an imprint, a
 * collection or a contributor. What is missing is created. An import fills what a record
 * lacks, and changes nothing else in it.
 */

/** What a record names in one of the tables. A contributor has a role. */
export interface NamedRecord extends Record<string, unknown> {
  name: string;
  role?: string;
}

/** A warning about a field of what is named. */
export interface LinkWarning {
  code: string;
  field: string;
  message: string;
}

/** What is linked for a name, and the warnings about that. */
export interface LinkedRecord {
  row: LinkRow;
  warnings: LinkWarning[];
}

type Warn = (code: string, field: string, message: string) => void;

/** The records of a table that may be meant, oldest first, and those to create. */
export class NamedRecords {
  readonly #table: Table;
  readonly #byName: RecordsByName<LinkRow>;
  readonly #byIdentifier = new Map<string, LinkRow>();
  readonly #created = new Set<LinkRow>();
  /** The columns to fill, with their values. */
  readonly #filled = new Map<LinkRow, Record<string, unknown>>();

  constructor(table: Table, rows: readonly LinkRow[]) {
    this.#table = table;
    this.#byName = new RecordsByName(rows);
    for (const row of rows) this.#noteIdentifiers(row);
  }

  get isChanged(): boolean {
    return this.#created.size + this.#filled.size > 0;
  }

  /**
   * Links what one record names: each to the row that has an identifier of it, to the oldest of
   * its name, or to a new one. Two of one role are never one row, so that a product gets no fewer
   * contributors than its record has.
   */
  linkAll(all: readonly NamedRecord[]): LinkedRecord[] {
    const shared = this.#sharedIdentifiers(all);
    const linkedByRole = new Map<string | undefined, Set<LinkRow>>();
    return all.map((named) => {
      const { role } = named;
      const warnings: LinkWarning[] = [];
      const warn: Warn = (code, field, message) => void warnings.push({ code, field, message });
      const linked = linkedByRole.getOrInsert(role, new Set());
      const own = this.#withOwnIdentifiers(named, shared, warn);
      const row = this.#find(own, linked, warn) ?? this.#create(own);
      this.#fill(row, own);
      if (role) linked.add(row);
      return { row, warnings };
    });
  }

  /** The identifiers that two names of one record bear. */
  #sharedIdentifiers(all: readonly NamedRecord[]): Set<string> {
    const bearers = new Map<string, string>();
    const shared = new Set<string>();
    for (const named of all) {
      for (const id of this.#identifiersOf(named)) {
        const name = comparedName(named.name);
        if ((bearers.get(id) ?? name) !== name) shared.add(id);
        bearers.set(id, name);
      }
    }
    return shared;
  }

  #identifiersOf(named: NamedRecord): string[] {
    return IDENTIFYING[this.#table]
      .flatMap((column) => named[column] ? keyOf(column, named) : []);
  }

  /** What is named, without identifiers of others. */
  #withOwnIdentifiers(
    named: NamedRecord,
    shared: ReadonlySet<string>,
    warn: Warn,
  ): NamedRecord {
    const own: NamedRecord = { ...named };
    for (const column of IDENTIFYING[this.#table]) {
      if (!named[column]) continue;
      const id = keyOf(column, named);
      const bearer = this.#byIdentifier.get(id);
      if (!shared.has(id) && (!bearer || shareWord(bearer.name, named.name))) {
        continue;
      }
      delete own[column];
      const identifier = `${column.toUpperCase()} ${named[column]}`;
      const message = bearer
        ? `The ${identifier} is that of "${bearer.name}": the name is linked without it`
        : `Two names of the record have the ${identifier}: each is linked without it`;
      warn("identifier_of_another", column, message);
    }
    return own;
  }

  /** The record with an identifier of what is named, or else the oldest of its name. */
  #find(
    named: NamedRecord,
    linked: ReadonlySet<LinkRow>,
    warn: Warn,
  ): LinkRow | undefined {
    for (const id of this.#identifiersOf(named)) {
      const row = this.#byIdentifier.get(id);
      if (!row) continue;
      if (comparedName(row.name) !== comparedName(named.name)) {
        warn(
          "name_differs",
          "name",
          `The contributor with this identifier is called "${row.name}": it is linked under its own name`,
        );
      }
      return row;
    }
    const columns = IDENTIFYING[this.#table];
    const [row, another] = this.#byName.named(named.name)
      .filter((row) =>
        !linked.has(row) &&
        // Another identifier is another person.
        columns.every((column) => !named[column] || !row[column] || row[column] === named[column])
      );
    if (another) {
      warn(
        "ambiguous_name",
        "name",
        `Several ${this.#table} have this name: the oldest is linked`,
      );
    }
    return row;
  }

  #create(named: NamedRecord): LinkRow {
    const row: LinkRow = { id: uuidv7(), name: comparedName(named.name) };
    for (const column of COLUMNS[this.#table]) {
      if (named[column] != null) row[column] = named[column];
    }
    this.#created.add(row);
    this.#byName.add(row);
    this.#noteIdentifiers(row);
    return row;
  }

  #fill(row: LinkRow, named: NamedRecord): void {
    for (const column of FILLED[this.#table]) {
      if (!named[column] || row[column]) continue;
      row[column] = named[column];
      if (!this.#created.has(row)) {
        this.#filled.getOrInsert(row, {})[column] = named[column];
      }
      this.#noteIdentifiers(row);
    }
  }

  #noteIdentifiers(row: LinkRow): void {
    for (const id of this.#identifiersOf(row)) {
      this.#byIdentifier.getOrInsert(id, row);
    }
  }

  /** Creates what is missing, and fills what records lack: never what another has set meanwhile. */
  writes(): Statement[] {
    const table = raw(this.#table);
    const inserts = Array.from(this.#created, (row) => {
      const given = COLUMNS[this.#table]
        .filter((column) => row[column] != null);
      const values = given.map((column) => sql`, ${row[column]}`);
      return sql`
        insert into ${table} (organization_id, id, ${names("name", ...given)})
        values (${organization}, ${row.id}, ${row.name}${values})
      `;
    });
    const updates = Array.from(this.#filled, ([row, filled]) => {
      const values = Object.entries(filled).map(([column, value]) => {
        const name = raw(column);
        return sql`, ${name} = coalesce(r.${name}, ${value})`;
      });
      return sql`
        update ${table} r
        set updated_at = ${nextUpdate("r.updated_at")}${values}
        where r.organization_id = ${organization} and r.id = ${row.id}
      `;
    });
    return [...inserts, ...updates];
  }
}

/** The value of an identifying column, told apart from those of the others. */
function keyOf(column: string, named: Record<string, unknown>): string {
  return `${column} ${named[column]}`;
}

/** Whether two names share a word. An initial is a word that begins so. */
function shareWord(one: string, other: string): boolean {
  const others = nameWords(other);
  return nameWords(one).some((a) =>
    others.some((b) =>
      a === b || a.length === 1 && b.startsWith(a) ||
      b.length === 1 && a.startsWith(b)
    )
  );
}
