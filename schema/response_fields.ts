import * as v from "valibot";
import { ProductTerritory, SalesRights } from "./rights.ts";
import { Uuid } from "./values.ts";

/** A time in UTC, to the millisecond (ISO 8601). */
export const Timestamp = v.pipe(
  v.string(),
  v.metadata({ format: "date-time" }),
);

/** A collection that a product is in, in short. */
export const CollectionSummary = v.object({
  id: Uuid,
  name: v.string(),
  collection_type: v.nullable(v.string()),
});

/** What the service gives every product: who it is, and since when. */
export const IDENTITY = {
  id: Uuid,
  organization_id: Uuid,
  product_code: v.pipe(
    v.string(),
    v.metadata({
      description: "Made by the service, unique in the organization.",
      examples: ["P-0DYSSEY1"],
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** What is read from the records that a product is linked to; absent where a link is not set. */
export const DISPLAY = {
  license_name: v.nullable(v.string()),
  license_badge_colour: v.nullable(v.string()),
  season_name: v.optional(v.string()),
  publisher_name: v.optional(v.string()),
  division_name: v.optional(v.string()),
  imprint_name: v.optional(v.string()),
  series_name: v.optional(v.string()),
  format_name: v.optional(v.string()),
  title_name: v.optional(v.string()),
  publishing_status_name: v.optional(v.string()),
  publishing_status_code: v.optional(v.string()),
  product_availability_name: v.optional(v.string()),
  product_availability_code: v.optional(v.string()),
  lifecycle_status_name: v.optional(v.string()),
  collections: v.optional(v.array(CollectionSummary)),
};

/** What is written elsewhere and read here. */
export const RIGHTS = {
  product_territories: v.array(ProductTerritory),
  product_sales_rights: v.array(SalesRights),
};

/** The names of what only an answer has. */
export const ANSWERED = Object.keys({ ...IDENTITY, ...DISPLAY, ...RIGHTS });
