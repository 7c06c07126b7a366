import { randomUUID } from "node:crypto";

/** The arrays of a product, with their tables, and whether their rows have their own ids. */
const CHILDREN = {
  product_prices: { table: "product_prices", hasId: true },
  contributors: { table: "product_contributors" },
  product_collections: { table: "product_collections" },
  collateral: { table: "collateral", hasId: true },
  custom_fields: { table: "custom_field_values" },
};

/** The rows of a product to create, in insertion order, once per table. */
export function rowsOf(organization_id, id, body) {
  const product = { organization_id, id };
  const children = [];
  for (const [key, value] of Object.entries(body)) {
    if (!(key in CHILDREN)) {
      product[key] = value;
      continue;
    }
    const { table, hasId } = CHILDREN[key];
    const rows = value.map((entry, position) => ({
      organization_id,
      product_id: id,
      position,
      ...hasId && { id: randomUUID() },
      ...entry,
    }));
    if (rows.length > 0) children.push({ table, rows });
  }
  return [{ table: "products", rows: [product] }, ...children];
}
