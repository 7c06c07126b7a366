import {
  joined,
  names,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../../../db/connections/sql.ts";

/** The most records of a statement, which has a time limit. Each record costs up to a millisecond. */
const MAX_RECORDS = 1_000;

/** Inserts records of the organization. A record without a value of a column gets the default. */
export function insertRecords(
  table: string,
  records: readonly Record<string, unknown>[],
): Statement[] {
  const columns = [...new Set(records.flatMap(Object.keys))];
  const statements: Statement[] = [];
  for (let from = 0; from < records.length; from += MAX_RECORDS) {
    const rows = records.slice(from, from + MAX_RECORDS).map((record) => {
      const values = columns.map((column) => sql`, ${record[column] ?? raw("default")}`);
      return sql`(${organization}${values})`;
    });
    statements.push(unprepared(sql`
      insert into ${raw(table)} (organization_id, ${names(...columns)})
      values ${joined(rows)}
    `));
  }
  return statements;
}
