import type { Column, Field } from "../../schema/fields.ts";
import type { RecordValues } from "../../schema/onix/mapping/mapping.ts";
import {
  type ContributorRow,
  nameWords,
} from "../../schema/onix/mapping/contributors.ts";
import { RECORDS } from "../../schema/records.ts";
import {
  isOneOf,
  isOneOfTexts,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { type LockKey, lockKeys } from "../products/keys.ts";
import { comparedName, mayBeNamed, RecordsByName } from "../record_names.ts";
import { nextUpdate } from "../times.ts";
import { uuidv7 } from "../uuid.ts";
import { objectsIn } from "../../schema/objects.ts";

/*
 * The records of the organization that ONIX records name: publishers, imprints,
 * collections, contributors and formats. What is missing is created. An import fills what
 * a record lacks, and changes nothing else in it.
 */

/** A record of one of the tables. */
export interface LinkRow extends Record<string, unknown> {
  id: string;
  name: string;
}

const LINK_TABLES = [
  "publishers",
  "imprints",
  "collections",
  "contributors",
] as const;

type Table = typeof LINK_TABLES[number];

/** The identifiers that find a record before its name is compared. */
const IDENTIFYING: Record<Table, readonly string[]> = {
  publishers: [],
  imprints: [],
  collections: [],
  contributors: ["orcid", "isni"],
};

/** The columns of a table, besides the name, that an ONIX record may give a value. */
const COLUMNS = columnsOf(() => true);

/** The columns that an import fills where they are null: those without a fallback. */
const FILLED = columnsOf(({ fallback }) => fallback === undefined);

function columnsOf(
  isOne: (column: Column) => boolean,
): Record<Table, readonly string[]> {
  return ofTables((table) =>
    Object.entries<Field>(RECORDS[table].fields).flatMap(([name, field]) =>
      name !== "name" && field.kind === "column" && field.body && isOne(field)
        ? [name]
        : []
    )
  );
}

function ofTables<T>(valueOf: (table: Table, i: number) => T) {
  return Object.fromEntries(
    LINK_TABLES.map((table, i) => [table, valueOf(table, i)]),
  ) as Record<Table, T>;
}

/** What a record names in one of the tables. */
interface NamedRecord extends Record<string, unknown> {
  name: string;
}

/** Warns of a field of what is named, while it is found. */
export type Warn = (code: string, field: string, message: string) => void;

/** A code of a shared list, with its id. */
interface ListCode {
  list:
    | "product_forms"
    | "publishing_statuses"
    | "product_availabilities"
    | "contributor_roles";
  code: string;
  id: string;
  name: string;
}

/** The ids of what records name. */
export class Links {
  readonly #records: Record<Table, Records>;
  readonly #codes: Map<string, ListCode>;
  readonly #formats: ReadonlyMap<string, string>;

  constructor(
    records: Record<Table, Records>,
    codes: readonly ListCode[],
    formats: ReadonlyMap<string, string>,
  ) {
    this.#records = records;
    this.#codes = new Map(
      codes.map((code) => [`${code.list} ${code.code}`, code]),
    );
    this.#formats = formats;
  }

  /** The record of this name. `warn` is called if several have it. */
  recordOf(
    table: Exclude<Table, "contributors">,
    named: NamedRecord,
    warn: Warn,
  ): LinkRow {
    return this.#records[table].linkAll([{ named, warn }])[0]!;
  }

  /** The contributors of one record in their roles, each of which has a row of its own. */
  contributors(
    all: readonly { role: string; named: NamedRecord; warn: Warn }[],
  ): LinkRow[] {
    return this.#records.contributors.linkAll(all);
  }

  codeId(list: ListCode["list"], code: string): string | undefined {
    return this.#codes.get(`${list} ${code}`)?.id;
  }

  /** The format of the organization with this form, by the form's id. */
  formatOf(formId: string): string {
    return this.#formats.get(formId)!;
  }
}

/**
 * Finds or creates what these records name. What is created or filled is decided under a
 * lock, so that of imports at once the later one finds what the earlier one has written.
 */
export async function linkRecords(
  tx: Transaction,
  written: readonly RecordValues[],
): Promise<Links> {
  const wanted = wantedBy(written);
  const names = ofTables((table): NamedRecord[] => wanted[table].flat());
  const find = LINK_TABLES.map((table) => findRows(table, names[table]));
  const [codes, ...found] = await tx.send(selectCodes(written), ...find);
  let records = link(found);
  if (LINK_TABLES.some((table) => records[table].isChanged)) {
    const [, ...foundAgain] = await tx.send(
      lockKeys(lockKeysOf(names)),
      ...find,
    );
    records = link(foundAgain);
    await tx.send(...LINK_TABLES.flatMap((table) => records[table].writes()));
  }
  const formats = await findFormats(
    tx,
    codes.filter(({ list }) => list === "product_forms"),
  );
  return new Links(records, codes, formats);

  /** Links every record to the rows. What is missing is a row to create or to fill. */
  function link(rows: readonly object[][]): Record<Table, Records> {
    return ofTables((table, i) => {
      const records = new Records(table, rows[i] as LinkRow[]);
      for (const ofRecord of wanted[table]) {
        records.linkAll(ofRecord.map((named) => ({ named, role: named.role })));
      }
      return records;
    });
  }
}

/** What each record names in each table. A contributor has its role. */
function wantedBy(
  records: readonly RecordValues[],
): Record<Table, (NamedRecord & { role?: string })[][]> {
  const named = (name: unknown) => name ? [{ name: String(name) }] : [];
  const all = (name: string) =>
    records.map((one) => objectsIn(one[name]) as NamedRecord[]);
  return {
    publishers: records.map(({ publisher }) => named(publisher)),
    imprints: records.map(({ imprint }) => named(imprint)),
    collections: all("collections"),
    contributors: all("contributors") as ContributorRow[][],
  };
}

/** The names and identifiers that imports at once may create or fill a record for. */
function lockKeysOf(named: Record<Table, NamedRecord[]>): LockKey[] {
  return LINK_TABLES.flatMap((table) =>
    named[table].flatMap((one) => [
      { match: table, value: comparedName(one.name) },
      ...IDENTIFYING[table].flatMap((column) =>
        one[column]
          ? [{ match: `${table} ${column}`, value: String(one[column]) }]
          : []
      ),
    ])
  );
}

/** Something named, with the role in which a record names it. */
interface ToLink {
  named: NamedRecord;
  role?: string | undefined;
  warn?: Warn;
}

/** The records of a table that may be meant, oldest first, and those to create. */
class Records {
  readonly #table: Table;
  readonly #byName: RecordsByName<LinkRow>;
  readonly #byIdentifier = new Map<string, LinkRow>();
  readonly #created = new Set<LinkRow>();
  /** The columns to fill, with their values. */
  readonly #filled = new Map<LinkRow, Record<string, unknown>>();

  constructor(table: Table, rows: readonly LinkRow[]) {
    this.#table = table;
    this.#byName = new RecordsByName(rows);
    for (const row of rows) this.#identify(row);
  }

  get isChanged(): boolean {
    return this.#created.size + this.#filled.size > 0;
  }

  /**
   * Links what one record names. Those of one role are different rows, so that a product
   * gets no fewer contributors than its record has.
   */
  linkAll(all: readonly ToLink[]): LinkRow[] {
    const shared = this.#sharedIdentifiers(all);
    const taken = new Map<string | undefined, Set<LinkRow>>();
    return all.map(({ named, role, warn = () => {} }) => {
      const others = taken.getOrInsert(role, new Set());
      const identified = this.#identified(named, shared, warn);
      const row = this.#find(identified, others, warn) ??
        this.#create(identified);
      this.#fill(row, identified);
      if (role) others.add(row);
      return row;
    });
  }

  /** The identifiers that two names of one record bear. */
  #sharedIdentifiers(all: readonly ToLink[]): Set<string> {
    const bearers = new Map<string, string>();
    const shared = new Set<string>();
    for (const { named } of all) {
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
      .flatMap((column) => named[column] ? `${column} ${named[column]}` : []);
  }

  /** What is named, without identifiers of others. */
  #identified(
    named: NamedRecord,
    shared: ReadonlySet<string>,
    warn: Warn,
  ): NamedRecord {
    const own: NamedRecord = { ...named };
    for (const column of IDENTIFYING[this.#table]) {
      if (!named[column]) continue;
      const id = `${column} ${named[column]}`;
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
    others: ReadonlySet<LinkRow>,
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
        !others.has(row) &&
        // Another identifier is another person.
        columns.every((column) =>
          !named[column] || !row[column] || row[column] === named[column]
        )
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
    this.#identify(row);
    return row;
  }

  #fill(row: LinkRow, named: NamedRecord): void {
    for (const column of FILLED[this.#table]) {
      if (!named[column] || row[column]) continue;
      row[column] = named[column];
      if (!this.#created.has(row)) {
        this.#filled.getOrInsert(row, {})[column] = named[column];
      }
      this.#identify(row);
    }
  }

  #identify(row: LinkRow): void {
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

/** The identifiers that a record says of a party. */
export interface PartyIdentifiers {
  table: Table;
  id: string;
  identifiers: readonly object[];
}

/** Gives parties without identifiers those that records say of them: of several, the first. */
export function fillIdentifiers(
  parties: readonly PartyIdentifiers[],
): Statement[] {
  return Array.from(
    Map.groupBy(parties, ({ table }) => table),
    ([name, all]) => {
      const table = raw(name);
      const rows = new Map(all.toReversed().map((party) => [party.id, party]));
      return sql`
        with lacking as materialized (
          select r.id
          from ${table} r
          where r.organization_id = ${organization} and r.id ${
        isOneOf([...rows.keys()])
      }
            and coalesce(r.identifiers, '[]') = '[]'
          order by r.id
          for no key update
        )
        update ${table} r
        set identifiers = x.identifiers, updated_at = ${
        nextUpdate("r.updated_at")
      }
        from jsonb_to_recordset(${
        json([...rows.values()])
      }) x (id uuid, identifiers jsonb)
        where r.organization_id = ${organization} and r.id = x.id
          and r.id in (select l.id from lacking l)
      `;
    },
  );
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

/** The records with the names or identifiers, oldest first. */
function findRows(
  table: Table,
  named: readonly NamedRecord[],
): Statement<LinkRow> {
  const identified = IDENTIFYING[table].map((identifier) => {
    const values = named.flatMap((one) => one[identifier] as string ?? []);
    return sql` or r.${raw(identifier)} ${isOneOfTexts(values)}`;
  });
  const columns = ["id", "name", ...COLUMNS[table]];
  return unprepared(sql`
    select ${names(...columns.map((column) => `r.${column}`))}
    from ${raw(table)} r
    where r.organization_id = ${organization} and (
      ${mayBeNamed(table, named.map(({ name }) => name))} ${identified}
    )
    order by r.created_at, r.id
    -- Who deletes one meanwhile waits; what is deleted already is created again.
    for key share of r
  `);
}

/** The codes that the records name. */
function selectCodes(records: readonly RecordValues[]): Statement<ListCode> {
  const wanted: Record<ListCode["list"], unknown[]> = {
    product_forms: records.map(({ product_form }) => product_form),
    publishing_statuses: records.map((one) => one.publishing_status),
    product_availabilities: records.map((one) => one.product_availability),
    contributor_roles: records.flatMap(({ contributors }) =>
      objectsIn(contributors).map(({ role }) => role)
    ),
  };
  const selects = Object.entries(wanted).map(([list, codes], i) => {
    const given = new Set(codes.filter((code) => typeof code === "string"));
    return sql`
      ${i > 0 ? raw("union all") : []}
      select '${raw(list)}' as list, c.code, c.id, c.name
      from ${raw(list)} c
      where c.code ${isOneOfTexts([...given])}
    `;
  });
  return unprepared(sql`${selects}`);
}

/** The oldest format with each of these forms, by the form's id. Missing ones are created under the form's label. */
async function findFormats(
  tx: Transaction,
  forms: readonly ListCode[],
): Promise<Map<string, string>> {
  const find = unprepared(sql<{ id: string; product_form_id: string }>`
    select f.id, f.product_form_id
    from formats f
    where f.organization_id = ${organization} and f.product_form_id = any(array(
      select x.id::uuid from jsonb_array_elements_text(${
    json(forms.map(({ id }) => id))
  }) x (id)
    ))
    order by f.created_at desc, f.id desc
    for key share of f
  `);
  // Of several the oldest, which comes last.
  const asMap = (rows: { id: string; product_form_id: string }[]) =>
    new Map(rows.map((row) => [row.product_form_id, row.id]));
  if (forms.length === 0) return new Map();
  const [found] = await tx.send(find);
  const known = asMap(found);
  const missing = forms.filter(({ id }) => !known.has(id));
  if (missing.length === 0) return known;
  const [, foundAgain] = await tx.send(
    lockKeys(missing.map(({ id }) => ({ match: "formats", value: id }))),
    find,
  );
  const formats = asMap(foundAgain);
  const inserts = missing.flatMap(({ id: formId, name }) => {
    if (formats.has(formId)) return [];
    const id = uuidv7();
    formats.set(formId, id);
    return [sql`
      insert into formats (organization_id, id, name, product_form_id)
      values (${organization}, ${id}, ${name}, ${formId})
    `];
  });
  await tx.send(...inserts);
  return formats;
}
