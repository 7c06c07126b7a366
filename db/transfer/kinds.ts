/*
 * The format: one JSON object a line. The first line has the kind `catalogue`,
 * the version of the format, the organization's name and, unless an earlier
 * release has written it, the number of records; each other line is a record with the columns of its table and, as arrays named after their tables,
 * the rows that belong to it. A field that a line lacks is empty. A line refers
 * only to lines before it.
 */

/** A table whose rows lines carry. */
export interface Table {
  table: string;
  /** Columns that each database sets for itself. */
  omit?: readonly string[];
  rows?: readonly Rows[];
}

/** A table whose rows belong to rows of the table above. */
export interface Rows extends Table {
  /** The column with the id of the row above. */
  link: string;
}

/** The kind and the version of a file's first line. */
export const CATALOGUE = { kind: "catalogue", version: 1 } as const;

const PRODUCT_ROWS: readonly Rows[] = [
  { table: "product_prices", link: "product_id" },
  { table: "packing_configurations", link: "product_id" },
  { table: "product_contributors", link: "product_id" },
  { table: "product_collections", link: "product_id" },
  { table: "custom_field_values", link: "product_id" },
  { table: "collateral", link: "product_id" },
  { table: "product_sales_rights", link: "product_id" },
  {
    table: "product_territories",
    link: "product_id",
    rows: [
      { table: "territory_markets", link: "territory_id" },
      { table: "market_dates", link: "territory_id" },
      {
        table: "supply_details",
        link: "territory_id",
        rows: [
          { table: "supply_dates", link: "supply_detail_id" },
          {
            table: "supply_prices",
            link: "supply_detail_id",
            rows: [{ table: "supply_price_taxes", link: "supply_price_id" }],
          },
        ],
      },
    ],
  },
];

/** Every kind of record, each behind those that it refers to. */
export const KINDS: Readonly<Record<string, Table>> = {
  license: { table: "licenses" },
  season: { table: "seasons" },
  publisher: { table: "publishers" },
  division: { table: "divisions" },
  imprint: { table: "imprints" },
  collection: { table: "collections" },
  format: { table: "formats" },
  title: { table: "titles" },
  contributor: { table: "contributors" },
  custom_field: { table: "custom_fields" },
  product: {
    table: "products",
    omit: ["change_version"],
    rows: PRODUCT_ROWS,
  },
  publishing_program: {
    table: "publishing_programs",
    rows: [{ table: "publishing_program_products", link: "program_id" }],
  },
};
