import { Buffer } from "node:buffer";
import { isAnyOf, names, organization, sql } from "../connections/sql.ts";
import { ApiError } from "../../schema/errors.ts";
import { validName } from "../../schema/lines.ts";
import { isDataError } from "../connections/errors.ts";
import type { Queries } from "../database.ts";
import { missesRows } from "../products/change.ts";
import { storeWritten } from "../products/documents.ts";
import { explainLine } from "./errors.ts";
import {
  formatsByKind,
  type Line,
  listColumns,
  selectLines,
  type TableFormat,
  tablesOf,
  transferSettings,
} from "./format.ts";
import {
  LineError,
  parseLine,
  reasonOf,
  type RecordLine,
  splitLines,
} from "./lines.ts";
import {
  checkUndistributed,
  clearRecords,
  lockRecords,
  writeRecords,
} from "./rows.ts";

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
 * Creates or replaces the records of a file in the format of `format.ts`, and
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
  const formats = formatsByKind(await database.scan(listColumns));
  let number = 0;
  let end = 0;
  /** The number of headers and empty lines. */
  let others = 0;
  /** The number of records that the headers announce. */
  let expected = 0;
  let hasHeader = false;
  const batches = new Batches(database, formats, {
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
      const name = validName(line.name);
      if (name instanceof ApiError) throw new LineError(reasonOf(name.details));
      return await nameOrganization(database, name, rename);
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

/** Writes records batch by batch. A batch has records of one kind. */
class Batches {
  readonly #database: Queries;
  readonly #formats: ReadonlyMap<string, TableFormat>;
  readonly #refused: CatalogueImport["refused"];
  /** Called after each batch. */
  readonly #written: () => void;
  #batch: RecordLine[] = [];
  #length = 0;
  /** The number of records of the kind so far. */
  #count = 0;
  #analyzeAt = FIRST_ANALYZE;

  constructor(
    database: Queries,
    formats: ReadonlyMap<string, TableFormat>,
    { refused, written }: Pick<CatalogueImport, "refused"> & {
      written: () => void;
    },
  ) {
    this.#database = database;
    this.#formats = formats;
    this.#refused = refused;
    this.#written = written;
  }

  get isFull(): boolean {
    return this.#batch.length >= MAX_BATCH_LINES ||
      this.#length >= MAX_BATCH_LENGTH;
  }

  /** Adds a record. One of another kind begins a batch. */
  async add(line: RecordLine): Promise<void> {
    if (this.#batch[0] && this.#batch[0].kind !== line.kind) {
      await this.flush();
      this.#count = 0;
      this.#analyzeAt = FIRST_ANALYZE;
    }
    this.#batch.push(line);
    this.#length += line.text.length;
  }

  /** Writes the batch, which may be empty. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    await this.#write(batch);
    this.#count += batch.length;
    if (batch[0] && this.#count >= this.#analyzeAt) {
      await analyze(this.#database, this.#formatOf(batch[0]), this.#count);
      this.#analyzeAt *= 10;
    }
    this.#batch = [];
    this.#length = 0;
    this.#written();
  }

  /** Writes a batch. Splits a failed batch in half, down to the invalid lines. */
  async #write(batch: readonly RecordLine[]): Promise<void> {
    const [line] = batch;
    if (!line) return;
    try {
      await writeAll(this.#database, this.#formatOf(line), batch);
    } catch (error) {
      // SQL or another import has inserted one of the products meanwhile.
      if (missesRows(error)) return await this.#write(batch);
      if (!isDataError(error)) throw error;
      if (batch.length === 1) {
        const details = await explainLine(this.#database, line, error);
        return this.#refused(line.number, reasonOf(details));
      }
      const middle = batch.length >> 1;
      await this.#write(batch.slice(0, middle));
      await this.#write(batch.slice(middle));
    }
  }

  #formatOf({ kind }: RecordLine): TableFormat {
    return this.#formats.get(kind)!;
  }
}

/**
 * The size of a line, in bytes, above which its product may have more than 4 MiB of JSON.
 * The names and labels that the JSON adds take less than three times the line. The JSON of
 * such a product is stored, which checks its size.
 */
const LARGE_BYTES = 2 ** 20;

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

/** Runs ANALYZE on the tables of a kind if the planner knows fewer rows than these. */
async function analyze(
  database: Queries,
  format: TableFormat,
  rows: number,
): Promise<void> {
  const [table] = await database.lookUp(sql<{ is_small: boolean }>`
    select c.reltuples < ${rows} as is_small
    from pg_class c
    where c.oid = to_regclass(${format.table})
  `);
  if (!table!.is_small) return;
  const tables = names(...tablesOf([format]));
  await database.write(...transferSettings, sql`analyze ${tables}`);
}

/** Writes records of one kind in one transaction. Of several lines of a record, the last counts. */
async function writeAll(
  database: Queries,
  format: TableFormat,
  lines: readonly RecordLine[],
): Promise<void> {
  const batch = [...new Map(lines.map((line) => [line.id, line])).values()];
  const ids = batch.map(({ id }) => id);
  const [{ kind }] = batch as [RecordLine];
  await database.transaction(async (tx) => {
    checkUndistributed(tx);
    const results = await tx.send(
      ...transferSettings,
      lockRecords(format, ids),
      selectLines(
        kind,
        format,
        sql`and id ${isAnyOf(ids)}`,
      ),
    );
    const stored = new Map(
      (results.at(-1) as Line[]).map(({ id, line }) => [id, line]),
    );
    // A repeated import writes only new and changed records.
    const changed = batch.filter(({ id, text }) => stored.get(id) !== text);
    const changedIds = changed.map(({ id }) => id);
    const existingIds = changedIds.filter((id) => stored.has(id));
    const records = JSON.stringify(changed.map(({ record }) => record));
    const large = kind === "product"
      ? changed.filter(({ text }) => Buffer.byteLength(text) > LARGE_BYTES)
        .map(({ id }) => ({ id, body: {}, isNew: false }))
      : [];
    await tx.commit(
      ...existingIds.length > 0
        ? clearRecords(format, existingIds, records)
        : [],
      ...changedIds.length > 0 ? writeRecords(format, changedIds, records) : [],
      ...large.length > 0 ? [storeWritten(tx, large)] : [],
    );
  });
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
