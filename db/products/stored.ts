import { type CollateralType, issuesAs } from "../../schema/collateral.ts";
import {
  bodyDetails,
  endsTooEarly,
  type ErrorDetail,
  seriesNotAttached,
  unknownEntry,
} from "../../schema/errors.ts";
import type { ProductBody } from "../../schema/product.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";

/** The stored rows of a product that a body is validated against. */
export interface Stored {
  series_id: string | null;
  collections: string[];
  product_prices: {
    id: string;
    valid_from: string | null;
    valid_to: string | null;
  }[];
  packing_configurations: { id: string }[];
  collateral: { id: string; collateral_type: CollateralType }[];
}

/** The stored rows of a new product. */
export const NOTHING: Stored = {
  series_id: null,
  collections: [],
  product_prices: [],
  packing_configurations: [],
  collateral: [],
};

/** The stored rows of the product, or no row if it does not exist. */
export function storedRows(id: string): Statement<Stored> {
  return sql`
    select
      p.series_id,
      coalesce((
        select json_agg(x.collection_id)
        from product_collections x
        where x.organization_id = ${organization} and x.product_id = p.id
      ), '[]') as collections,
      coalesce((
        select json_agg(json_build_object('id', x.id, 'valid_from', x.valid_from, 'valid_to', x.valid_to))
        from product_prices x
        where x.organization_id = ${organization} and x.product_id = p.id
      ), '[]') as product_prices,
      coalesce((
        select json_agg(json_build_object('id', x.id))
        from packing_configurations x
        where x.organization_id = ${organization} and x.product_id = p.id
      ), '[]') as packing_configurations,
      coalesce((
        select json_agg(json_build_object('id', x.id, 'collateral_type', x.collateral_type))
        from collateral x
        where x.organization_id = ${organization} and x.product_id = p.id
      ), '[]') as collateral
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** The error for a series that would not be one of the collections after the request. */
export function unattachedSeries(
  body: ProductBody,
  stored: Stored,
): ErrorDetail[] {
  const series = body.series_id === undefined
    ? stored.series_id
    : body.series_id;
  const collections = body.product_collections
    ?.map(({ collection_id }) => collection_id) ?? stored.collections;
  if (!series || collections.includes(series)) return [];
  return [
    seriesNotAttached(body.series_id ? "/series_id" : "/product_collections"),
  ];
}

/** The errors of entries whose `id` is not a row of the product, or that are invalid for that row. */
export function wrongRows(body: ProductBody, stored: Stored): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const match = <
    E extends { id?: string | undefined },
    R extends { id: string },
  >(
    key: string,
    entries: readonly E[] | undefined,
    rows: R[],
    compare: (at: string, entry: E, row: R) => void = () => {},
  ) =>
    entries?.forEach((entry, i) => {
      if (!entry.id) return;
      const row = rows.find(({ id }) => id === entry.id);
      if (row) compare(`/${key}/${i}`, entry, row);
      else details.push(unknownEntry(`/${key}/${i}/id`));
    });

  match(
    "packing_configurations",
    body.packing_configurations,
    stored.packing_configurations,
  );
  match(
    "product_prices",
    body.product_prices,
    stored.product_prices,
    (at, entry, row) => {
      const { valid_from, valid_to } = { ...row, ...entry };
      if (!valid_from || !valid_to || valid_from <= valid_to) return;
      details.push(
        endsTooEarly(
          `${at}/${"valid_to" in entry ? "valid_to" : "valid_from"}`,
        ),
      );
    },
  );
  match("collateral", body.collateral, stored.collateral, (at, entry, row) => {
    if (
      entry.collateral_type && entry.collateral_type !== row.collateral_type
    ) {
      details.push({
        pointer: `${at}/collateral_type`,
        code: "immutable",
        message:
          `The type of a row cannot change: expected ${row.collateral_type}`,
      });
    } else {
      details.push(
        ...bodyDetails(issuesAs(row.collateral_type, entry) ?? [], at),
      );
    }
  });
  return details;
}
