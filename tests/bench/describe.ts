import type postgres from "postgres";

/** The types of a statement's parameters, and the names of its columns. */
export async function describe(
  sql: postgres.Sql,
  text: string,
): Promise<{ types: string[]; columns: string[] }> {
  const { types, columns } = await sql.unsafe(text).describe();
  const names = await sql<{ name: string }[]>`
    select format_type(oid, null) as name
    from unnest(${`{${types}}`}::oid[]) with ordinality as type (oid, position)
    order by position
  `;
  return {
    types: names.map(({ name }) => name),
    columns: columns.map(({ name }) => name),
  };
}
