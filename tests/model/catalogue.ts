/**
 * An in-memory model of the specification: how bodies change products, and how
 * responses show them.
 */

import { WRITTEN } from "../support/data/written.ts";

export type Entry = Record<string, unknown>;

/** A record that products refer to. Without an organization, all share it. */
export interface Reference {
  table: string;
  organization?: string;
  /** The fields that responses show of the record. */
  shown: Entry;
}

/** The records, by id. */
export type World = Map<string, Reference>;

/** The products of one organization, oldest first, and the forms of its formats. */
export interface Catalogue {
  organization: string;
  products: Map<string, Product>;
  forms: Map<string, unknown>;
  /** The products in publishing programs. */
  programmed: Set<string>;
}

/** A product as stored. Rows have ids, links do not. */
export interface Product {
  /** The fields that the service assigns: id, product_code, created_at, updated_at. */
  given: Entry;
  core: Entry;
  arrays: Record<string, Entry[]>;
}

/** The product's own scalars. The product form belongs to the format. */
const CORE = WRITTEN.filter((field) => field !== "product_form_id");

export const ARRAYS = [
  "product_prices",
  "packing_configurations",
  "contributors",
  "product_collections",
  "custom_fields",
  "collateral",
  "languages",
  "product_form_details",
  "edition_types",
  "epub_technical_protections",
  "product_identifiers",
  "subjects",
  "extents",
  "measures",
  "audiences",
  "audience_ranges",
  "publishing_dates",
  "related_products",
  "related_works",
  "supporting_resources",
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

/** The fields of collateral by type. The first field cannot be cleared. */
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

/** A product without values. */
export function emptyProduct(): Product {
  return {
    given: {},
    core: Object.fromEntries(CORE.map((field) => [field, null])),
    arrays: Object.fromEntries(ARRAYS.map((array) => [array, []])),
  };
}

/** Whether the body changes nothing. */
export function isEmpty(body: Entry): boolean {
  return ![...CORE, ...ARRAYS, "product_form_id"]
    .some((field) => field in body);
}

/** The product after an update with the body (specification, 4.4). New rows have no ids yet. */
export function written(product: Product, body: Entry): Product {
  const { given, core, arrays } = structuredClone(product);
  for (const field of CORE) if (field in body) core[field] = body[field];
  for (const array of ARRAYS) {
    const entries = body[array] as Entry[] | undefined;
    const sync = SYNC[array] ?? replaced;
    if (entries) arrays[array] = sync(arrays[array]!, entries);
  }
  return { given, core, arrays };
}

/** Values: a body replaces them all. */
function replaced(_: Entry[], entries: Entry[]): Entry[] {
  return entries;
}

const SYNC: Record<string, (rows: Entry[], entries: Entry[]) => Entry[]> = {
  product_prices: (rows, entries) => merged(rows, entries, PRICE),
  packing_configurations: (rows, entries) =>
    merged(rows, entries, { quantity: null, gtin: null }),
  contributors: (_, entries) => entries,
  product_collections: (_, entries) =>
    entries.map((entry) => ({ part_number: null, ...entry })),
  custom_fields: (_, entries) => entries,
  languages: (_, entries) =>
    entries.map((entry) => ({
      country_code: null,
      script_code: null,
      ...entry,
    })),
  subjects: (_, entries) =>
    entries.map((entry) => ({
      main_subject: false,
      subject_scheme_name: null,
      subject_scheme_version: null,
      subject_heading_text: null,
      ...entry,
    })),
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

/** The full product as in responses. */
export function shown(
  { given, core, arrays }: Product,
  { organization, forms }: Catalogue,
  world: World,
): Entry {
  const about = (id: unknown) => world.get(String(id))?.shown ?? {};
  const { series_id, ...references } = core;
  const product_form_id = forms.get(String(core.format_id)) ?? null;
  const collections = arrays.product_collections!.map(({ collection_id }) => ({
    id: collection_id,
    ...about(collection_id),
  }));
  return {
    ...given,
    ...core,
    organization_id: organization,
    product_form_id,
    ...about(product_form_id),
    license_name: null,
    license_badge_colour: null,
    ...Object.assign({}, ...Object.values(references).map(about)),
    ...series_id ? { series_name: about(series_id).name } : {},
    ...collections.length > 0 ? { collections } : {},
    ...arrays,
    product_collections: arrays.product_collections!.map((link) => ({
      ...link,
      collection_name: about(link.collection_id).name,
    })),
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
