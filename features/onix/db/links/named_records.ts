import { nameWords } from "../../schema/xml/person_names.ts";
import {
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../../db/connections/sql.ts";
import type { Transaction } from "../../../../db/connections/transaction.ts";
import { followUpdates, updatedFields } from "../../../../db/renamed_records.ts";
import { RecordsByName } from "../../../../db/record_names.ts";
import { comparedName } from "../../../../schema/named.ts";
import { nextUpdate } from "../../../../db/times.ts";
import { uuidv7 } from "../../../../db/uuid.ts";
import { insertRecords } from "./insert_records.ts";
import {
  FILLABLE_COLUMNS,
  IDENTIFIERS,
  IMPORTED_COLUMNS,
  type LinkRow,
  type LinkTable,
} from "./link_tables.ts";

/*
 * Finds the row that a name in ONIX refers to: a publisher, an imprint, a collection or a
 * contributor. A missing row is created. An import fills empty columns of a row, and changes
 * nothing else in it.
 */

/** A name in a record for one of the tables. A contributor has a role. */
export interface NamedRecord extends Record<string, unknown> {
  name: string;
  role?: string;
}

/** A warning about a field of a named record. */
export interface LinkWarning {
  code: string;
  field: string;
  message: string;
}

/** The row that is linked for a name, with warnings. */
export interface LinkedRecord {
  row: LinkRow;
  warnings: LinkWarning[];
}

type Warn = (code: string, field: string, message: string) => void;

/** The candidate rows of a table, oldest first, and those to create. */
export class RecordLinker {
  readonly #table: LinkTable;
  readonly #byName: RecordsByName<LinkRow>;
  readonly #byIdentifier = new Map<string, LinkRow>();
  readonly #created = new Set<LinkRow>();
  /** The columns to fill, with their values. */
  readonly #filled = new Map<LinkRow, Record<string, unknown>>();

  constructor(table: LinkTable, rows: readonly LinkRow[]) {
    this.#table = table;
    this.#byName = new RecordsByName(rows);
    for (const row of rows) this.#noteIdentifiers(row);
  }

  get isChanged(): boolean {
    return this.#created.size + this.#filled.size > 0;
  }

  /**
   * Links the names of one record: each to the row with one of its identifiers, to the oldest with
   * its name, or to a new one. Two names with the same role never get the same row, so that a
   * product gets as many contributors as its record has.
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
    return IDENTIFIERS[this.#table]
      .flatMap((column) => named[column] ? keyOf(column, named) : []);
  }

  /** Removes identifiers that belong to others from a name. */
  #withOwnIdentifiers(
    named: NamedRecord,
    shared: ReadonlySet<string>,
    warn: Warn,
  ): NamedRecord {
    const own: NamedRecord = { ...named };
    for (const column of IDENTIFIERS[this.#table]) {
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

  /** Finds the row with an identifier of the name, or else the oldest with the name. */
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
    const columns = IDENTIFIERS[this.#table];
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
    for (const column of IMPORTED_COLUMNS[this.#table]) {
      if (named[column] != null) row[column] = named[column];
    }
    this.#created.add(row);
    this.#byName.add(row);
    this.#noteIdentifiers(row);
    return row;
  }

  #fill(row: LinkRow, named: NamedRecord): void {
    for (const column of FILLABLE_COLUMNS[this.#table]) {
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

  /**
   * Creates missing records, and fills empty columns: never one that another import has filled
   * meanwhile.
   */
  writes(tx: Transaction): Statement[] {
    const updated = Array.from(this.#filled, ([{ id }, fields]) => ({ id, fields }));
    return [
      ...insertRecords(this.#table, [...this.#created]),
      ...updated.length > 0
        ? [...followUpdates(tx, this.#table, updatedFields(updated)), this.#fillColumns()]
        : [],
    ];
  }

  #fillColumns(): Statement {
    const table = raw(this.#table);
    const rows = Array.from(this.#filled, ([{ id }, filled]) => ({ id, ...filled }));
    const columns = FILLABLE_COLUMNS[this.#table]
      .map((column) => `${column} = coalesce(r.${column}, f.${column})`);
    return unprepared(sql`
      update ${table} r
      set updated_at = ${nextUpdate("r.updated_at")}, ${names(...columns)}
      from jsonb_populate_recordset(null::${table}, ${json(rows)}) f
      where r.organization_id = ${organization} and r.id = f.id
    `);
  }
}

/** Returns the key of an identifying column and its value. */
function keyOf(column: string, named: Record<string, unknown>): string {
  return `${column} ${named[column]}`;
}

/** Whether two names share a word. An initial matches a word that begins with it. */
function shareWord(one: string, other: string): boolean {
  const others = nameWords(other);
  return nameWords(one).some((a) =>
    others.some((b) =>
      a === b || a.length === 1 && b.startsWith(a) ||
      b.length === 1 && a.startsWith(b)
    )
  );
}
