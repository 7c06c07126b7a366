import { detailAt, type ErrorDetail, withHint } from "../../../schema/errors.ts";
import { expectedCode } from "../../../schema/onix_codes.ts";
import { codeListOf, isShared, nounOf, pathOfTable } from "../../../schema/records.ts";
import { type NamedReference, tableOf } from "../../../schema/references.ts";
import { didYouMean } from "../../../schema/spelling.ts";
import { joined, json, organization, raw, sql, unprepared } from "../../connections/sql.ts";
import type { Transaction } from "../../connections/transaction.ts";
import { nameKey } from "../../record_names.ts";

/*
 * Explains names and codes that match no record, or several. The error of an unknown one suggests
 * the nearest: "Penguin" for "Pengiun".
 */

/** A name or code in a body, and the number of records that have it. */
export interface UnresolvedName {
  named: NamedReference;
  records: number;
}

/** The errors of the names and codes of each body, in their order. */
export async function explainNames(
  tx: Transaction,
  ofBodies: readonly (readonly UnresolvedName[])[],
): Promise<ErrorDetail[][]> {
  const unknown = ofBodies.flat().filter(({ named, records }) => records === 0 && !isOfList(named));
  const nearest = await findNearest(tx, unknown.map(({ named }) => named));
  return ofBodies.map((unresolved) =>
    unresolved.map((one) => explainName(one, nearest.get(keyOf(one.named))))
  );
}

function explainName(
  { named, records }: UnresolvedName,
  nearest: string | undefined,
): ErrorDetail {
  const { entry, reference, value: { field, column, value } } = named;
  const table = tableOf(named);
  const pointer = `${entry}/${field}`;
  const path = pathOfTable(table);
  if (records > 0) {
    return detailAt(
      pointer,
      withHint(
        `ambiguous: ${records} records of ${path} have this name`,
        `send ${reference.field} instead`,
      ),
    );
  }
  if (isOfList(named)) {
    return detailAt(pointer, `invalid_code: ${expectedCode(codeListOf(table)!, value)}`);
  }
  if (column === "code") {
    return detailAt(
      pointer,
      `invalid_code: Expected a code of ${path}${didYouMean(nearest)}`,
    );
  }
  const text = `unknown_reference: There is no ${nounOf(table)} with this name`;
  if (nearest !== undefined) return detailAt(pointer, text + didYouMean(`"${nearest}"`));
  const hint = isShared(table) ? `see ${path}` : `create it with POST ${path}`;
  return detailAt(pointer, withHint(text, hint));
}

/** Whether it is a code of an ONIX list, which the service knows without the database. */
function isOfList(named: NamedReference): boolean {
  return named.value.column === "code" && codeListOf(tableOf(named)) !== undefined;
}

/** Returns the same key for equal names of one table. */
function keyOf({ reference: { table }, value: { column, value } }: NamedReference): string {
  return `${table} ${column} ${value}`;
}

/**
 * The maximum number of names for which a statement finds the nearest. An error lists as many
 * details.
 */
const MAX_SEARCHED = 100;

/** The time after which a statement stops. A name similar to thousands of others takes 50 ms. */
const MAX_TIME = raw("interval '2 seconds'");

/** Finds the nearest stored name or code of each unknown one, by `keyOf`. */
async function findNearest(
  tx: Transaction,
  unknown: readonly NamedReference[],
): Promise<Map<string, string>> {
  const distinct = new Map(unknown.map((named) => [keyOf(named), named]));
  const searched = [...distinct].slice(0, MAX_SEARCHED);
  if (searched.length === 0) return new Map();
  const parts = Map.groupBy(
    searched.keys(),
    (place) => {
      const { reference: { table }, value: { column } } = searched[place]![1];
      return `${table} ${column}`;
    },
  );
  const selects = Array.from(parts.values(), (places) => {
    const named = searched[places[0]!]![1];
    const table = tableOf(named);
    const { column } = named.value;
    const key = column === "code" ? raw("search_key(r.code)") : nameKey(table);
    const isOwn = isShared(table) ? [] : sql`r.organization_id = ${organization} and`;
    const rows = places.map((place) => ({ place, value: searched[place]![1].value.value }));
    // A subquery within `case` runs only if it is needed.
    return sql`
      select
        w.place,
        case when clock_timestamp() < statement_timestamp() + ${MAX_TIME} then (
          select r.${raw(column)}
          from ${raw(table)} r
          where ${isOwn} ${key} % w.key
          order by similarity(${key}, w.key) desc, r.id
          limit 1
        ) end as word
      from (
        select x.place, key_of_name(x.value) as key
        from jsonb_to_recordset(${json(rows)}) x (place int, value text)
        offset 0
      ) w
    `;
  });
  const [found] = await tx.send(
    unprepared(sql<{ place: number; word: string | null }>`${joined(selects, " union all ")}`),
  );
  return new Map(
    found.flatMap(({ place, word }) => word === null ? [] : [[searched[place]![0], word] as const]),
  );
}
