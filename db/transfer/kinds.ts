import { nounOf, OWN_TABLES } from "../../schema/records.ts";
import { sql } from "../connections/sql.ts";

/*
 * The file format: one JSON object per line.
 *
 * The first line is the header, of kind `catalogue`: the version of the format, the
 * name of the organization and the number of records. Files of earlier releases
 * lack the number.
 *
 * Each other line is a record: the columns of its table, and arrays of child rows,
 * named after their tables. A missing field is null or empty. A record may only
 * reference records on earlier lines.
 */

/** The kind and the version in the header. */
export const CATALOGUE = { kind: "catalogue", version: 1 } as const;

/** A table of the format. */
interface Table {
  table: string;
  /** Columns that the file omits, since each database sets its own values. */
  omit?: readonly string[];
  /** The column of the child tables that references this table. */
  link?: string;
  /** The child tables. */
  rows?: readonly Table[];
}

/** The tables that products reference. */
const REFERENCES = OWN_TABLES.filter((table) =>
  table !== "publishing_programs"
);

/** The tables by kind of record. Each kind follows the kinds that it references. */
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

/** The names of the tables and of their descendants. */
export function tablesOf(tables: readonly Table[]): string[] {
  return tables.flatMap(({ table, rows = [] }) => [table, ...tablesOf(rows)]);
}

/** Every table of the format. */
const TABLES = tablesOf(Object.values(KINDS));

/** A column of the format. */
interface Column {
  table: string;
  name: string;
  type: string;
  isKey: boolean;
  /** The SQL expression for a column that files of earlier releases lack. */
  fallback: string | null;
}

/**
 * The columns of all tables, in order, from the system catalogue: a new column needs
 * no change here. Generated ids and product codes have no fallback.
 */
export const listColumns = sql<Column>`
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
  join pg_attribute a on a.attrelid = t.name::regclass
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  order by t.name, a.attnum
`;

/** A table of the format, with its columns. */
export interface TableFormat {
  table: string;
  columns: readonly Column[];
  /** The names of the columns and of the child tables. */
  fields: ReadonlySet<string>;
  /**
   * The table of the record and the parent table, with the columns that reference them.
   */
  parents: readonly { table: string; link: string }[];
  rows: readonly TableFormat[];
}

/** The formats of the kinds, with these columns. */
export function formatsByKind(
  columns: readonly Column[],
): Map<string, TableFormat> {
  const byTable = Map.groupBy(columns, ({ table }) => table);

  function formatOf(
    { table, omit = [], link = "", rows = [] }: Table,
    parents: TableFormat["parents"],
  ): TableFormat {
    const links = parents.map(({ link }) => link);
    const implied = ["organization_id", ...links, ...omit];
    const own = byTable.get(table)!
      .filter(({ name }) => !implied.includes(name));
    const parentsOfRows = [...parents.slice(0, 1), { table, link }];
    return {
      table,
      columns: own,
      fields: new Set([
        ...own.map(({ name }) => name),
        ...rows.map(({ table }) => table),
      ]),
      parents,
      rows: rows.map((row) => formatOf(row, parentsOfRows)),
    };
  }

  return new Map(
    Object.entries(KINDS).map(([kind, table]) => [kind, formatOf(table, [])]),
  );
}
