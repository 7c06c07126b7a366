import knex from "knex";
import pg from "pg";
import { DATABASE_URL, ORGANIZATION_ID, POOL } from "./environment.js";

const NUMERIC = 1700;
const DATE = 1082;
pg.types.setTypeParser(NUMERIC, Number);
pg.types.setTypeParser(DATE, String);

export const db = knex({
  client: "pg",
  connection: DATABASE_URL,
  pool: { min: POOL, max: POOL },
});

/** The organization's products `p`. */
export const OWN = { "p.organization_id": ORGANIZATION_ID };

/** The tables that a product refers to, with their alias and foreign key column. */
const RELATIONS = {
  licenses: ["license", "license_id"],
  seasons: ["season", "season_id"],
  publishers: ["publisher", "publisher_id"],
  divisions: ["division", "division_id"],
  imprints: ["imprint", "imprint_id"],
  collections: ["series", "series_id"],
  formats: ["format", "format_id"],
  titles: ["parent", "title_id"],
};

const CODES = {
  publishing_statuses: ["publishing", "publishing_status_id"],
  product_availabilities: ["availability", "product_availability_id"],
  lifecycle_statuses: ["lifecycle", "lifecycle_status_id"],
};

/** A product with the names of referenced records, in one query. */
export function products() {
  const query = db("products as p").where(OWN).select(
    "p.*",
    "license.name as license_name",
    "license.badge_colour as license_badge_colour",
    "season.name as season_name",
    "publisher.name as publisher_name",
    "division.name as division_name",
    "imprint.name as imprint_name",
    "series.name as series_name",
    "format.name as format_name",
    "format.product_form_id",
    "parent.name as title_name",
    "publishing.name as publishing_status_name",
    "publishing.code as publishing_status_code",
    "availability.name as product_availability_name",
    "availability.code as product_availability_code",
    "lifecycle.name as lifecycle_status_name",
  );
  for (const [table, [alias, column]] of Object.entries(RELATIONS)) {
    query.leftJoin(
      `${table} as ${alias}`,
      {
        [`${alias}.organization_id`]: "p.organization_id",
        [`${alias}.id`]: `p.${column}`,
      },
    );
  }
  for (const [table, [alias, column]] of Object.entries(CODES)) {
    query.leftJoin(`${table} as ${alias}`, `${alias}.id`, `p.${column}`);
  }
  return query;
}

/** The rows of a table for these products, in order. */
export function below(table, ids) {
  return db(`${table} as p`).where(OWN).whereIn("p.product_id", ids)
    .orderBy("p.position");
}

export function collectionsOf(ids) {
  return below("product_collections", ids)
    .join("collections as x", {
      "x.organization_id": "p.organization_id",
      "x.id": "p.collection_id",
    })
    .select("p.product_id", "x.id", "x.name", "x.collection_type");
}
