import { discriminatorOf, type Entry, issuesAs, type ProductBody } from "../../../schema/bodies.ts";
import { namedRows } from "../../../schema/named_rows.ts";
import {
  bodyDetails,
  detailAt,
  type ErrorDetail,
  seriesNotAttached,
  unknownEntry,
  unknownReference,
} from "../../../schema/errors.ts";
import type { Rows } from "../../../schema/fields.ts";
import { MAX_ENTRIES } from "../../../schema/objects.ts";
import { ROWS } from "../../../schema/product.ts";
import { givenReferences, REFERENCES } from "../../../schema/references.ts";
import {
  joined,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../connections/sql.ts";
import type { Queries } from "../../database.ts";
import { hasWholeArrays, isIdOf, type Write } from "../change/change.ts";
import { contradictoryDates, tooManyEntries } from "./errors.ts";
import { recordWithId } from "../../row_json.ts";

/*
 * Finds all errors of bodies that depend on stored rows. PostgreSQL reports only the first violated
 * constraint. So after a violation the stored rows are read, and each body is compared with those
 * of its product.
 */

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
  return changes.map((change, at) => {
    const { method, id, body } = change;
    const product = method === "create" ? NOTHING_STORED : stored.get(id.toLowerCase());
    return product && [
      ...(pointers.get(at) ?? []).map(({ pointer }) => unknownReference(pointer)),
      ...unattachedSeries(body, product),
      ...contradictingDates(body, product),
      ...ROWS.flatMap(([name, array]) => wrongRows(name, array, change, product)),
    ];
  });
}

/** The stored rows of a product that bodies depend on, by table. */
interface StoredRows {
  id: string;
  series_id: string | null;
  publication_date: string | null;
  tables: Record<string, Entry[]>;
}

const NOTHING_STORED: StoredRows = {
  id: "",
  series_id: null,
  publication_date: null,
  tables: {},
};

function storedRows(changes: readonly Write[]): Statement<StoredRows> {
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

/** An id in one of several changes or lines, the one with the index `at`, at this pointer. */
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
    where not case ${knownCases} end
    order by b.position
  `;
}

/**
 * The branches of a `case`, one for each table: whether it has the record with the id of row `b`.
 * They use no `exists`: without statistics, PostgreSQL would read all records to hash their ids.
 */
const knownCases = Array.from(
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
function unattachedSeries(body: ProductBody, stored: StoredRows): ErrorDetail[] {
  const series = body.series_id === undefined ? stored.series_id : body.series_id;
  const links = body.product_collections ?? stored.tables.product_collections ??
    [];
  // A collection without an id is unknown: it may be the series.
  const isAttached = links.some(({ collection_id: id }) => !id || id === series);
  if (!series || isAttached) return [];
  return [
    seriesNotAttached(body.series_id ? "/series_id" : "/product_collections"),
  ];
}

/** The errors for years and months of publication in a product that would also have `publication_date`. */
function contradictingDates(body: ProductBody, stored: StoredRows): ErrorDetail[] {
  const { publication_date = stored.publication_date } = body;
  if (publication_date === null) return [];
  const dates = body.publishing_dates as Entry[] | undefined ?? [];
  return dates.flatMap(({ publishing_date_role }, i) =>
    publishing_date_role === "01" ? [contradictoryDates(`/publishing_dates/${i}/date`)] : []
  );
}

/** The errors of entries that are not rows of the product, invalid for their row, or too many. */
function wrongRows(
  name: string,
  array: Rows,
  change: Write,
  { tables }: StoredRows,
): ErrorDetail[] {
  const { body, keepsIds } = change;
  const entries = body[name] as Entry[] | undefined;
  if (!entries) return [];
  const unknown = keepsIds ? [] : Array.from(namedRows(array, entries)).filter(
    ({ table, id }) => !tables[table]?.some((row) => row.id === id),
  );
  const rows = tables[array.table] ?? [];
  const added = entries.filter(({ id }) => !id).length;
  const total = hasWholeArrays(change) ? entries.length : rows.length + added;
  return [
    ...unknown.map(({ path }) => unknownEntry(`/${name}/${path.join("/")}`)),
    ...entries.flatMap((entry, i) => {
      const row = rows.find(({ id }) => entry.id && id === entry.id);
      return row ? wrongRow(`/${name}/${i}`, array, entry, row) : [];
    }),
    ...array.put === "patch" && total > MAX_ENTRIES ? [tooManyEntries(name)] : [],
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
