import type { Entry, RestoredLine } from "../../schema/bodies.ts";
import {
  ApiError,
  type ErrorDetail,
  unknownReference,
} from "../../schema/errors.ts";
import {
  type LineTable,
  ONIX_TABLES,
  tablesOfLine,
} from "../../schema/lines.ts";
import { parseExact } from "../../schema/numbers.ts";
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
import { type ReferencedId, unknownReferences } from "../products/errors.ts";
import { lockKeys } from "../products/keys.ts";
import { findNamed } from "../products/names.ts";
import { changedFields } from "../products/upsert.ts";
import { type Write, writeTogether } from "../products/write_together.ts";
import { recordColumns } from "../records/records.ts";
import { selectLines, transferSettings } from "./export.ts";
import {
  LineError,
  parseLine,
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
 * The number of records of a kind before the first ANALYZE. Each later ANALYZE
 * waits for ten times as many. Without them, the planner would still assume empty
 * tables, for which it may choose any index.
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
    written: () => progress(number, end),
  });

  async function add(bytes: Uint8Array): Promise<void> {
    const line = parseLine(bytes);
    if (!line || "name" in line) others++;
    if (!line) return;
    if ("name" in line) {
      hasHeader = true;
      expected += line.records;
      await batches.flush();
      return await nameOrganization(database, line.name, rename);
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
  readonly #written: () => void;
  /** The lines by the id of their record. */
  readonly #batch = new Map<string, RecordLine>();
  #length = 0;
  /** The number of records of the kind so far. */
  #count = 0;
  #analyzeAt = FIRST_ANALYZE;

  constructor(
    database: Queries,
    { refused, written }: Pick<CatalogueImport, "refused"> & {
      written: () => void;
    },
  ) {
    this.#database = database;
    this.#refused = refused;
    this.#written = written;
  }

  get isFull(): boolean {
    return this.#batch.size >= MAX_BATCH_LINES ||
      this.#length >= MAX_BATCH_LENGTH;
  }

  /** Adds a record. One of another kind, or one that the batch has, begins a batch. */
  async add(line: RecordLine): Promise<void> {
    const [first = line] = this.#batch.values();
    const { id } = line.record;
    if (first.kind !== line.kind || this.#batch.has(id)) await this.flush();
    if (first.kind !== line.kind) {
      this.#count = 0;
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
      this.#count += this.#batch.size;
      if (this.#count >= this.#analyzeAt) {
        await analyze(this.#database, first.table, this.#count);
        this.#analyzeAt *= 10;
      }
    }
    this.#batch.clear();
    this.#length = 0;
    this.#written();
  }

  /** Writes lines of one kind in a transaction. */
  async #write(lines: readonly RecordLine[]): Promise<void> {
    const [{ table }] = lines as [RecordLine];
    const faults = await this.#database.transaction(async (tx) => {
      checkUndistributed(tx);
      const unnamed = new Map<RecordLine, ErrorDetail[]>();
      const found = table === "products"
        ? await findIds(tx, lines, unnamed)
        : lines;
      const changes = await findChanges(tx, found);
      const faults = table === "products"
        ? await writeProducts(tx, changes)
        : await writeRecords(tx, table, changes);
      await tx.commit();
      return [...unnamed, ...faults];
    });
    for (const [{ number }, details] of faults) {
      this.#refused(number, reasonOf(details));
    }
  }
}

const NO_HEADER =
  "The file does not begin with a header: expected the output of deno task export";

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

/** Runs ANALYZE on the tables of a kind if the planner knows fewer rows than these. */
async function analyze(
  database: Queries,
  table: LineTable,
  rows: number,
): Promise<void> {
  const [known] = await database.lookUp(sql<{ is_small: boolean }>`
    select c.reltuples < ${rows} as is_small
    from pg_class c
    where c.oid = to_regclass(${table})
  `);
  if (!known!.is_small) return;
  const tables = names(...tablesOfLine(table));
  await database.write(...transferSettings, sql`analyze ${tables}`);
}

/** Creates the organization. One that exists keeps its name, unless it is renamed. */
async function nameOrganization(
  database: Queries,
  name: string,
  rename: boolean,
): Promise<void> {
  await database.write(sql`
    insert into organizations as o (id, name)
    values (${organization}, ${name})
    on conflict (id) do update set name = excluded.name
    where ${rename} and o.name <> excluded.name
  `);
}

/** What a line changes. */
interface LineChange {
  line: RecordLine;
  /** The record, as a line has it. Absent for a new one. */
  before: RestoredLine | undefined;
  /** The fields that the line changes. */
  body: Entry;
  /** What it changes of what `GET` does not show. */
  stored: RestoredLine["stored"];
}

/**
 * Locks the records of the lines, and returns what the lines change. Imports into one
 * organization write one after the other: both may create the same records.
 */
async function findChanges(
  tx: Transaction,
  lines: readonly RecordLine[],
): Promise<LineChange[]> {
  if (lines.length === 0) return [];
  const [{ kind, table }] = lines as [RecordLine];
  const areTheirs = sql`r.id ${isAnyOf(lines.map(({ record }) => record.id))}`;
  const results = await tx.send(
    ...transferSettings,
    lockKeys([{ match: "import", value: "" }]),
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
  const fields = table === "products" ? FIELDS : RECORDS[table].fields;
  return lines.flatMap((line): LineChange[] => {
    const { stored, ...body } = line.record;
    const text = texts.get(body.id);
    if (text === undefined) return [{ line, before: undefined, body, stored }];
    if (text === line.text) return [];
    const before = parseExact(text) as RestoredLine;
    const changed = changedFields(before, body, fields);
    const others = Object.fromEntries(
      Object.entries(stored).filter(([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(before.stored[name])
      ),
    );
    return Object.keys({ ...changed, ...others }).length > 0
      ? [{ line, before, body: changed, stored: others }]
      : [];
  });
}

type Faults = Map<RecordLine, ErrorDetail[]>;

/** The lines with the ids that names stand for. The errors of the others are added to `faults`. */
async function findIds(
  tx: Transaction,
  lines: readonly RecordLine[],
  faults: Faults,
): Promise<RecordLine[]> {
  const found = await findNamed(
    tx,
    lines.map(({ record: { id, ...body } }) => (
      { id, body, isNew: true, restored: {} }
    )),
  );
  return lines.flatMap((line, i) => {
    const change = found[i]!;
    if (change instanceof ApiError) {
      faults.set(line, change.details);
      return [];
    }
    const record = { ...change.body, id: change.id } as RestoredLine;
    return { ...line, record };
  });
}

/** Writes products as batches do, with what `GET` does not show of them. */
async function writeProducts(
  tx: Transaction,
  changes: readonly LineChange[],
): Promise<Faults> {
  const writes = changes.map((change): Write & LineChange => {
    const { id, product_code, created_at, updated_at } = change.line.record;
    const restored = { product_code, created_at, updated_at } as Entry;
    const isNew = !change.before;
    const { id: _, ...body } = Object.fromEntries(
      Object.entries(change.body).filter(([name]) => !(name in restored)),
    );
    return { ...change, id, body, isNew, isWhole: true, restored };
  });
  const { faults } = await writeTogether(tx, writes, async (done) => {
    await tx.send(...storeOnix(done));
  });
  return new Map(
    Array.from(faults, ([{ line }, { details }]) => [line, details]),
  );
}

/** Replaces what ONIX stores beside products, where lines change it. */
function storeOnix(changes: readonly LineChange[]): Statement[] {
  return ONIX_TABLES.flatMap((table) => {
    const changing = changes.filter(({ stored }) => stored[table]);
    const rows = changing.flatMap(({ line, stored }) =>
      (stored[table] as Entry[])
        .map((row) => ({ ...row, product_id: line.record.id }))
    );
    const existing = changing.flatMap(({ line, before }) =>
      before ? line.record.id : []
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
  changes: readonly LineChange[],
): Promise<Faults> {
  const faults = await findUnknown(tx, table, changes);
  const valid = changes.filter(({ line }) => !faults.has(line));
  if (valid.length === 0) return faults;
  const columns = ["id", ...recordColumns(table)];
  const times = ["created_at", "updated_at"];
  const rows = valid.map(({ line, before }) => (
    { ...before, updated_at: null, ...line.record }
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
  changes: readonly LineChange[],
): Promise<Faults> {
  const references = referencesIn(table, RECORDS[table].fields);
  const ids = changes.flatMap(({ line, stored }, at): ReferencedId[] => [
    ...references.map(({ field, table: table_name }) => (
      { at, pointer: `/${field}`, table_name, id: line.record[field] }
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
        changes[at]!.line,
        ids.map(({ pointer }) => unknownReference(pointer)),
      ],
    ),
  );
}

/** Sets the products of programs, where lines change them. */
function setPrograms(changes: readonly LineChange[]): Statement[] {
  const changing = changes.filter(({ stored }) => stored.products);
  const rows = changing.flatMap(({ line, stored }) =>
    stored.products!.map((product_id) => (
      { program_id: line.record.id, product_id }
    ))
  );
  const programs = isAnyOf(changing.map(({ line }) => line.record.id));
  return [
    sql`
      delete from publishing_program_products x
      where x.organization_id = ${organization} and x.program_id ${programs}
    `,
    sql`
      insert into publishing_program_products (organization_id, program_id, product_id)
      select ${organization}::uuid, r.program_id, r.product_id
      from jsonb_to_recordset(${
      json(rows)
    }) r (program_id uuid, product_id uuid)
    `,
  ];
}
