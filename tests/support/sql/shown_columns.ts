import type { App } from "../app/harness.ts";

/** An update of a column in a table that responses show. */
export interface Change {
  table: string;
  column: string;
  /** Rules of `sampleOf`: a column of each kind is changed in any case. */
  kind: string;
  /** The assignment, for row `t`, and the condition on the rows. */
  set: string;
  where: string;
  /** Whether the rows are the organization's own. */
  hasOrganization: boolean;
  /** Whether the table has rows of products. */
  isOwn: boolean;
  isShown: boolean;
}

/** An assignment of a new value, by type of column. */
const BY_TYPE: Record<string, (column: string) => string> = {
  text: (column) => `coalesce(t.${column}, '') || 'x'`,
  integer: (column) => `coalesce(t.${column}, 0) + 1`,
  date: (column) => `coalesce(t.${column}, '2020-02-29') + 1`,
  numeric: (column) => `coalesce(t.${column}, 0) + 1`,
  boolean: (column) => `not t.${column}`,
  ARRAY: (column) => `array_append(t.${column}, 'ZW')`,
  jsonb: (column) =>
    `case jsonb_typeof(t.${column})
      when 'array' then t.${column} || t.${column}
      else '"changed"'
    end`,
  "timestamp with time zone": (column) => `t.${column} + interval '1 day'`,
};

/** Values that keys and check constraints allow where another one of the type is refused. */
const VALUES: Record<string, [value: string, where?: string]> = {
  "position": ["-t.position"],
  "identifiers": [`'[{"name_id_type": "06", "id_value": "1"}]'`],
  "products.product_type": ["'kit'"],
  "products.series_id": [
    `(select x.collection_id from product_collections x
      where x.organization_id = t.organization_id and x.product_id = t.id
        and x.collection_id <> t.series_id)`,
  ],
  "product_prices.currency_code": ["'USD'"],
  "product_prices.list_price": ["t.list_price - 1"],
  "product_prices.valid_from": ["t.valid_from - 1"],
  "packing_configurations.unit_of_measure": ["'pallet'"],
  "product_contributors.contributor_role_id": [
    "(select id from contributor_roles where code like 'A12%')",
    "t.position = 0",
  ],
  "product_collections.collection_id": [
    `(select x.id from collections x
      where x.organization_id = t.organization_id and x.name like 'Another%')`,
    "not exists (select from products p where p.id = t.product_id and p.series_id = t.collection_id)",
  ],
  "custom_field_values.field_id": [
    `(select x.id from custom_fields x
      where x.organization_id = t.organization_id
        and x.id not in (select v.field_id from custom_field_values v where v.product_id = t.product_id))`,
    "t.position = 0",
  ],
  "collateral.collateral_type": [
    "'text_content', text = 'Was a prize'",
    "abs(t.position) = 3",
  ],
  "product_sales_rights.sales_rights_type": ["'02'"],
  "product_sales_rights.is_rest_of_world": ["true", "abs(t.position) = 2"],
  "product_territories.exclusivity": ["'not_for_sale'"],
  "onix_codes.list": ["t.list + 1000", "t.list = 58"],
  "onix_codes.code": ["t.code || 'x'", "t.list = 68"],
};

/** Columns of keys, and the version that a trigger sets. */
const FIXED = ["organization_id", "product_id", "change_version"];

/** Columns that no response shows, or not as they are. */
const HIDDEN =
  /\.(created|updated)_at$|^(imprints|publishers)\.identifiers$|^(market_dates|supply_dates|supply_price_taxes)\.id$|^contributors\.(?!name$)|^lifecycle_statuses\.code$|^onix_codes\.deprecated$/;

/** The tables that no product response shows. */
export const UNSHOWN = [
  "api_key_uses",
  "api_keys",
  "change_origins",
  "history_clock",
  "idempotency_keys",
  "onix_aliases",
  "onix_records",
  "onix_retired",
  "onix_senders",
  "onix_sent",
  "organization_members",
  "organizations",
  "product_changes",
  "product_counts",
  "product_deletions",
  "product_documents",
  "product_forms",
  "product_search",
  "product_terms",
  "program_changes",
  "publishing_program_products",
  "publishing_programs",
  "recipient_fetches",
  "recipient_products",
  "recipients",
  "renames",
  "schema_migrations",
  "webhook_deliveries",
  "webhooks",
];

interface Column {
  table: string;
  name: string;
  type: string;
  /** The table that it refers to. */
  refers: string | null;
}

/** A change of each column, in all tables but `UNSHOWN`. Keys of products and records stay. */
export async function changesOfColumns(app: App): Promise<Change[]> {
  const columns = await app.sql<Column[]>`
    select
      c.table_name as table, c.column_name as name, c.data_type as type,
      (
        select k.confrelid::regclass::text
        from pg_constraint k
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[cardinality(k.conkey)]
        where k.contype = 'f' and k.conrelid = c.table_name::regclass and a.attname = c.column_name
        limit 1
      ) as refers
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    order by c.table_name, c.ordinal_position
  `;
  const has = (table: string, name: string) =>
    columns.some((column) => column.table === table && column.name === name);
  const isOfProducts = (table: string) => table === "products" || has(table, "product_id");
  const hasChildren = (table: string) =>
    columns.some(({ refers, table: other }) => refers === table && isOfProducts(other));
  /** Null for a column that cannot change alone: part of a key. */
  const change = ({ table, name, type, refers }: Column) => {
    const value = VALUES[`${table}.${name}`] ?? VALUES[name];
    if (value) return value;
    if (FIXED.includes(name)) return null;
    if (name === "id") {
      if (table === "products" || !isOfProducts(table)) return null;
      // Rows without references to them.
      const where = hasChildren(table) ? "abs(t.position) = 2" : undefined;
      return ["gen_random_uuid()", where] as const;
    }
    if (!refers) return [BY_TYPE[type]?.(name) ?? "default"] as const;
    if (isOfProducts(refers)) return null;
    const own = has(refers, "organization_id") ? "x.organization_id = t.organization_id and" : "";
    return [
      `(select x.id from ${refers} x where ${own} x.id <> t.${name} limit 1)`,
    ] as const;
  };
  return columns.filter(({ table }) => !UNSHOWN.includes(table))
    .flatMap((column): Change[] => {
      const { table, name, type } = column;
      const found = change(column);
      if (!found) return [];
      const [value, where = "true"] = found;
      const isShown = !HIDDEN.test(`${table}.${name}`);
      return [{
        table,
        column: name,
        kind: table === "products"
          ? `${column.refers ? name : type} ${isShown}`
          : `${table} ${isShown}`,
        set: `${name} = ${value}`,
        where,
        hasOrganization: has(table, "organization_id"),
        isOwn: isOfProducts(table),
        isShown,
      }];
    });
}
