import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError, detailAt, type ErrorDetail, MAX_ERRORS } from "../../schema/errors.ts";
import { type Named, sentField } from "../../schema/named.ts";
import { distinctBy, DUPLICATE, repeated } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import { isShared, type RecordTable } from "../../schema/records.ts";
import { type NamedReference, namedReferences, tableOf, withIds } from "../../schema/references.ts";
import {
  isOneOfTexts,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { mayBeNamed, RecordsByName } from "../record_names.ts";
import type { Write } from "./change/change.ts";
import { acceptedWrite, completeErrors } from "./errors/complete_errors.ts";
import { explainNames, type UnresolvedName } from "./errors/name_errors.ts";

/*
 * Finds the ids of records that bodies refer to by name or code, for all changes of a transaction at
 * once: `publisher_name: "Penguin"` instead of `publisher_id`. The number of statements does not
 * depend on the number of names.
 */

/**
 * Replaces the names and codes in each change with ids, or returns all errors of the change. A
 * refused body (`ApiError`) gets the errors of its accepted references as well.
 */
export async function resolveNames<W extends Write>(
  tx: Transaction,
  changes: readonly (W | ApiError)[],
): Promise<(W | ApiError)[]> {
  const resolving = changes.flatMap((change, index) => {
    const error = change instanceof ApiError ? change : undefined;
    const write = error ? acceptedWrite(error) : change as W;
    if (!write) return [];
    return [{ index, write, error, named: namedReferences(write.body) }];
  });
  const all = resolving.flatMap(({ named }) => named);
  if (all.length === 0 && !resolving.some(({ error }) => error)) return [...changes];
  const candidates = await findCandidates(tx, all);
  const resolved = resolving.map(({ index, write, error, named }) => {
    const { body, unresolved } = withFoundIds(write.body, named, candidates);
    const known = error?.details ?? [];
    const repeated = repeatedLinks(write.body, body);
    return { index, write: { ...write, body }, known, unresolved, repeated };
  });
  const unknown = await explainNames(tx, resolved.map(({ unresolved }) => unresolved));
  const checked = resolved.map(({ index, write, known, repeated }, i) => (
    { index, write, details: [...known, ...unknown[i]!, ...repeated] }
  ));
  const faulty = checked.filter(({ details }) => details.length > 0);
  const errors = await completeErrors(tx, faulty);
  const results = [...changes];
  for (const { index, write } of checked) results[index] = write as W;
  faulty.forEach(({ index }, i) => results[index] = errors[i]!);
  return results;
}

/** Replaces the names of a body that were found with ids. The others stay unresolved. */
function withFoundIds(
  body: ProductBody,
  named: readonly NamedReference[],
  candidates: ReadonlyMap<RecordTable, Candidates>,
): { body: ProductBody; unresolved: UnresolvedName[] } {
  const ids: [NamedReference, string][] = [];
  const unresolved: UnresolvedName[] = [];
  for (const reference of named) {
    const found = candidates.get(tableOf(reference))!.find(reference);
    if (typeof found === "string") ids.push([reference, found]);
    // Further errors are neither listed nor counted.
    else if (unresolved.length <= MAX_ERRORS) {
      unresolved.push({ named: reference, records: found });
    }
  }
  return { body: withIds(body, ids), unresolved };
}

/** Resolves the names in one change, as `resolveNames` does. Throws its errors. */
export async function resolveNamesOf<W extends Write>(
  tx: Transaction,
  change: W,
): Promise<W> {
  const [resolved] = await resolveNames(tx, [change]);
  if (resolved instanceof ApiError) throw resolved;
  return resolved!;
}

/** Adds the errors of the accepted references to the error of a refused body. */
export async function withReferenceErrors(
  database: Queries,
  error: ApiError,
): Promise<ApiError> {
  if (!acceptedWrite(error)) return error;
  return await database.transaction(async (tx) => {
    const [completed] = await resolveNames<Write>(tx, [error]);
    await tx.commit();
    return completed as ApiError;
  });
}

/** A record that has one of the names or codes. */
interface Candidate {
  id: string;
  name: string;
  code?: string;
}

/** Finds the records that have the names and codes, by table. */
async function findCandidates(
  tx: Transaction,
  references: readonly NamedReference[],
): Promise<Map<RecordTable, Candidates>> {
  const byTable = Map.groupBy(references, tableOf);
  if (byTable.size === 0) return new Map();
  const found = await tx.send(
    ...Array.from(byTable, ([table, named]) => selectCandidates(table, named)),
  );
  return new Map(
    Array.from(
      byTable.keys(),
      (table, i) => [table, new Candidates(found[i]!)],
    ),
  );
}

/** The records of a table that have the names and codes. */
class Candidates {
  readonly #byName: RecordsByName<Candidate>;
  readonly #byCode: Map<string | undefined, Candidate[]>;

  constructor(records: readonly Candidate[]) {
    this.#byName = new RecordsByName(records);
    this.#byCode = Map.groupBy(records, ({ code }) => code);
  }

  /** Returns the id of the record, or the number of records if it is not one. */
  find({ value: { column, value } }: NamedReference): string | number {
    const found = column === "code" ? this.#byCode.get(value) ?? [] : this.#byName.named(value);
    return found.length === 1 ? found[0]!.id : found.length;
  }
}

function selectCandidates(
  table: RecordTable,
  named: readonly NamedReference[],
): Statement<Candidate> {
  const valuesOf = (column: Named["column"]) =>
    named.flatMap(({ value }) => value.column === column ? value.value : []);
  const hasName = mayBeNamed(table, valuesOf("name"));
  return unprepared(
    isShared(table)
      ? sql`
        select r.id, r.name, r.code
        from ${raw(table)} r
        where r.code ${isOneOfTexts(valuesOf("code"))} or ${hasName}
      `
      : sql`
        select r.id, r.name
        from ${raw(table)} r
        where r.organization_id = ${organization} and ${hasName}
      `,
  );
}

/** Returns the errors of links that occur twice, one or both of them given by name. */
function repeatedLinks(given: ProductBody, body: ProductBody): ErrorDetail[] {
  return ROWS.flatMap(([name, { put, key = [] }]) => {
    const [id, ...others] = key;
    const entries = body[name] as Entry[] | undefined;
    if (put !== "link" || !id || !entries) return [];
    const { keyOf } = distinctBy(id, ...others);
    const keys = entries.map((entry) =>
      key.every((name) => typeof entry[name] === "string") ? keyOf(entry) : undefined
    );
    return repeated(keys).map((index) => {
      const field = sentField((given[name] as Entry[])[index]!, id);
      return detailAt(`/${name}/${index}/${field}`, DUPLICATE);
    });
  });
}
