import { integer, numeric, pgTable, uuid } from "drizzle-orm/pg-core";

/** The columns of every nested row. */
export const ofProduct = {
  organization_id: uuid().notNull(),
  product_id: uuid().notNull(),
  position: integer().notNull(),
};

/** A table of nested rows with their own ids. */
export const below = (name, columns) =>
  pgTable(name, { ...ofProduct, id: uuid().notNull(), ...columns });

export const amount = () => numeric({ mode: "number" });
