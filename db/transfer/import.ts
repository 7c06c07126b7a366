import type { Entry, RestoredLine } from "../../schema/bodies.ts";
import { DEFECT, guarded } from "../../schema/defects.ts";
import { ApiError, type ErrorDetail, unknownReference } from "../../schema/errors.ts";
import { type LineTable, ONIX_TABLES, tablesOfLine } from "../../schema/lines.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isEqual } from "../../schema/objects.ts";
import { FIELDS } from "../../schema/product.ts";
import { type OwnTable, RECORDS } from "../../schema/records.ts";
import { referencesIn } from "../../schema/references.ts";
import {
  isAnyOf,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type ReferencedId, unknownReferences } from "../products/find_errors.ts";
import type { Creation, Write } from "../products/change.ts";
import { lockKeys } from "../products/keys.ts";
import { findNamed, ofUnknown } from "../products/names.ts";
import { changedFields, partsOfRecord } from "../products/changed_fields.ts";
import { type Cause, writeTogether } from "../products/write_together.ts";
import { ORGANIZATION_COLUMNS } from "../records/organization.ts";
import { recordColumns } from "../records/records.ts";
import { selectLines, transferSettings } from "./export.ts";
import {
  LineError,
  parseLine,
  readRecordLine,
  reasonOf,
  type RecordLine,
  splitLines,
} from "./lines.ts";

/** The callbacks of an import, and whether the header renames an existing organization. */
export interface CatalogueImport {
  rename?: boolean;
  /** Called for each refused line, by number from 1. */
  refused(number: number, reason: string): void;
  /** Called after each batch with the lines and bytes processed so far. */
  progress(lines: number, bytes: number): void;
}

/** The limits of a transaction: lines, and approximately characters. */
const MAX_BATCH_LINES = 200;
const MAX_BATCH_LENGTH = 4_000_000;

/**
 * The number of records of a kind that are written before the first ANALYZE. Each later one
 * waits for ten times as many. Without them, the planner would assume that the organization
 * has no rows, for which it may choose any index.
 */
const FIRST_ANALYZE = 400;

/**
 * Creates or replaces the records of a file in the format of `schema/lines.ts`, and
 * creates the organization if necessary. Records without a line remain. Refused
 * lines are reported, and the import continues. Unchanged records are not written.
 * Throws errors that no line caused, such as a lost connection, for a file without a
 * header, and for a database that has no code lists or is distributed.
 */
export async function importCatalogue(
  database: Queries,
  file: AsyncIterable<Uint8Array>,
  { refused, progress, rename = false }: CatalogueImport,
): Promise<void> {
  await checkSeeded(database);
  let number = 0;
  let end = 0;
  /** The number of headers and empty lines. */
  let others = 0;
  /** The number of records that the headers announce. */
  let expected = 0;
  let hasHeader = false;
  const batches = new Batches(database, {
    refused,
    done: () => progress(number, end),
  });

  async function add(bytes: Uint8Array): Promise<void> {
    const line = parseLine(bytes);
    if (!line || "organization" in line) others++;
    if (!line) return;
    if ("organization" in line) {
      hasHeader = true;
      expected += line.records;
      await batches.flush();
      return await writeOrganization(database, line.organization, rename);
    }
    if (!hasHeader) throw new LineError("A record precedes the header");
    await batches.add({ number: number + 1, ...line });
  }

  for await (const bytes of splitLines(file)) {
    try {
      await add(bytes);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      if (!hasHeader) throw new Error(NO_HEADER);
      refused(number + 1, error.message);
    }
    number++;
    end += bytes.length;
    if (batches.isFull) await batches.flush();
  }
  if (!hasHeader) throw new Error(NO_HEADER);
  await batches.flush();
  const records = number - others;
  if (records < expected) {
    refused(
      number + 1,
      `The file ends here, after ${records} of ${expected} records`,
    );
  }
}

/** Writes lines batch by batch. A batch has records of one kind. */
class Batches {
  readonly #database: Queries;
  readonly #refused: CatalogueImport["refused"];
  /** Called after each batch. */
  readonly #done: () => void;
  /** The lines by the id of their record. */
  readonly #batch = new Map<string, RecordLine>();
  #length = 0;
  /** The number of records of the kind written so far. */
  #written = 0;
  #analyzeAt = FIRST_ANALYZE;

  constructor(
    database: Queries,
    { refused, done }: Pick<CatalogueImport, "refused"> & {
      done: () => void;
    },
  ) {
    this.#database = database;
    this.#refused = refused;
    this.#done = done;
  }

  get isFull(): boolean {
    return this.#batch.size >= MAX_BATCH_LINES ||
      this.#length >= MAX_BATCH_LENGTH;
  }

  /** Adds a record. One of another kind, or one that the batch has, begins a batch. */
  async add(line: RecordLine): Promise<void> {
    const [first = line] = this.#batch.values();
    const { id } = line;
    if (first.kind !== line.kind || this.#batch.has(id)) await this.flush();
    if (first.kind !== line.kind) {
      this.#written = 0;
      this.#analyzeAt = FIRST_ANALYZE;
    }
    this.#batch.set(id, line);
    this.#length += line.text.length;
  }

  /** Writes the batch, which may be empty. */
  async flush(): Promise<void> {
    const [first] = this.#batch.values();
    if (first) {
      await this.#write([...this.#batch.values()]);
      if (this.#written >= this.#analyzeAt) {
        const tables = names(...tablesOfLine(first.table));
        await this.#database.write(...transferSettings, sql`analyze ${tables}`);
        this.#analyzeAt *= 10;
      }
    }
    this.#batch.clear();
    this.#length = 0;
    this.#done();
  }

  /** Writes lines of one kind in a transaction. */
  async #write(lines: readonly RecordLine[]): Promise<void> {
    const [{ table }] = lines as [RecordLine];
    const { refused, written } = await this.#database.transaction(
      async (tx) => {
        checkUndistributed(tx);
        const { changes, refused } = await findChanges(tx, lines);
        const faults = table === "products"
          ? await writeProductLines(tx, changes)
          : await writeRecords(tx, table, changes);
        await tx.commit();
        for (const [number, details] of faults) {
          refused.set(number, reasonOf(details));
        }
        return { refused, written: changes.length };
      },
    );
    this.#written += written;
    for (const [number, reason] of refused) this.#refused(number, reason);
  }
}

const NO_HEADER = "The file does not begin with a header: expected the output of deno task export";

async function checkSeeded(database: Queries): Promise<void> {
  const [codes] = await database.lookUp(sql<{ exist: boolean }>`
    select exists (select from product_forms) as exist
  `);
  if (!codes!.exist) {
    throw new Error("The database has no code lists: run deno task seed");
  }
}

/** Throws in a distributed database: Citus checks foreign keys between the kinds too early. */
function checkUndistributed({ isDistributed }: Transaction): void {
  if (!isDistributed) return;
  throw new Error(
    "A distributed database takes no imports: import the file before sql/citus.sql distributes the tables, or send POST /products/batch",
  );
}

/** Creates the organization. One that exists stays as it is, unless it is renamed. */
async function writeOrganization(
  database: Queries,
  header: Entry,
  rename: boolean,
): Promise<void> {
  const columns = names(...ORGANIZATION_COLUMNS);
  const stored = names(...ORGANIZATION_COLUMNS.map((name) => `o.${name}`));
  const written = names(
    ...ORGANIZATION_COLUMNS.map((name) => `excluded.${name}`),
  );
  await database.write(sql`
    insert into organizations as o (id, ${columns})
    select ${organization}::uuid, ${columns}
    from jsonb_populate_record(null::organizations, ${json(header)})
    on conflict (id) do update set (${columns}) = row(${written})
    where ${rename} and (${stored}) is distinct from (${written})
  `);
}

/** A line that says something new. */
interface ChangedLine extends Cause {
  number: number;
  /** What becomes of its record. */
  change: Write;
  /** The values of the line. */
  record: RestoredLine;
  /** The record, as a line has it. Absent for a new one. */
  before: RestoredLine | undefined;
  /** What it changes of what `GET` does not show. */
  stored: RestoredLine["stored"];
}

/**
 * Locks the records of the lines, and returns what the lines change, and by number why lines
 * are refused. Only lines that differ from what is stored are read. Imports into one
 * organization write one after the other: both may create the same records.
 */
async function findChanges(
  tx: Transaction,
  lines: readonly RecordLine[],
): Promise<{ changes: ChangedLine[]; refused: Map<number, string> }> {
  const [{ kind, table }] = lines as [RecordLine];
  const areTheirs = sql`r.id ${isAnyOf(lines.map(({ id }) => id))}`;
  const results = await tx.send(
    ...transferSettings,
    lockKeys([{ kind: "import", value: "" }]),
    sql`
      select from ${raw(table)} r
      where r.organization_id = ${organization} and ${areTheirs}
      order by r.id
      for no key update
    `,
    selectLines(kind, sql`and ${areTheirs}`),
  );
  const found = results.at(-1) as { id: string; line: string }[];
  const texts = new Map(found.map(({ id, line }) => [id, line]));
  const refused = new Map<number, string>();
  const read: { number: number; record: RestoredLine | ApiError }[] = [];
  for (const line of lines) {
    if (line.text === texts.get(line.id)) continue;
    try {
      read.push({ number: line.number, record: readRecordLine(line) });
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      refused.set(line.number, error.message);
    }
  }
  const named = await findNamed(
    tx,
    read.map(({ record }): Creation | ApiError => {
      if (record instanceof ApiError) return record;
      const { id, ...body } = record;
      return ofUnknown(body, id);
    }),
  );
  const changes = named.flatMap((found, i): ChangedLine[] => {
    const { number } = read[i]!;
    if (found instanceof ApiError) {
      refused.set(number, reasonOf(found.details));
      return [];
    }
    const record = { ...found.body, id: found.id } as RestoredLine;
    const text = texts.get(record.id);
    const before = text === undefined ? undefined : parseExact(text) as RestoredLine;
    const news = guarded(
      () => compareStored(table, record, before),
      () => void refused.set(number, DEFECT.message),
    );
    return news ? [{ number, record, before, ...news }] : [];
  });
  return { changes, refused };
}

/** What a record changes of the stored one. Undefined if that is nothing. */
function compareStored(
  table: LineTable,
  { stored, ...values }: RestoredLine,
  before: RestoredLine | undefined,
): Pick<ChangedLine, "change" | "stored"> | undefined {
  const { id, assigned, body } = partsOfRecord(values);
  if (!before) {
    return { change: { method: "create", id, body, assigned, keepsIds: true }, stored };
  }
  const fields = table === "products" ? FIELDS : RECORDS[table].fields;
  const changed = changedFields(before, values, fields);
  const others = Object.fromEntries(
    Object.entries(stored).filter(([name, value]) => !isEqual(value, before.stored[name])),
  );
  if (Object.keys({ ...changed, ...others }).length === 0) return undefined;
  const change = {
    method: "update",
    id,
    body: partsOfRecord(changed).body,
    isWhole: true,
    assigned,
    keepsIds: true,
  } as const;
  return { change, stored: others };
}

/** The errors of lines, by their numbers. */
type Faults = Map<number, ErrorDetail[]>;

/** Writes products as batches do, with what `GET` does not show of them. */
async function writeProductLines(
  tx: Transaction,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const { faults } = await writeTogether(tx, changes, async (done) => {
    await tx.send(...storeOnix(done));
  });
  return new Map(
    Array.from(faults, ([{ number }, { details }]) => [number, details]),
  );
}

/** Replaces what ONIX stores beside products, where lines change it. */
function storeOnix(changes: readonly ChangedLine[]): Statement[] {
  return ONIX_TABLES.flatMap((table) => {
    const changing = changes.filter(({ stored }) => stored[table]);
    const rows = changing.flatMap(({ record, stored }) =>
      (stored[table] as Entry[])
        .map((row) => ({ ...row, product_id: record.id, reading: null }))
    );
    const existing = changing.flatMap(({ change: { method, id } }) =>
      method === "update" ? id : []
    );
    return [
      ...existing.length > 0
        ? [sql`
          delete from ${raw(table)} x
          where x.organization_id = ${organization}
            and x.product_id ${isAnyOf(existing)}
        `]
        : [],
      ...rows.length > 0
        ? [sql`
          insert into ${raw(table)}
          select r.*
          from jsonb_array_elements(${json(rows)}) e (row)
          cross join jsonb_populate_record(
            null::${raw(table)},
            e.row || jsonb_build_object('organization_id', ${organization}::uuid)
          ) r
        `]
        : [],
    ];
  });
}

/** Writes records other than products, with the products of programs. */
async function writeRecords(
  tx: Transaction,
  table: OwnTable,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const faults = await findUnknown(tx, table, changes);
  const valid = changes.filter(({ number }) => !faults.has(number));
  if (valid.length === 0) return faults;
  const columns = ["id", ...recordColumns(table)];
  const times = ["created_at", "updated_at"];
  const rows = valid.map(({ record, before }) => (
    { ...before, updated_at: null, ...record }
  ));
  const updates = [...columns, ...times]
    .map((name) => `${name} = excluded.${name}`);
  await tx.send(
    sql`
      insert into ${raw(table)}
        (organization_id, ${names(...columns, ...times)})
      select ${organization}::uuid, ${
      names(...columns, ...times.map((name) => `coalesce(${name}, now())`))
    }
      from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
      on conflict (organization_id, id) do update set ${names(...updates)}
    `,
    ...table === "publishing_programs" ? setPrograms(valid) : [],
  );
  return faults;
}

/** The ids of unknown records in lines. */
async function findUnknown(
  tx: Transaction,
  table: OwnTable,
  changes: readonly ChangedLine[],
): Promise<Faults> {
  const references = referencesIn(table, RECORDS[table].fields);
  const ids = changes.flatMap(({ record, stored }, at): ReferencedId[] => [
    ...references.map(({ field, table: table_name }) => (
      { at, pointer: `/${field}`, table_name, id: record[field] }
    )),
    ...(stored.products ?? []).map((id, i) => (
      { at, pointer: `/stored/products/${i}`, table_name: "products", id }
    )),
  ]).filter(({ id }) => id);
  if (ids.length === 0) return new Map();
  const [unknown] = await tx.send(unknownReferences(ids));
  return new Map(
    Array.from(
      Map.groupBy(unknown, ({ at }) => at),
      ([at, ids]) => [
        changes[at]!.number,
        ids.map(({ pointer }) => unknownReference(pointer)),
      ],
    ),
  );
}

/** Sets the products of programs, where lines change them. */
function setPrograms(changes: readonly ChangedLine[]): Statement[] {
  const changing = changes.filter(({ stored }) => stored.products);
  const rows = changing.flatMap(({ record, stored }) =>
    stored.products!.map((product_id) => (
      { program_id: record.id, product_id }
    ))
  );
  const programs = isAnyOf(changing.map(({ record }) => record.id));
  return [
    sql`
      delete from publishing_program_products x
      where x.organization_id = ${organization} and x.program_id ${programs}
    `,
    sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      select ${organization}::uuid, r.program_id, r.product_id
      from jsonb_to_recordset(${json(rows)}) r (program_id uuid, product_id uuid)
    `,
  ];
}
