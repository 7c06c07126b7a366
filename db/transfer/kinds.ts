import { nounOf, OWN_TABLES } from "../../schema/records.ts";
import { sql } from "../connections/sql.ts";

/*
 * The format: one JSON object a line. The first line has the kind `catalogue`,
 * the version of the format, the organization's name and, unless an earlier
 * release has written it, the number of records; each other line is a record with the columns of its table and, as arrays named after their tables,
 * the rows that belong to it. A field that a line lacks is empty. A line refers
 * only to lines before it.
 */

/** The kind and the version of a file's first line. */
export const CATALOGUE = { kind: "catalogue", version: 1 } as const;

/** A table whose rows lines carry. */
interface Table {
  table: string;
  /** Columns that each database sets for itself. */
  omit?: readonly string[];
  /** The column of the tables below with the id of the row that theirs belong to. */
  link?: string;
  rows?: readonly Table[];
}

/** The records that products refer to. */
const REFERENCES = OWN_TABLES.filter((table) =>
  table !== "publishing_programs"
);

/** Every kind of record, each behind those that it refers to. */
export const KINDS: Readonly<Record<string, Table>> = {
  ...Object.fromEntries(
    REFERENCES.map((table) => [nounOf(table).replace(" ", "_"), { table }]),
  ),
  product: {
    table: "products",
    omit: ["change_version"],
    link: "product_id",
    rows: [
      { table: "product_prices" },
      { table: "packing_configurations" },
      { table: "product_contributors" },
      { table: "product_collections" },
      { table: "custom_field_values" },
      { table: "collateral" },
      { table: "product_sales_rights" },
      {
        table: "product_territories",
        link: "territory_id",
        rows: [
          { table: "territory_markets" },
          { table: "market_dates" },
          {
            table: "supply_details",
            link: "supply_detail_id",
            rows: [
              { table: "supply_dates" },
              {
                table: "supply_prices",
                link: "supply_price_id",
                rows: [{ table: "supply_price_taxes" }],
              },
            ],
          },
        ],
      },
    ],
  },
  publishing_program: {
    table: "publishing_programs",
    link: "program_id",
    rows: [{ table: "publishing_program_products" }],
  },
};

/** The names of the tables, and of those below them. */
export function tablesOf(tables: readonly Table[]): string[] {
  return tables.flatMap(({ table, rows = [] }) => [table, ...tablesOf(rows)]);
}

/** Every table of the format. */
export const TABLES = tablesOf(Object.values(KINDS));

/** A column that lines carry. */
interface Column {
  table: string;
  name: string;
  type: string;
  isKey: boolean;
  /** What stands in for a column that a file of an earlier release lacks: an SQL expression. */
  fallback: string | null;
}

/**
 * The columns of all tables, in their order, so that a column of a later migration
 * is carried too. Drawn values, ids and product codes, have no fallback.
 */
export const columnsOfTables = sql<Column>`
  select
    t.name as table,
    a.attname as name,
    a.atttypid::regtype::text as type,
    exists (
      select from pg_index i
      where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey)
    ) as "isKey",
    case when a.attnotnull and pg_get_expr(d.adbin, d.adrelid) ~ '^(now\\(\\)|[^(]+)$'
      then pg_get_expr(d.adbin, d.adrelid)
    end as fallback
  from unnest(string_to_array(${TABLES.join()}, ',')) t (name)
  join pg_attribute a on a.attrelid = to_regclass(t.name)
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  order by t.name, a.attnum
`;

/** A table with the columns that lines carry. */
export interface Carried {
  table: string;
  columns: readonly Column[];
  /** The names of the columns and of the tables below. */
  fields: ReadonlySet<string>;
  /** The record that a row belongs to and the row right above it, with the columns that link to them. */
  parents: readonly { table: string; link: string }[];
  rows: readonly Carried[];
}

/** The tables of the kinds, with these columns. */
export function carriedBy(columns: readonly Column[]): Map<string, Carried> {
  const byTable = Map.groupBy(columns, ({ table }) => table);

  function carried(
    { table, omit = [], link = "", rows = [] }: Table,
    parents: Carried["parents"],
  ): Carried {
    const links = parents.map(({ link }) => link);
    const implied = ["organization_id", ...links, ...omit];
    const own = byTable.get(table)!
      .filter(({ name }) => !implied.includes(name));
    const below = [...parents.slice(0, 1), { table, link }];
    return {
      table,
      columns: own,
      fields: new Set([
        ...own.map(({ name }) => name),
        ...rows.map(({ table }) => table),
      ]),
      parents,
      rows: rows.map((row) => carried(row, below)),
    };
  }

  return new Map(
    Object.entries(KINDS).map(([kind, table]) => [kind, carried(table, [])]),
  );
}
