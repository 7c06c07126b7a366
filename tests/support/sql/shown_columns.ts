/** An update of one column. */
export interface Change {
  /** The assignment, for row `t`. */
  set: string;
  /** The condition on the rows. */
  where?: string;
  /** Whether no response shows the column. */
  isHidden?: true;
}

/** A column that cannot change alone: part of a foreign key, or generated. */
export const FIXED = "fixed";

/** An assignment of a new value, by type of column. */
export const BY_TYPE: Record<string, (column: string) => string> = {
  text: (column) => `${column} = coalesce(t.${column}, '') || 'x'`,
  integer: (column) => `${column} = coalesce(t.${column}, 0) + 1`,
  date: (column) => `${column} = coalesce(t.${column}, '2020-02-29') + 1`,
  numeric: (column) => `${column} = coalesce(t.${column}, 0) + 1`,
  boolean: (column) => `${column} = not t.${column}`,
  ARRAY: (column) => `${column} = array_append(t.${column}, 'ZW')`,
  jsonb: (column) =>
    `${column} = case jsonb_typeof(t.${column})
      when 'array' then t.${column} || t.${column}
      else '"changed"'
    end`,
  "timestamp with time zone": (column) =>
    `${column} = t.${column} + interval '1 day'`,
};

const POSITION: Change = { set: "position = -t.position" };

/** Sets another record of this table. */
function other(column: string, table: string): Change {
  return {
    set: `${column} = (
      select x.id from ${table} x
      where x.organization_id = t.organization_id and x.id <> t.${column}
      limit 1
    )`,
  };
}

function otherCode(column: string, table: string): Change {
  return {
    set:
      `${column} = (select x.id from ${table} x where x.id <> t.${column} limit 1)`,
  };
}

/** For rows without references to them. */
const NEW_ID: Change = {
  set: "id = gen_random_uuid()",
  where: "abs(t.position) = 2",
};

const ROW = {
  organization_id: FIXED,
  product_id: FIXED,
  id: { set: "id = gen_random_uuid()" },
  position: POSITION,
} as const;

const TREE_ROW = { ...ROW, id: NEW_ID };

const LEAF = { ...ROW, id: { ...NEW_ID, isHidden: true } } as const;

const RECORD = { organization_id: FIXED, id: FIXED } as const;

/** The updates of each table that responses show. Columns that are not listed change by their type. */
export const TABLES: Record<
  string,
  Record<string, Change | typeof FIXED>
> = {
  products: {
    ...RECORD,
    change_version: FIXED,
    updated_at: {
      set: "updated_at = t.updated_at + interval '1 day'",
      isHidden: true,
    },
    product_type: { set: "product_type = 'kit'" },
    format_id: other("format_id", "formats"),
    title_id: other("title_id", "titles"),
    publishing_status_id: otherCode(
      "publishing_status_id",
      "publishing_statuses",
    ),
    product_availability_id: otherCode(
      "product_availability_id",
      "product_availabilities",
    ),
    lifecycle_status_id: otherCode("lifecycle_status_id", "lifecycle_statuses"),
    license_id: other("license_id", "licenses"),
    season_id: other("season_id", "seasons"),
    publisher_id: other("publisher_id", "publishers"),
    division_id: other("division_id", "divisions"),
    imprint_id: other("imprint_id", "imprints"),
    series_id: {
      set: `series_id = (
        select x.collection_id from product_collections x
        where x.organization_id = t.organization_id and x.product_id = t.id and x.collection_id <> t.series_id
      )`,
    },
  },
  product_prices: {
    ...ROW,
    currency_code: { set: "currency_code = 'USD'" },
    list_price: { set: "list_price = t.list_price - 1" },
    valid_to: { set: "valid_to = t.valid_to + 1" },
    valid_from: { set: "valid_from = t.valid_from - 1" },
  },
  packing_configurations: {
    ...ROW,
    unit_of_measure: { set: "unit_of_measure = 'pallet'" },
  },
  product_contributors: {
    ...ROW,
    contributor_id: other("contributor_id", "contributors"),
    contributor_role_id: {
      set:
        "contributor_role_id = (select id from contributor_roles where code like 'A12%')",
      where: "t.position = 0",
    },
  },
  product_collections: {
    ...ROW,
    collection_id: {
      set: `collection_id = (
        select x.id from collections x
        where x.organization_id = t.organization_id and x.name like 'Another%'
      )`,
      where:
        `not exists (select from products p where p.id = t.product_id and p.series_id = t.collection_id)`,
    },
  },
  custom_field_values: {
    ...ROW,
    field_id: {
      set: `field_id = (
        select x.id from custom_fields x
        where x.organization_id = t.organization_id
          and x.id not in (select v.field_id from custom_field_values v where v.product_id = t.product_id)
      )`,
      where: "t.position = 0",
    },
  },
  collateral: {
    ...ROW,
    collateral_type: {
      set: "collateral_type = 'text_content', text = 'Was a prize'",
      where: "abs(t.position) = 3",
    },
  },
  product_sales_rights: {
    ...ROW,
    sales_rights_type: { set: "sales_rights_type = '02'" },
    is_rest_of_world: {
      set: "is_rest_of_world = true",
      where: "abs(t.position) = 2",
    },
  },
  product_territories: {
    ...TREE_ROW,
    exclusivity: { set: "exclusivity = 'not_for_sale'" },
  },
  territory_markets: { ...TREE_ROW, territory_id: FIXED },
  market_dates: { ...LEAF, territory_id: FIXED },
  supply_details: { ...TREE_ROW, territory_id: FIXED },
  supply_dates: { ...LEAF, supply_detail_id: FIXED },
  supply_prices: { ...TREE_ROW, supply_detail_id: FIXED },
  supply_price_taxes: { ...LEAF, supply_price_id: FIXED },
  licenses: RECORD,
  seasons: RECORD,
  publishers: RECORD,
  divisions: RECORD,
  imprints: RECORD,
  collections: RECORD,
  formats: {
    ...RECORD,
    product_form_id: otherCode("product_form_id", "product_forms"),
  },
  titles: RECORD,
  contributors: {
    ...RECORD,
    ...Object.fromEntries(
      [
        "names_before_key",
        "key_names",
        "person_name_inverted",
        "isni",
        "orcid",
        "biographical_note",
      ].map((column) => [column, { set: `${column} = 'x'`, isHidden: true }]),
    ),
    is_organization: {
      set: "is_organization = not t.is_organization",
      isHidden: true,
    },
  },
  custom_fields: RECORD,
  publishing_statuses: { id: FIXED },
  product_availabilities: { id: FIXED },
  lifecycle_statuses: {
    id: FIXED,
    code: { set: "code = t.code || 'x'", isHidden: true },
  },
  contributor_roles: { id: FIXED },
  onix_codes: {
    list: { set: "list = t.list + 1000", where: "t.list = 58" },
    code: { set: "code = t.code || 'x'", where: "t.list = 68" },
    deprecated: { set: "deprecated = not t.deprecated", isHidden: true },
  },
};

/** The tables that no product response shows. */
export const UNSHOWN = [
  "api_key_uses",
  "api_keys",
  "change_origins",
  "idempotency_keys",
  "onix_aliases",
  "onix_records",
  "onix_retired",
  "onix_senders",
  "organization_members",
  "organizations",
  "product_changes",
  "product_counts",
  "product_deletions",
  "product_documents",
  "product_forms",
  "product_search",
  "product_terms",
  "publishing_program_products",
  "publishing_programs",
  "renames",
  "schema_migrations",
  "webhook_deliveries",
  "webhooks",
];
