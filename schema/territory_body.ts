import * as v from "valibot";
import { CurrencyCode } from "./entries.ts";
import { Amount, Percent, PositiveInteger } from "./numbers.ts";
import { dated, fields, isObject, list } from "./objects.ts";
import { code } from "./onix_codes.ts";
import { Day, oneOf, optional, text, Uuid } from "./values.ts";

/*
 * The body of `PUT /products/{id}/territories`: the whole tree, as in the response.
 * Response-only fields are accepted and ignored.
 */

/** Entries in all arrays of the tree. */
const MAX_ROWS = 20_000;

/** A country of ONIX List 91. */
export const CountryCode = code(91);

/** A region of ONIX List 49. */
export const RegionCode = code(49);

/** Countries and regions, each included or excluded. */
export const TerritoryBody = fields({
  countries_included: v.optional(list(CountryCode), []),
  countries_excluded: v.optional(list(CountryCode), []),
  regions_included: v.optional(list(RegionCode), []),
  regions_excluded: v.optional(list(RegionCode), []),
});

export const MarketBody = fields({
  id: v.optional(Uuid),
  name: optional(text()),
  territory: v.optional(TerritoryBody, {}),
});

export const PublishingDetailBody = fields({
  market_publishing_status: optional(
    code(68),
  ),
  market_dates: v.optional(
    list(fields({
      market_date_role: code(163),
      date: Day,
    }, ["market_date_role_label"])),
    [],
  ),
}, ["market_publishing_status_label"]);

export const TaxBody = fields({
  tax_type: optional(code(171)),
  tax_rate_code: optional(code(62)),
  tax_rate_percent: optional(Percent),
  taxable_amount: optional(Amount),
  tax_amount: optional(Amount),
});

export const SupplyPriceBody = dated({
  id: v.optional(Uuid),
  price_type: optional(code(58)),
  price_amount: optional(Amount),
  currency_code: optional(CurrencyCode),
  price_status: optional(code(61)),
  minimum_order_quantity: optional(PositiveInteger),
  valid_from: optional(Day),
  valid_to: optional(Day),
  taxes: v.optional(list(TaxBody), []),
}, ["price_type_label"]);

export const SupplyDetailBody = fields({
  id: v.optional(Uuid),
  supplier: v.optional(
    fields({
      supplier_role: optional(code(93)),
      supplier_name: optional(text()),
    }, ["supplier_role_label"]),
    {},
  ),
  product_availability: optional(code(65)),
  supply_dates: v.optional(
    list(fields({
      supply_date_role: code(166),
      date: Day,
    }, ["supply_date_role_label"])),
    [],
  ),
  order_time: optional(PositiveInteger),
  pack_quantity: optional(PositiveInteger),
  unpriced_item_type: optional(code(57)),
  prices: v.optional(list(SupplyPriceBody), []),
}, ["product_availability_label"]);

export const ProductTerritoryBody = fields({
  id: v.optional(Uuid),
  market_reference: optional(text()),
  exclusivity: v.optional(
    oneOf("exclusive", "non_exclusive", "not_for_sale", "unknown"),
    "unknown",
  ),
  markets: v.optional(list(MarketBody), []),
  market_publishing_detail: v.optional(PublishingDetailBody, {}),
  supply_details: v.optional(list(SupplyDetailBody), []),
});

/** All territories of a product. Ids are unique among the rows of a kind. */
export const TerritoriesBody = v.pipe(
  v.unknown(),
  v.check(
    (tree) => countRows(tree) <= MAX_ROWS,
    `too_many: At most ${MAX_ROWS} entries in all arrays together`,
  ),
  list(ProductTerritoryBody),
  v.rawCheck(({ dataset, addIssue }) => {
    const seen = new Set<string>();
    for (const { kind, id, path } of rowIds(dataset.value)) {
      if (seen.has(`${kind} ${id}`)) {
        addIssue({
          message: "duplicate: An earlier entry has the same value",
          path: path.map((key) => ({ key }) as v.IssuePathItem) as [
            v.IssuePathItem,
          ],
        });
      }
      seen.add(`${kind} ${id}`);
    }
  }),
);

export type TerritoriesBody = v.InferOutput<typeof TerritoriesBody>;

/** The `id` of an entry, with its path. */
export interface RowId {
  kind: "territories" | "markets" | "supply_details" | "prices";
  id: string;
  path: (string | number)[];
}

/** Every id of the tree, which may be invalid. */
export function* rowIds(
  entries: unknown,
  kind: RowId["kind"] = "territories",
  at: RowId["path"] = [],
): Generator<RowId> {
  if (!Array.isArray(entries)) return;
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) continue;
    const path = [...at, i];
    if (typeof entry.id === "string") {
      yield { kind, id: entry.id.toLowerCase(), path: [...path, "id"] };
    }
    for (const child of ["markets", "supply_details", "prices"] as const) {
      yield* rowIds(entry[child], child, [...path, child]);
    }
  }
}

function countRows(value: unknown): number {
  if (Array.isArray(value)) {
    return value.reduce(
      (sum, entry) => sum + (isObject(entry) ? 1 : 0) + countRows(entry),
      0,
    );
  }
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>(
    (sum, inner) => sum + countRows(inner),
    0,
  );
}
