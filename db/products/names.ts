import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError, detailAt, type ErrorDetail, invalid } from "../../schema/errors.ts";
import { Named, sentField } from "../../schema/named.ts";
import { distinctBy, DUPLICATE, repeated } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import { isShared, type RecordTable } from "../../schema/records.ts";
import { type GivenReference, givenReferences } from "../../schema/references.ts";
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
import { uuidv7 } from "../uuid.ts";
import type { Creation, Write } from "./change.ts";
import { productNotFound } from "./errors.ts";
import { findErrors } from "./find_errors.ts";
import { explainName } from "./name_errors.ts";

/* The records that names and codes in bodies stand for. */

/** A name or code in a body in place of an id. */
export type NamedReference = GivenReference & { value: Named };

/** A record that may be meant. */
interface Candidate {
  id: string;
  name: string;
  code?: string;
}

function namedIn(body: ProductBody): NamedReference[] {
  return givenReferences(body).filter((given): given is NamedReference =>
    given.value instanceof Named
  );
}

/**
 * Puts ids in place of the names and codes in each change, or returns its errors. The error of a
 * refused body gets those of the references in it. Sends no statement if there is neither.
 */
export async function resolveNames<W extends Write>(
  tx: Transaction,
  changes: readonly (W | ApiError)[],
): Promise<(W | ApiError)[]> {
  const unresolved = changes.map((change) =>
    change instanceof ApiError ? acceptedOf(change) : { write: change }
  );
  const named = unresolved.map((one) => one ? namedIn(one.write.body) : []);
  const all = named.flat();
  if (all.length === 0 && !unresolved.some((one) => one?.error)) return [...changes];
  const candidates = await findCandidates(tx, all);
  const found: (W | ApiError)[] = [];
  for (const [i, one] of unresolved.entries()) {
    found.push(one ? await resolveOne(tx, one, named[i]!, candidates) as W : changes[i]!);
  }
  return found;
}

/** Does the same for one change, and throws its errors. */
export async function withIds<W extends Write>(
  tx: Transaction,
  change: W,
): Promise<W> {
  const [found] = await resolveNames(tx, [change]);
  if (found instanceof ApiError) throw found;
  return found!;
}

/**
 * Completes the error of a refused body with what only the database can tell of the part that was
 * accepted.
 */
export async function withReferences(
  database: Queries,
  error: ApiError,
): Promise<ApiError> {
  if (!acceptedOf(error)) return error;
  return await database.transaction(async (tx) => {
    const [found] = await resolveNames<Write>(tx, [error]);
    await tx.commit();
    return found as ApiError;
  });
}

/** A change, or what was accepted of a body at fault. */
interface Unresolved {
  write: Write;
  /** What is wrong with the body already. */
  error?: ApiError;
}

/**
 * What was accepted of a refused body, if it has what only the database can check: references, or
 * dates beside the day of publication that is stored.
 */
function acceptedOf(error: ApiError): Unresolved | undefined {
  const body = (error.accepted ?? {}) as ProductBody;
  const needsDatabase = "publishing_dates" in body ||
    givenReferences(body).some(({ value }) => value);
  return needsDatabase ? { write: undecided(body), error } : undefined;
}

/** A change that may turn out to create a product or to update one: its entries may exist. */
export function undecided(body: ProductBody, id = uuidv7()): Creation {
  return { method: "create", id, body, keepsIds: true, mayExist: true };
}

/** The change with ids in place of its names and codes, or its errors. */
async function resolveOne(
  tx: Transaction,
  { write, error }: Unresolved,
  named: readonly NamedReference[],
  candidates: ReadonlyMap<RecordTable, Candidates>,
): Promise<Write | ApiError> {
  const details = [...error?.details ?? []];
  let body = write.body;
  for (const reference of named) {
    const id = candidates.get(tableOf(reference))!.find(reference);
    if (typeof id === "string") body = withId(body, reference, id);
    else details.push(await explainName(tx, reference, id));
  }
  details.push(...repeatedLinks(write.body, body));
  const change = { ...write, body };
  return details.length === 0 ? change : await withOtherErrors(tx, change, details);
}

/** The records that the references may mean, in the order of the tables. */
async function findCandidates(
  tx: Transaction,
  references: readonly NamedReference[],
): Promise<Map<RecordTable, Candidates>> {
  const byTable = Map.groupBy(references, tableOf);
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

/** The records of a table that may be meant, each by its name and by its code. */
class Candidates {
  readonly #byName: RecordsByName<Candidate>;
  readonly #byCode: Map<string | undefined, Candidate[]>;

  constructor(records: readonly Candidate[]) {
    this.#byName = new RecordsByName(records);
    this.#byCode = Map.groupBy(records, ({ code }) => code);
  }

  /** The id that is meant, or the number of records that may be. */
  find({ value: { column, value } }: NamedReference): string | number {
    const meant = column === "code" ? this.#byCode.get(value) ?? [] : this.#byName.named(value);
    return meant.length === 1 ? meant[0]!.id : meant.length;
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

function tableOf({ reference }: NamedReference): RecordTable {
  return reference.table as RecordTable;
}

/** The body with the id instead of the name. */
function withId(
  body: ProductBody,
  { reference: { field, array }, index }: NamedReference,
  id: string | null,
): ProductBody {
  if (!array) return { ...body, [field]: id };
  const entries = body[array.name] as Entry[];
  return {
    ...body,
    [array.name]: entries.with(index, { ...entries[index], [field]: id }),
  };
}

/** The errors of links that an earlier entry has, too: one of them by a name, perhaps the other by its id. */
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

/** The error of the change, with what is wrong besides its names. */
async function withOtherErrors(
  tx: Transaction,
  change: Write,
  details: readonly ErrorDetail[],
): Promise<ApiError> {
  let { body } = change;
  for (const reference of namedIn(body)) {
    body = withId(body, reference, null);
  }
  // The product that it may change can have the collection of its series.
  const mayExist = change.method === "create" && change.mayExist;
  if (mayExist && !body.product_collections) {
    body = { ...body, series_id: null };
  }
  const [found] = await findErrors(tx.send, [{ ...change, body }]);
  return found ? invalid("The body", [...details, ...found]) : productNotFound(change.id);
}
