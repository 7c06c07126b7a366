import type {
  Linked,
  LinkedContributor,
} from "../../schema/onix/mapping/incoming.ts";
import type { Message } from "../../schema/onix/report/report.ts";
import {
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { lockKeys } from "../products/keys.ts";
import { nextUpdate } from "../times.ts";
import { uuidv7 } from "../uuid.ts";

/*
 * The records of the organization that ONIX records name: publishers, imprints,
 * collections, contributors and formats. What is missing is created. An import fills what
 * a record lacks, and changes nothing else in it.
 */

/** A record of one of the tables. */
interface Row extends Record<string, unknown> {
  id: string;
  name: string;
}

/** The columns of each table that an import fills. */
const FILLED = {
  publishers: [],
  imprints: [],
  collections: [],
  contributors: [
    "names_before_key",
    "key_names",
    "person_name_inverted",
    "isni",
    "orcid",
    "biographical_note",
  ],
} as const satisfies Record<string, readonly string[]>;

type Table = keyof typeof FILLED;

/** Columns that only a new record gets. */
const CREATED: Partial<Record<Table, readonly string[]>> = {
  contributors: ["is_organization"],
};

/** Identifies a record before its name does: the same value is the same record. */
const IDENTIFIERS: Partial<Record<Table, readonly string[]>> = {
  contributors: ["orcid", "isni"],
};

const TABLES = Object.keys(FILLED) as Table[];

/** What a record names in one of the tables. */
interface Named extends Record<string, unknown> {
  name: string;
}

/** A code of a shared list, with its id. */
interface Code {
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
  readonly #codes: Map<string, Code>;
  readonly #formats: Map<string, string>;

  constructor(
    records: Record<Table, Records>,
    codes: readonly Code[],
    formats: ReadonlyMap<string, string>,
  ) {
    this.#records = records;
    this.#codes = new Map(
      codes.map((code) => [`${code.list} ${code.code}`, code]),
    );
    this.#formats = new Map(formats);
  }

  /** The record of this name. `warn` is called if several have it. */
  idOf(table: Table, named: Named, warn: (name: string) => void): string {
    const { row, isAmbiguous } = this.#records[table].find(named)!;
    if (isAmbiguous) warn(row.name);
    return row.id;
  }

  codeId(list: Code["list"], code: string): string | undefined {
    return this.#codes.get(`${list} ${code}`)?.id;
  }

  /** The format of the organization with this form, by the form's id. */
  formatOf(formId: string): string {
    return this.#formats.get(formId)!;
  }
}

/** Finds or creates what these records name. */
export async function linkRecords(
  tx: Transaction,
  linked: readonly Linked[],
): Promise<Links> {
  const wanted = wantedBy(linked);
  const [codes, ...found] = await tx.send(
    codesOf(linked),
    ...TABLES.map((table) => findRows(table, wanted[table])),
  );
  const records = Object.fromEntries(
    TABLES.map((table, i) => [table, new Records(table, found[i]!)]),
  ) as Record<Table, Records>;
  await create(tx, wanted, records);
  await tx.send(
    ...TABLES.flatMap((table) => fill(table, wanted[table], records[table])),
  );
  const formats = await findFormats(
    tx,
    codes.filter(({ list }) => list === "product_forms"),
  );
  return new Links(records, codes, formats);
}

function wantedBy(linked: readonly Linked[]): Record<Table, Named[]> {
  const named = (name: string | null | undefined) => name ? [{ name }] : [];
  return {
    publishers: linked.flatMap(({ publisher }) => named(publisher)),
    imprints: linked.flatMap(({ imprint }) => named(imprint)),
    collections: linked.flatMap(({ collections = [] }) =>
      collections.map(({ name }) => ({ name }))
    ),
    contributors: linked.flatMap(({ contributors = [] }) =>
      contributors.map(({ contributor }) => asNamed(contributor))
    ),
  };
}

/** A contributor as `idOf` takes it. */
export function asNamed(contributor: LinkedContributor): Named {
  return { ...contributor };
}

/** The records of a table that may be meant, oldest first. */
class Records {
  readonly #table: Table;
  readonly #rows: Row[] = [];
  readonly #byName = new Map<string, Row[]>();

  constructor(table: Table, rows: readonly object[]) {
    this.#table = table;
    for (const row of rows) this.add(row as Row);
  }

  add(row: Row): void {
    this.#rows.push(row);
    const same = this.#byName.get(row.name);
    if (same) same.push(row);
    else this.#byName.set(row.name, [row]);
  }

  /** The record with an identifier of what is named, or else the oldest of its name. */
  find(named: Named): { row: Row; isAmbiguous: boolean } | undefined {
    const identifiers = (IDENTIFIERS[this.#table] ?? [])
      .filter((identifier) => named[identifier]);
    for (const identifier of identifiers) {
      const row = this.#rows.find((row) =>
        row[identifier] === named[identifier]
      );
      if (row) return { row, isAmbiguous: false };
    }
    // Another identifier is another person.
    const [row, another] = (this.#byName.get(named.name) ?? []).filter((row) =>
      identifiers.every((identifier) => !row[identifier])
    );
    return row && { row, isAmbiguous: another !== undefined };
  }
}

function columnsOf(table: Table): string[] {
  return [...FILLED[table], ...CREATED[table] ?? []];
}

/** The records with the names or identifiers, oldest first. The index on the sort key finds names. */
function findRows(table: Table, named: readonly Named[]): Statement<Row> {
  const all = [...new Set(named.map(({ name }) => name))];
  const identified = (IDENTIFIERS[table] ?? []).map((identifier) => {
    const values = named.flatMap((one) => one[identifier] ?? []);
    return sql` or r.${
      raw(identifier)
    } = any(array(select jsonb_array_elements_text(${json(values)})))`;
  });
  return unprepared(sql`
    select ${
    names("r.id", "r.name", ...columnsOf(table).map((column) => `r.${column}`))
  }
    from ${raw(table)} r
    where r.organization_id = ${organization} and (
      left(search_key(r.name), 200) collate "C" = any(array(
        select left(search_key(x.name), 200) from jsonb_array_elements_text(${
    json(all)
  }) x (name)
      ))
      and r.name = any(array(select jsonb_array_elements_text(${json(all)})))
      ${identified}
    )
    order by r.created_at, r.id
  `);
}

/**
 * Creates what is missing. Imports that create the same name take turns, and the later one
 * finds what the earlier one has created.
 */
async function create(
  tx: Transaction,
  wanted: Record<Table, Named[]>,
  records: Record<Table, Records>,
): Promise<void> {
  const missing = TABLES.flatMap((table) =>
    wanted[table].filter((named) => !records[table].find(named))
      .map((named) => ({ table, named }))
  );
  if (missing.length === 0) return;
  const of = (table: Table) =>
    missing.flatMap((one) => one.table === table ? [one.named] : []);
  const [, ...found] = await tx.send(
    lockKeys(missing.map(({ table, named }) => (
      { match: table, value: named.name }
    ))),
    ...TABLES.map((table) => findRows(table, of(table))),
  );
  const inserts = TABLES.flatMap((table, i) => {
    for (const row of found[i]! as Row[]) {
      const known = records[table].find(row);
      if (known?.row.id !== row.id) records[table].add(row);
    }
    return of(table).flatMap((named) => {
      if (records[table].find(named)) return [];
      const row: Row = { ...named, id: uuidv7() };
      records[table].add(row);
      return [insertRow(table, row)];
    });
  });
  await tx.send(...inserts);
}

function insertRow(table: Table, row: Row): Statement {
  const given = columnsOf(table).filter((column) => row[column] != null);
  const values = given.map((column) => sql`, ${row[column]}`);
  return sql`
    insert into ${raw(table)} (organization_id, id, ${names("name", ...given)})
    values (${organization}, ${row.id}, ${row.name}${values})
  `;
}

/** Fills what the records lack. */
function fill(
  table: Table,
  wanted: readonly Named[],
  records: Records,
): Statement[] {
  return wanted.flatMap((named) => {
    const { row } = records.find(named)!;
    const lacking = FILLED[table].filter((column) =>
      named[column] && !row[column]
    );
    if (lacking.length === 0) return [];
    const values = lacking.map((column) => {
      row[column] = named[column];
      return sql`, ${raw(column)} = ${named[column]}`;
    });
    return [sql`
      update ${raw(table)} r
      set updated_at = ${nextUpdate("r.updated_at")}${values}
      where r.organization_id = ${organization} and r.id = ${row.id}
    `];
  });
}

/** The codes that the records name. */
function codesOf(linked: readonly Linked[]): Statement<Code> {
  const wanted: Record<Code["list"], (string | null | undefined)[]> = {
    product_forms: linked.map(({ product_form }) => product_form),
    publishing_statuses: linked.map((one) => one.publishing_status),
    product_availabilities: linked.map((one) => one.product_availability),
    contributor_roles: linked.flatMap(({ contributors = [] }) =>
      contributors.map(({ role }) => role)
    ),
  };
  const selects = Object.entries(wanted).map(([list, codes], i) => {
    const given = new Set(codes.filter((code) => code));
    return sql`
      ${i > 0 ? raw("union all") : []}
      select '${raw(list)}' as list, c.code, c.id, c.name
      from ${raw(list)} c
      where c.code = any(array(select jsonb_array_elements_text(${
      json([...given])
    })))
    `;
  });
  return unprepared(sql`${selects}`);
}

/** The oldest format with each of these forms, by the form's id. Missing ones are created under the form's label. */
async function findFormats(
  tx: Transaction,
  forms: readonly Code[],
): Promise<Map<string, string>> {
  const find = unprepared(sql<{ id: string; product_form_id: string }>`
    select distinct on (f.product_form_id) f.id, f.product_form_id
    from formats f
    where f.organization_id = ${organization} and f.product_form_id = any(array(
      select x.id::uuid from jsonb_array_elements_text(${
    json(forms.map(({ id }) => id))
  }) x (id)
    ))
    order by f.product_form_id, f.created_at, f.id
  `);
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

/** The warning that several records have a name. */
export function ambiguousName(
  noun: string,
  path: string,
  name: string,
): Message {
  return {
    severity: "warning",
    code: "ambiguous_name",
    path,
    value: name,
    message: `Several ${noun} have this name: the oldest is linked`,
  };
}
