import { and, asc, count, desc, eq, getTableColumns } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { full, listed } from "./answer.js";
import * as relations from "./drizzle_relations.js";
import * as tables from "./drizzle_schema.js";
import { DATABASE_URL, ORGANIZATION_ID, POOL } from "./environment.js";

const { products } = tables;
export const db = drizzle(
  new pg.Pool({ connectionString: DATABASE_URL, max: POOL }),
  {
    schema: {
      ...tables,
      ...Object.fromEntries(
        Object.entries(relations).map((
          [name, value],
        ) => [`${name}_relations`, value]),
      ),
    },
  },
);

const labels = new Map(
  (await db.select().from(tables.onix_codes)).map(({ list, code, label }) => [
    `${list} ${code}`,
    label,
  ]),
);
const labelOf = (list, code) => labels.get(`${list} ${code}`) ?? null;

const ordered = { orderBy: (row) => asc(row.position) };
const name = { columns: { name: true } };

const WITH_NAMES = {
  license: true,
  season: name,
  publisher: name,
  division: name,
  imprint: name,
  series: name,
  format: true,
  parent: name,
  publishing: true,
  availability: true,
  lifecycle: name,
  collections: { ...ordered, with: { collection: true } },
};

const WITH_ALL = {
  ...WITH_NAMES,
  prices: ordered,
  packings: ordered,
  contributors: { ...ordered, with: { contributor: name, role: true } },
  customFields: { ...ordered, with: { field: name } },
  collateral: ordered,
  salesRights: ordered,
  territories: {
    ...ordered,
    with: {
      markets: ordered,
      dates: ordered,
      supplies: {
        ...ordered,
        with: {
          dates: ordered,
          prices: { ...ordered, with: { taxes: ordered } },
        },
      },
    },
  },
};

const COLUMNS = Object.keys(getTableColumns(products));
const isOwn = eq(products.organization_id, ORGANIZATION_ID);

/** One page of the catalogue, with the total. */
export async function list({ page = 1, limit = 50 }) {
  const found = await db.query.products.findMany({
    where: isOwn,
    with: WITH_NAMES,
    orderBy: [desc(products.created_at), desc(products.id)],
    limit: Number(limit),
    offset: (page - 1) * limit,
  });
  const [{ total }] = await db.select({ total: count() }).from(products)
    .where(isOwn);
  return {
    products: found.map((product) =>
      listed(
        rowOf(product),
        product.collections.map(({ collection }) => collection),
      )
    ),
    total,
  };
}

/** The full product. */
export async function get(id) {
  const product = await db.query.products.findFirst({
    where: and(isOwn, eq(products.id, id)),
    with: WITH_ALL,
  });
  const rows = {
    ...product,
    collections: product.collections.map(({ collection }) => collection),
    contributors: product.contributors.map(({ contributor, role, ...row }) => ({
      ...row,
      contributor_name: contributor.name,
      contributor_role_name: role.name,
      contributor_role_code: role.code,
    })),
    customFields: product.customFields.map(({ field, ...row }) => ({
      ...row,
      field_name: field.name,
    })),
  };
  return full(rowOf(product), rows, labelOf);
}

/** The product's own columns, with the names of referenced records. */
function rowOf(product) {
  return {
    ...Object.fromEntries(COLUMNS.map((column) => [column, product[column]])),
    license_name: product.license?.name ?? null,
    license_badge_colour: product.license?.badge_colour ?? null,
    season_name: product.season?.name ?? null,
    publisher_name: product.publisher?.name ?? null,
    division_name: product.division?.name ?? null,
    imprint_name: product.imprint?.name ?? null,
    series_name: product.series?.name ?? null,
    format_name: product.format?.name ?? null,
    product_form_id: product.format?.product_form_id ?? null,
    title_name: product.parent?.name ?? null,
    publishing_status_name: product.publishing?.name ?? null,
    publishing_status_code: product.publishing?.code ?? null,
    product_availability_name: product.availability?.name ?? null,
    product_availability_code: product.availability?.code ?? null,
    lifecycle_status_name: product.lifecycle?.name ?? null,
  };
}
