import {
  discriminatorOf,
  type Entry,
  issuesAs,
  namedRows,
  type ProductBody,
} from "../../schema/bodies.ts";
import {
  ApiError,
  bodyDetails,
  detailAt,
  type ErrorDetail,
  invalid,
  refusedBy,
  seriesNotAttached,
  unavailable,
  unknownEntry,
  unknownReference,
} from "../../schema/errors.ts";
import type { Rows } from "../../schema/fields.ts";
import { MAX_ENTRIES } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import { givenReferences, REFERENCES } from "../../schema/references.ts";
import { brokenConstraint } from "../connections/errors.ts";
import {
  isOneOf,
  joined,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type Change, isIdOf, ROWS_FOUND, type Write } from "./change.ts";
import { recordWithId } from "./json.ts";

/*
 * Constraints of the database refuse what a body cannot say about itself. PostgreSQL reports
 * only the first that is violated, so the stored rows are read then, to report every error in
 * the body.
 */

/** The error detail of a product whose JSON is larger than 4 MiB. */
export const TOO_LARGE = detailAt(
  "",
  "too_large: The product would be larger than 4 MiB",
);

/** The error for a product that is too large to be shown. */
export function tooLarge(id: string, bytes: number): ApiError {
  const mib = (bytes / 2 ** 20).toFixed(1);
  return new ApiError(
    "CONFLICT",
    `The product "${id}" has ${mib} MiB of JSON, and at most 4 MiB can be shown: SQL has stored it. Remove rows by PUT`,
  );
}

/** The error for a product that the organization does not have. */
export function productNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with id "${id}"`);
}

/** The error detail for each violated constraint. */
const RULES: Record<string, ErrorDetail> = {
  ...Object.fromEntries(
    REFERENCES.map(({ constraint, field, array, isSeries }) => [
      constraint,
      isSeries ? seriesNotAttached(`/${field}`) : unknownReference(`/${array?.name ?? field}`),
    ]),
  ),
  ...Object.fromEntries(
    ROWS.flatMap(([name, { table, put, rules = [] }]) => [
      ...put === "patch" ? [[`${table}_position`, tooManyEntries(name)]] : [],
      ...rules.flatMap(({ constraint }) =>
        constraint
          ? [[
            `${table}_${constraint.name}`,
            detailAt(`/${name}`, constraint.message),
          ]]
          : []
      ),
    ]),
  ),
  product_documents_size: TOO_LARGE,
  products_announcement: announced("/publishing_dates"),
};

/** The error detail of a year or month of publication beside the day. */
function announced(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "contradictory: A year or month of publication (role 01) requires that publication_date is null",
  );
}

function tooManyEntries(array: string): ErrorDetail {
  return detailAt(
    `/${array}`,
    `too_large: The product would have more than ${MAX_ENTRIES} entries here`,
  );
}

/** The error details of what an import restores and another product has. */
const RESTORED: Record<string, ErrorDetail> = {
  products_code: detailAt(
    "/product_code",
    "duplicate: Another product has this code",
  ),
  onix_aliases_pkey: inUse("/stored/onix_aliases"),
  onix_records_by_reference: inUse("/stored/onix_records"),
};

function inUse(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "duplicate: Another product has such a reference, or an earlier entry",
  );
}

/** The error detail of a write that the database refuses although its body is valid. */
export function refusal(error: unknown): ErrorDetail {
  return RESTORED[brokenConstraint(error) ?? ""] ?? refusedBy(error, "product");
}

/** The foreign key of a publishing program on its products. */
export const IN_PROGRAM = "publishing_program_products_product";

/** The foreign keys of rows on their products. Without a program, SQL has deleted the product meanwhile. */
const OF_PRODUCT = /_product$/;

/**
 * Whether the body or the operation violated a rule, or another request has created the
 * product meanwhile, unlike a failure of the database.
 */
export function isViolation(error: unknown): boolean {
  const constraint = brokenConstraint(error) ?? "";
  return constraint in RULES || constraint === ROWS_FOUND ||
    constraint === "products_pkey" || OF_PRODUCT.test(constraint);
}

/**
 * The error to throw for a failed transaction: other errors as they are, and for a
 * violation `VALIDATION_ERROR` with every error in the body, `NOT_FOUND`, `CONFLICT` for a
 * product in use or `SERVICE_UNAVAILABLE` for a concurrent change.
 */
export async function explainFailure(
  database: Queries,
  error: unknown,
  change: Change,
): Promise<unknown> {
  if (!isViolation(error)) return error;
  const constraint = brokenConstraint(error)!;
  if (constraint === IN_PROGRAM) return inProgram(error);
  // A deletion fails as an update does: it finds no product.
  const { id } = change;
  const write = change.method === "delete" ? { method: "update", id, body: {} } as const : change;
  const [details] = await findErrors(
    (...statements) => database.write(...statements),
    [write],
  );
  if (!details) return productNotFound(id);
  if (details.length > 0) return invalid("The body", details);
  // A concurrent transaction has changed the rows since the violation.
  const rule = RULES[constraint];
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", {
    cause: error,
  });
}

/** The error for deleting a product that is in a publishing program. */
export function inProgram(cause?: unknown): ApiError {
  return new ApiError(
    "CONFLICT",
    "The product is used in a publishing program: remove it there first",
    { cause },
  );
}

/** The ids of the products that are in a publishing program. */
export function idsInPrograms(
  ids: readonly string[],
): Statement<{ product_id: string }> {
  return sql`
    select distinct x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization} and x.product_id ${isOneOf(ids)}
  `;
}

/** The errors of each body, or undefined for an update of a missing product. */
export async function findErrors(
  send: Queries["write"],
  changes: readonly Write[],
): Promise<(ErrorDetail[] | undefined)[]> {
  const [rows, unknown] = await send(
    storedRows(changes),
    unknownReferences(changes.flatMap(referencedIds)),
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  const pointers = Map.groupBy(unknown, ({ at }) => at);
  return changes.map(({ method, id, body, keepsIds }, at) => {
    const product = method === "create" ? NOTHING_STORED : stored.get(id.toLowerCase());
    return product && [
      ...(pointers.get(at) ?? []).map(({ pointer }) => unknownReference(pointer)),
      ...unattachedSeries(body, product),
      ...announcements(body, product),
      ...ROWS.flatMap(([name, array]) => wrongRows(name, array, body, product, !!keepsIds)),
    ];
  });
}

/** The stored rows of a product by table, as far as bodies depend on them. */
interface Stored {
  id: string;
  series_id: string | null;
  publication_date: string | null;
  tables: Record<string, Entry[]>;
}

const NOTHING_STORED: Stored = {
  id: "",
  series_id: null,
  publication_date: null,
  tables: {},
};

function storedRows(changes: readonly Write[]): Statement<Stored> {
  const tables = changes.flatMap(({ body }) =>
    ROWS.filter(([name]) => body[name]).flatMap(([name, array]) => {
      const named = namedRows(array, body[name]).map(({ table }) => table);
      return array.put === "link" ? [] : [array.table, ...named];
    })
  );
  const stored = Array.from(
    new Set(["product_collections", ...tables]),
    (table) => {
      const columns = names(...COMPARED[table] ?? ["id"]);
      return sql`'${raw(table)}', array(
        select row_to_json(r)
        from (
          select ${columns}
          from ${raw(table)} x
          where x.organization_id = ${organization} and x.product_id = p.id
        ) r
      )`;
    },
  );
  return unprepared(sql`
    select p.id, p.series_id, p.publication_date::text, json_build_object(${
    joined(stored)
  }) as tables
    from products p
    where p.organization_id = ${organization} and p.id ${isIdOf(changes)}
  `);
}

/** The columns that entries are compared with, by table. Default: `id`. */
const COMPARED = Object.fromEntries(
  ROWS.map(([, { table, key = ["id"], types, fields, rules = [] }]) => [
    table,
    [
      ...key,
      ...types ? Object.keys(fields) : [],
      ...rules.flatMap(({ constraint, fields }) => constraint ? fields : []),
    ],
  ]),
);

/** An id in the value with this index, at this pointer. */
export interface ReferencedId {
  at: number;
  pointer: string;
  table_name: string;
  id: unknown;
}

/** The ids without a record of the organization. */
export function unknownReferences(
  ids: readonly ReferencedId[],
): Statement<Pick<ReferencedId, "at" | "pointer">> {
  const rows = ids.map((id, position) => ({ position, ...id }));
  return sql`
    select b.at, b.pointer
    from jsonb_to_recordset(${json(rows)})
      b (position int, at int, pointer text, table_name text, id uuid)
    where not case ${isKnown} end
    order by b.position
  `;
}

/** Without statistics, PostgreSQL would read all records for `exists`, to hash their ids. */
const isKnown = Array.from(
  new Set(["products", ...REFERENCES.map(({ table }) => table)]),
  (table) =>
    sql`
    when b.table_name = ${raw(`'${table}'`)}
      then (select true ${recordWithId(table, sql`b.id`)}) is not null
  `,
);

/** The ids in a body, except the series: `unattachedSeries` checks it. */
function referencedIds(
  { body }: Pick<Write, "body">,
  at: number,
): ReferencedId[] {
  return givenReferences(body).flatMap(({ reference, entry, value: id }) => {
    const { isSeries, field, table: table_name } = reference;
    if (!id || isSeries) return [];
    return [{ at, pointer: `${entry}/${field}`, table_name, id }];
  });
}

/** The error for a series that would not be one of the collections after the request. */
function unattachedSeries(body: ProductBody, stored: Stored): ErrorDetail[] {
  const series = body.series_id === undefined ? stored.series_id : body.series_id;
  const links = body.product_collections ?? stored.tables.product_collections ??
    [];
  // One without an id is not known: it may be the series.
  const isAttached = links.some(({ collection_id: id }) => !id || id === series);
  if (!series || isAttached) return [];
  return [
    seriesNotAttached(body.series_id ? "/series_id" : "/product_collections"),
  ];
}

/** The errors for years and months of publication that the product would have beside its `publication_date`. */
function announcements(body: ProductBody, stored: Stored): ErrorDetail[] {
  const { publication_date = stored.publication_date } = body;
  if (publication_date === null) return [];
  const dates = body.publishing_dates as Entry[] | undefined ?? [];
  return dates.flatMap(({ publishing_date_role }, i) =>
    publishing_date_role === "01" ? [announced(`/publishing_dates/${i}/date`)] : []
  );
}

/** The errors of entries that are not rows of the product, invalid for their row, or too many. */
function wrongRows(
  name: string,
  array: Rows,
  body: ProductBody,
  { tables }: Stored,
  keepsIds: boolean,
): ErrorDetail[] {
  const entries = body[name] as Entry[] | undefined;
  if (!entries) return [];
  const unknown = keepsIds ? [] : Array.from(namedRows(array, entries)).filter(
    ({ table, id }) => !tables[table]?.some((row) => row.id === id),
  );
  const rows = tables[array.table] ?? [];
  const added = entries.filter(({ id }) => !id).length;
  return [
    ...unknown.map(({ path }) => unknownEntry(`/${name}/${path.join("/")}`)),
    ...entries.flatMap((entry, i) => {
      const row = rows.find(({ id }) => entry.id && id === entry.id);
      return row ? wrongRow(`/${name}/${i}`, array, entry, row) : [];
    }),
    ...array.put === "patch" && rows.length + added > MAX_ENTRIES ? [tooManyEntries(name)] : [],
  ];
}

function wrongRow(
  at: string,
  array: Rows,
  entry: Entry,
  row: Entry,
): ErrorDetail[] {
  const { types, rules = [] } = array;
  if (types) return wrongType(at, array, entry, row);
  return rules.flatMap(({ fields, check }) => {
    const given = fields.findLast((field) => field in entry);
    const message = given && check({ ...row, ...entry });
    return message ? [detailAt(`${at}/${given}`, message)] : [];
  });
}

function wrongType(
  at: string,
  array: Rows,
  entry: Entry,
  row: Entry,
): ErrorDetail[] {
  const discriminator = discriminatorOf(array);
  const type = row[discriminator] as string;
  if (entry[discriminator] && entry[discriminator] !== type) {
    return [
      detailAt(
        `${at}/${discriminator}`,
        `immutable: The type of a row cannot change: expected ${type}`,
      ),
    ];
  }
  return bodyDetails(issuesAs(array, type, entry) ?? [], at);
}
