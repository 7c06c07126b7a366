import { integer, numeric, pgTable, uuid } from "drizzle-orm/pg-core";

/** What every row of a product has. */
export const ofProduct = {
  organization_id: uuid().notNull(),
  product_id: uuid().notNull(),
  position: integer().notNull(),
};

/** A table of rows of a product that have an id of their own. */
export const below = (name, columns) =>
  pgTable(name, { ...ofProduct, id: uuid().notNull(), ...columns });

export const amount = () => numeric({ mode: "number" });
