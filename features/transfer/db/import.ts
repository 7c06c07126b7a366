import type { Entry } from "../../../schema/bodies.ts";
import { tablesOfLine } from "../../../schema/lines.ts";
import { json, names, organization, raw, sql } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { ORGANIZATION_COLUMNS } from "../../../db/records/organization.ts";
import { transferSettings } from "./export.ts";
import { findChanges } from "./line_changes.ts";
import { LineError, parseLine, reasonOf, type RecordLine, splitLines } from "./lines.ts";
import { writeProductLines, writeRecordLines } from "./write_lines.ts";

/*
 * Imports a file into an organization:
 *
 *     parseLine          lines.ts         reads a line: a header, or a record with its kind and id
 *     Batches            this file        collects lines of one kind, for one transaction
 *     findChanges        line_changes.ts  locks their records, and compares each with its line
 *     writeProductLines  write_lines.ts   writes the differences (`writeRecordLines` for other records)
 */

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
 * The number of records of a kind that are written before the first ANALYZE. Each later one follows
 * ten times as many. Without ANALYZE, the planner would assume that the organization has no rows,
 * and might choose any index.
 */
const FIRST_ANALYZE = 400;

/**
 * Creates or replaces the records of a file in the format of `schema/lines.ts`, and creates the
 * organization if necessary. Records without a line remain. Refused lines are reported, and the
 * import continues. Unchanged records are not written. Returns the number of records. Throws for a
 * file without a header, for a database that has no code lists, and for errors
 * that no line caused, such as a lost connection.
 */
export async function importCatalogue(
  database: Queries,
  file: AsyncIterable<Uint8Array>,
  { refused, progress, rename = false }: CatalogueImport,
): Promise<CatalogueSize> {
  await checkSeeded(database);
  let lines = 0;
  let bytesRead = 0;
  /** The number of headers and empty lines. */
  let others = 0;
  /** The number of records that the headers announce. */
  let announced = 0;
  let hasHeader = false;
  const batches = new Batches(database, {
    refused,
    done: () => progress(lines, bytesRead),
  });

  async function add(bytes: Uint8Array): Promise<void> {
    const line = parseLine(bytes);
    if (!line || "organization" in line) others++;
    if (!line) return;
    if ("organization" in line) {
      hasHeader = true;
      announced += line.records;
      await batches.flush();
      return await writeOrganization(database, line.organization, rename);
    }
    if (!hasHeader) throw new LineError("A record precedes the header");
    await batches.add({ number: lines + 1, ...line });
  }

  for await (const bytes of splitLines(file)) {
    try {
      await add(bytes);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      if (!hasHeader) throw new Error(NO_HEADER);
      refused(lines + 1, error.message);
    }
    lines++;
    bytesRead += bytes.length;
    if (batches.isFull) await batches.flush();
  }
  if (!hasHeader) throw new Error(NO_HEADER);
  await batches.flush();
  return { records: lines - others, announced };
}

/**
 * The number of records in a file, and the number in its headers, which is larger if lines were
 * removed.
 */
export interface CatalogueSize {
  records: number;
  announced: number;
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

  /** Adds a record. A record of another kind, or one that the batch already has, begins a new batch. */
  async add(line: RecordLine): Promise<void> {
    const [first = line] = this.#batch.values();
    const isOtherKind = first.kind !== line.kind;
    if (isOtherKind || this.#batch.has(line.id)) await this.flush();
    if (isOtherKind) {
      this.#written = 0;
      this.#analyzeAt = FIRST_ANALYZE;
    }
    this.#batch.set(line.id, line);
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
        const { changes, refused } = await findChanges(tx, lines);
        const faults = table === "products"
          ? await writeProductLines(tx, changes)
          : await writeRecordLines(tx, table, changes);
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
    on conflict (id) do ${
    rename
      ? sql`update set (${columns}) = row(${written}) where (${stored}) is distinct from (${written})`
      : raw("nothing")
  }
  `);
}
