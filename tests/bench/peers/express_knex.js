/*
 * Express and Knex with a query per table, as in their guides. The application
 * builds the response from rows, and counts lists.
 */
import express from "express";
import knex from "knex";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { rowsOf } from "./new_product.js";
import { fullProducts, listed } from "./product_json.js";
import {
  DATABASE_URL,
  metaOf,
  ORGANIZATION_ID,
  POOL,
  PORT,
} from "./settings.js";

pg.types.setTypeParser(pg.types.builtins.NUMERIC, Number);
pg.types.setTypeParser(pg.types.builtins.DATE, String);

const db = knex({
  client: "pg",
  connection: DATABASE_URL,
  pool: { min: POOL, max: POOL },
});
const full = fullProducts(await db("onix_codes"));

/** The records of the organization that a product refers to, by column. */
const RELATIONS = {
  license_id: "licenses",
  season_id: "seasons",
  publisher_id: "publishers",
  division_id: "divisions",
  imprint_id: "imprints",
  series_id: "collections",
  format_id: "formats",
  title_id: "titles",
};

const CODES = {
  publishing_status_id: "publishing_statuses",
  product_availability_id: "product_availabilities",
  lifecycle_status_id: "lifecycle_statuses",
};

/** The columns that the service does not show. */
const HIDDEN = ["change_version", "search_text"];

const COLUMNS = Object.keys(await db("products").columnInfo())
  .filter((column) => !HIDDEN.includes(column));

/** The tables below a product, with the column that refers to the row above. */
const BELOW = {
  product_prices: "product_id",
  packing_configurations: "product_id",
  product_contributors: "product_id",
  custom_field_values: "product_id",
  collateral: "product_id",
  product_sales_rights: "product_id",
  product_territories: "product_id",
};

const BELOW_TERRITORIES = {
  territory_markets: "territory_id",
  market_dates: "territory_id",
  supply_details: "territory_id",
  supply_dates: "supply_detail_id",
  supply_prices: "supply_detail_id",
  supply_price_taxes: "supply_price_id",
};

const OWN = { "p.organization_id": ORGANIZATION_ID };
const app = express();
app.use(express.json());

app.get("/api/products/:id", async ({ params }, response) => {
  response.json({ success: true, data: await get(params.id), error: null });
});

app.get("/api/products", async ({ query }, response) => {
  const { page = 1, limit = 50 } = query;
  const rows = await products()
    .orderBy([
      { column: "p.created_at", order: "desc" },
      { column: "p.id", order: "desc" },
    ])
    .limit(limit)
    .offset((page - 1) * limit);
  const links = await collectionsOf(rows.map(({ id }) => id));
  const [{ count }] = await db("products as p").where(OWN).count();
  response.json({
    success: true,
    data: rows.map((row) => listed({ ...row, collections: links(row.id) })),
    error: null,
    meta: metaOf(query, count),
  });
});

app.post("/api/products", async ({ body }, response) => {
  if (typeof body.title !== "string" || body.title === "") {
    return response.status(400).json({ success: false });
  }
  const id = randomUUID();
  await db.transaction(async (trx) => {
    for (const { table, rows } of rowsOf(ORGANIZATION_ID, id, body)) {
      await trx(table).insert(rows.map(withJson));
    }
  });
  response.status(201).json({
    success: true,
    data: await get(id),
    error: null,
  });
});

/** pg expects JSON as a string. */
function withJson(row) {
  return "field_value" in row
    ? { ...row, field_value: JSON.stringify(row.field_value) }
    : row;
}

async function get(id) {
  const [row, collections, ...all] = await Promise.all([
    products().where("p.id", id).first(),
    collectionsOf([id]),
    ...Object.keys(BELOW).map((table) => below(table, [id])),
  ]);
  const rows = Object.fromEntries(
    Object.keys(BELOW).map((table, i) => [table, all[i]]),
  );
  if (rows.product_territories.length > 0) {
    await addBelowTerritories(id, rows);
  }
  return full({ ...row, collections: collections(id) }, rows);
}

/** Reads the rows below the territories, and adds them to the rows above. */
async function addBelowTerritories(id, rows) {
  const names = Object.keys(BELOW_TERRITORIES);
  const found = await Promise.all(names.map((table) => below(table, [id])));
  names.forEach((table, i) => rows[table] = found[i]);
  const add = (above, ...tables) => {
    for (const table of tables) {
      const rowsOf = grouped(rows[table], BELOW_TERRITORIES[table]);
      for (const row of rows[above]) row[table] = rowsOf(row.id);
    }
  };
  add("supply_prices", "supply_price_taxes");
  add("supply_details", "supply_dates", "supply_prices");
  add(
    "product_territories",
    "territory_markets",
    "market_dates",
    "supply_details",
  );
}

/** Products with the names of referenced records, in one query. */
function products() {
  const query = db("products as p").where(OWN).select(
    ...COLUMNS.map((column) => `p.${column}`),
    "licenses.badge_colour as license_badge_colour",
    "formats.product_form_id",
    "publishing_statuses.code as publishing_status_code",
    "product_availabilities.code as product_availability_code",
    "lifecycle_statuses.code as lifecycle_status_code",
    "product_forms.code as product_form_code",
  );
  for (const [column, table] of Object.entries(RELATIONS)) {
    query.select(`${table}.name as ${column.replace("_id", "_name")}`)
      .leftJoin(table, {
        [`${table}.organization_id`]: "p.organization_id",
        [`${table}.id`]: `p.${column}`,
      });
  }
  for (const [column, table] of Object.entries(CODES)) {
    query.select(`${table}.name as ${column.replace("_id", "_name")}`)
      .leftJoin(table, `${table}.id`, `p.${column}`);
  }
  query.leftJoin("product_forms", "product_forms.id", "formats.product_form_id");
  return query;
}

/** The rows of a table for these products in order, with the names of what they refer to. */
function below(table, ids) {
  const query = db(`${table} as p`).where(OWN).whereIn("p.product_id", ids)
    .orderBy("p.position");
  if (table === "product_contributors") {
    query.join("contributors as x", {
      "x.organization_id": "p.organization_id",
      "x.id": "p.contributor_id",
    })
      .join("contributor_roles as role", "role.id", "p.contributor_role_id")
      .select(
        "p.*",
        "x.name as contributor_name",
        "role.name as contributor_role_name",
        "role.code as contributor_role_code",
      );
  }
  if (table === "custom_field_values") {
    query.join("custom_fields as x", {
      "x.organization_id": "p.organization_id",
      "x.id": "p.field_id",
    })
      .select("p.*", "x.name as field_name");
  }
  return query;
}

async function collectionsOf(ids) {
  const rows = await below("product_collections", ids)
    .join("collections as x", {
      "x.organization_id": "p.organization_id",
      "x.id": "p.collection_id",
    })
    .select(
      "p.product_id",
      "p.part_number",
      "x.id",
      "x.name",
      "x.collection_type",
    );
  return grouped(rows, "product_id");
}

/** Groups rows by a column. Returns a function from its value to rows. */
function grouped(rows, column) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(row[column]);
    if (group) group.push(row);
    else groups.set(row[column], [row]);
  }
  return (value) => groups.get(value) ?? [];
}

app.listen(PORT, "127.0.0.1");
