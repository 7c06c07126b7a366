/**
 * The catalogue of the specification, in memory: what products become by the
 * bodies that are written, and how answers show them.
 */

import { SCALARS } from "../../schema/product.ts";

export type Entry = Record<string, unknown>;

/** A record that products refer to; one without an organization is everyone's. */
export interface Reference {
  table: string;
  organization?: string;
  /** What an answer says of it. */
  shown: Entry;
}

/** What exists besides the products, by id. */
export type World = Map<string, Reference>;

/** One organization's products, oldest first, and the forms of its formats. */
export interface Catalogue {
  organization: string;
  products: Map<string, Product>;
  forms: Map<string, unknown>;
  /** The products in a publishing program. */
  programmed: Set<string>;
}

/** A product as it is stored: rows have ids, links have not. */
export interface Product {
  /** What the service alone gives: id, product_code, created_at, updated_at. */
  given: Entry;
  core: Entry;
  arrays: Record<string, Entry[]>;
}

/** What is the product's own: its form is the format's. */
const CORE = Object.keys(SCALARS).filter((field) =>
  field !== "product_form_id"
);

export const ARRAYS = [
  "product_prices",
  "packing_configurations",
  "contributors",
  "product_collections",
  "custom_fields",
  "collateral",
];

const PRICE = {
  retail_price: null,
  retail_price_inc_tax: null,
  list_price: null,
  tax_rate: null,
  is_default: false,
  valid_from: null,
  valid_to: null,
};

/** The fields of collateral by its type, the first of which cannot be cleared. */
export const COLLATERAL: Record<string, string[]> = {
  text_content: [
    "text",
    "text_type",
    "content_audience",
    "text_format",
    "text_author",
    "source_title",
    "language",
  ],
  cited_content: [
    "source_title",
    "cited_content_type",
    "citation_note",
    "resource_link",
    "publication_date",
    "content_audience",
  ],
  award: [
    "prize_name",
    "prize_year",
    "prize_country",
    "prize_code",
    "prize_statement",
    "prize_jury",
  ],
};

/** A product without anything in it. */
export function emptyProduct(): Product {
  return {
    given: {},
    core: Object.fromEntries(CORE.map((field) => [field, null])),
    arrays: Object.fromEntries(ARRAYS.map((array) => [array, []])),
  };
}

/** Whether the body has nothing that is written. */
export function isEmpty(body: Entry): boolean {
  return ![...CORE, ...ARRAYS, "product_form_id"]
    .some((field) => field in body);
}

/** What the product is after the body was written (specification, 4.4); new rows have no id yet. */
export function written(product: Product, body: Entry): Product {
  const { given, core, arrays } = structuredClone(product);
  for (const field of CORE) if (field in body) core[field] = body[field];
  for (const array of ARRAYS) {
    const entries = body[array] as Entry[] | undefined;
    if (entries) arrays[array] = SYNC[array]!(arrays[array]!, entries);
  }
  return { given, core, arrays };
}

const SYNC: Record<string, (rows: Entry[], entries: Entry[]) => Entry[]> = {
  product_prices: (rows, entries) => merged(rows, entries, PRICE),
  packing_configurations: (rows, entries) => merged(rows, entries, {}),
  contributors: (_, entries) => entries,
  product_collections: (_, entries) => entries,
  custom_fields: (_, entries) => entries,
  collateral: (rows, entries) =>
    entries.map((entry) => {
      const row = rows.find(({ id }) => id === entry.id);
      return { ...row ?? emptyCollateral(entry), ...entry };
    }),
};

function merged(rows: Entry[], entries: Entry[], empty: Entry): Entry[] {
  if (entries.length === 0) return [];
  return [
    ...rows.map((row) => ({
      ...row,
      ...entries.find(({ id }) => id === row.id),
    })),
    ...entries.filter(({ id }) => !id).map((entry) => ({ ...empty, ...entry })),
  ];
}

function emptyCollateral({ collateral_type }: Entry): Entry {
  const fields = COLLATERAL[String(collateral_type)]!;
  return Object.fromEntries(fields.map((field) => [field, null]));
}

/** The product as answers show it in full. */
export function shown(
  { given, core, arrays }: Product,
  { organization, forms }: Catalogue,
  world: World,
): Entry {
  const about = (id: unknown) => world.get(String(id))?.shown ?? {};
  const { series_id, ...references } = core;
  const collections = arrays.product_collections!.map(({ collection_id }) => ({
    id: collection_id,
    ...about(collection_id),
  }));
  return {
    ...given,
    ...core,
    organization_id: organization,
    product_form_id: forms.get(String(core.format_id)) ?? null,
    license_name: null,
    license_badge_colour: null,
    ...Object.assign({}, ...Object.values(references).map(about)),
    ...series_id ? { series_name: about(series_id).name } : {},
    ...collections.length > 0 ? { collections } : {},
    ...arrays,
    contributors: arrays.contributors!.map((link) => ({
      ...link,
      ...about(link.contributor_id),
      ...about(link.contributor_role_id),
    })),
    custom_fields: arrays.custom_fields!.map((value) => ({
      ...value,
      ...about(value.field_id),
    })),
    product_territories: [],
    product_sales_rights: [],
  };
}
