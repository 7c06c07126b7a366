import { Buffer } from "node:buffer";
import { isAnyOf, json, names, organization, sql } from "../connections/sql.ts";
import {
  ApiError,
  detailAt,
  type ErrorDetail,
  refusedBy,
  seriesNotAttached,
  unknownReference,
} from "../../schema/errors.ts";
import {
  referencesOfLine,
  repeatedRows,
  validName,
} from "../../schema/lines.ts";
import { DUPLICATE } from "../../schema/objects.ts";
import { brokenConstraint, isDataError } from "../connections/errors.ts";
import type { Queries } from "../database.ts";
import { missesRows } from "../products/change.ts";
import { storeWritten } from "../products/documents.ts";
import { TOO_LARGE, unknownReferences } from "../products/errors.ts";
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
  let batch: RecordLine[] = [];
  let length = 0;
  /** Headers and empty lines. */
  let others = 0;
  let expected = 0;
  let hasHeader = false;
  let written = 0;
  let analyzeAt = FIRST_ANALYZE;

  /** Writes a batch. Splits a failed batch in half, down to the invalid lines. */
  async function write(batch: RecordLine[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      await writeAll(database, formats.get(batch[0]!.kind)!, batch);
    } catch (error) {
      // SQL or another import has inserted one of the products meanwhile.
      if (missesRows(error)) return await write(batch);
      if (!isDataError(error)) throw error;
      if (batch.length === 1) {
        const [line] = batch as [RecordLine];
        const details = await explain(database, line, error);
        return refused(line.number, reasonOf(details));
      }
      const middle = batch.length >> 1;
      await write(batch.slice(0, middle));
      await write(batch.slice(middle));
    }
  }

  async function flush(): Promise<void> {
    await write(batch);
    written += batch.length;
    if (batch[0] && written >= analyzeAt) {
      await analyze(database, formats.get(batch[0].kind)!, written);
      analyzeAt *= 10;
    }
    batch = [];
    length = 0;
    progress(number, end);
  }

  async function add(number: number, bytes: Uint8Array): Promise<void> {
    const line = parseLine(bytes);
    if (!line || "name" in line) others++;
    if (!line) return;
    if ("name" in line) {
      hasHeader = true;
      expected += line.records;
      await flush();
      const name = validName(line.name);
      if (name instanceof ApiError) throw new LineError(reasonOf(name.details));
      return await nameOrganization(database, name, rename);
    }
    if (!hasHeader) throw new LineError("A record precedes the header");
    if (batch[0] && batch[0].kind !== line.kind) {
      await flush();
      written = 0;
      analyzeAt = FIRST_ANALYZE;
    }
    batch.push({ number, ...line });
    length += line.text.length;
  }

  for await (const bytes of splitLines(file)) {
    try {
      await add(number + 1, bytes);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      if (!hasHeader) throw new Error(NO_HEADER);
      refused(number + 1, error.message);
    }
    number++;
    end += bytes.length;
    if (batch.length >= MAX_BATCH_LINES || length >= MAX_BATCH_LENGTH) {
      await flush();
    }
  }
  if (!hasHeader) throw new Error(NO_HEADER);
  await flush();
  const records = number - others;
  if (records < expected) {
    refused(
      number + 1,
      `The file ends here, after ${records} of ${expected} records`,
    );
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

/** The errors of a valid line that the database has refused, in the words of the API. */
async function explain(
  database: Queries,
  line: RecordLine,
  error: unknown,
): Promise<ErrorDetail[]> {
  const { kind, record } = line;
  const ids = referencesOfLine(kind, record);
  const unknown = await database.lookUp(unknownReferences(ids));
  if (unknown.length > 0) {
    return unknown.map(({ pointer }) => unknownReference(pointer));
  }
  const constraint = brokenConstraint(error);
  const table = /^(\w+)_pkey$/.exec(constraint ?? "")?.[1];
  const repeated = table ? repeatedRows(kind, record, table) : [];
  if (repeated.length > 0) {
    return repeated.map((pointer) => detailAt(pointer, DUPLICATE));
  }
  switch (constraint) {
    case "onix_aliases_pkey":
      return await usedAliases(database, line);
    case "onix_records_by_reference":
      return [referenceInUse("/onix_records/0/record_reference")];
    case "products_series":
      return [seriesNotAttached("/series_id")];
    case "product_documents_size":
      return [TOO_LARGE];
    case "products_code":
      return [
        detailAt("/product_code", "duplicate: Another product has this code"),
      ];
  }
  return [refusedBy(error, "record")];
}

/** The errors of the ONIX references of a product that other products have. */
async function usedAliases(
  database: Queries,
  { id, record }: RecordLine,
): Promise<ErrorDetail[]> {
  const { onix_aliases } = record as {
    onix_aliases: { record_reference: string }[];
  };
  const used = await database.lookUp(sql<{ record_reference: string }>`
    select a.record_reference
    from onix_aliases a
    join jsonb_to_recordset(${json(onix_aliases)}) r (record_reference text)
      on r.record_reference = a.record_reference
    where a.organization_id = ${organization} and a.product_id <> ${id}
  `);
  const references = new Set(used.map((row) => row.record_reference));
  return onix_aliases.flatMap(({ record_reference }, i) =>
    references.has(record_reference)
      ? [referenceInUse(`/onix_aliases/${i}/record_reference`)]
      : []
  );
}

function referenceInUse(pointer: string): ErrorDetail {
  return detailAt(pointer, "duplicate: Another product has this reference");
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
