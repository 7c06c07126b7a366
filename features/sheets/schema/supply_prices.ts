import * as v from "valibot";
import type { Entry } from "../../../schema/bodies.ts";
import { amount } from "../../../schema/fields.ts";
import { isEqual, objectsIn } from "../../../schema/objects.ts";
import type { Read } from "./cells.ts";
import type { SheetColumn } from "./columns.ts";
import type { CellChange } from "./report.ts";

/*
 * Columns for the prices of a product's suppliers. `supply_prices[GBP 02 GB].price_amount` is the
 * amount of the one price in pounds of type 02 that is valid in Great Britain today, of any
 * supplier. A cell changes the amount of a price. It creates no price, and if there are several it
 * changes none.
 */

/** The first word of these columns. The JSON of a product has no such field. */
export const SUPPLY_PRICES = "supply_prices";

/** The cell of a column with several matching prices. */
export const SEVERAL = "#several";

/** The prices of a column. Without a country, those of any territory. */
export interface SupplyPriceKey extends Entry {
  currency_code: string;
  price_type: string;
  country?: string;
}

/** A price, and the indexes of its territory, of its supply, and its own there. */
interface FoundPrice {
  path: readonly [number, number, number];
  price: Entry;
  area: Area;
  /** The markets of its territory. Without any, it has all. */
  markets: Area[];
}

/** The prices of a currency and type that are valid today, and those that have been before. */
interface PriceGroup {
  now: FoundPrice[];
  before: FoundPrice[];
  /** The number of their territories and markets. */
  compared: number;
}

/**
 * The maximum number of prices of one currency and type, with their markets, that are searched for
 * the price of a country: a row may have a column for each country. If there are more, no column
 * has a price.
 */
const MAX_COMPARED = 500;

/** The prices of a product's suppliers without a qualifier, by currency and type. */
export class SupplyPrices {
  readonly #product: Entry;
  #groups: Map<string, PriceGroup> | undefined;

  constructor(product: Entry) {
    this.#product = product;
  }

  get territories(): Entry[] {
    return objectsIn(this.#product.product_territories);
  }

  /** The amount of the one price of a key, null without one, or `SEVERAL`. */
  amountOf(key: SupplyPriceKey): unknown {
    const found = this.find("now", key);
    return found.length > 1 ? SEVERAL : found[0]?.price.price_amount ?? null;
  }

  /** The prices of a key: those valid today, or those valid before. */
  find(when: "now" | "before", key: SupplyPriceKey): readonly FoundPrice[] {
    const { currency_code, price_type, country } = key;
    const group = this.#grouped().get(`${currency_code} ${price_type}`);
    if (!group) return [];
    const prices = group[when];
    return country === undefined || group.compared > MAX_COMPARED
      ? prices
      : prices.filter(({ area, markets }) =>
        hasCountry(area, country) &&
        (markets.length === 0 || markets.some((market) => hasCountry(market, country)))
      );
  }

  #grouped(): Map<string, PriceGroup> {
    if (this.#groups) return this.#groups;
    const day = new Date().toISOString().slice(0, 10);
    const groups = this.#groups = new Map<string, PriceGroup>();
    for (const [i, territory] of this.territories.entries()) {
      const markets = objectsIn(territory.markets).map(({ territory }) => areaOf(territory));
      for (const [j, { prices }] of objectsIn(territory.supply_details).entries()) {
        for (const [k, price] of objectsIn(prices).entries()) {
          const when = validityOn(day, price);
          if (when === "later" || (price.price_qualifier ?? null) !== null) continue;
          const key = `${price.currency_code} ${price.price_type}`;
          const group = groups.getOrInsertComputed(
            key,
            () => ({ now: [], before: [], compared: 0 }),
          );
          group.compared += 1 + markets.length;
          group[when].push({ path: [i, j, k], price, area: areaOf(price.territory), markets });
        }
      }
    }
    return groups;
  }
}

/** The countries and regions of a territory. */
interface Area {
  included: ReadonlySet<string>;
  excluded: ReadonlySet<string>;
}

function areaOf(territory: unknown): Area {
  const lists = (territory ?? {}) as Record<string, string[] | undefined>;
  const { countries_included = [], regions_included = [] } = lists;
  const { countries_excluded = [], regions_excluded = [] } = lists;
  return {
    included: new Set([...countries_included, ...regions_included]),
    excluded: new Set([...countries_excluded, ...regions_excluded]),
  };
}

/** The countries of the region ECZ (List 49), which have the euro. */
const EURO_ZONE = new Set(
  "AD AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MC ME MT NL PT SI SK SM VA XK".split(" "),
);

/** Whether an area contains a country. One without included places is the world. */
function hasCountry({ included, excluded }: Area, country: string): boolean {
  if (included.has(country) || excluded.has(country)) return !excluded.has(country);
  const hasEuro = EURO_ZONE.has(country);
  if (hasEuro && excluded.has("ECZ")) return false;
  return included.size === 0 || included.has("WORLD") || hasEuro && included.has("ECZ");
}

function validityOn(day: string, { valid_from, valid_to }: Entry): "before" | "now" | "later" {
  if (typeof valid_to === "string" && valid_to < day) return "before";
  return typeof valid_from === "string" && valid_from > day ? "later" : "now";
}

/** The territories of a product, in which the cells of a row set the amounts of prices. */
export class SupplyAmounts {
  readonly #prices: SupplyPrices;
  readonly #columns = new Map<string, { name: string; value: unknown }>();
  /** The territories with the amounts. Undefined if none is set. */
  territories: Entry[] | undefined;
  /** The taxes that were removed, because their amounts were those of the old price. */
  readonly lost: CellChange[] = [];
  /** The columns whose cells repeat a price that is no longer valid, with its last day. */
  readonly ended = new Map<SheetColumn, string>();

  constructor(prices: SupplyPrices) {
    this.#prices = prices;
  }

  /** Sets the amount of the price of a column. Returns the amount, or the fault. */
  set(column: SheetColumn, value: unknown): Read {
    const key = column.key as SupplyPriceKey;
    const checked = v.safeParse(AMOUNT, value);
    if (!checked.success) return { fault: checked.issues[0].message };
    const found = this.#prices.find("now", key);
    const [one] = found;
    if (!one) return { fault: notFound(key) };
    if (found.length > 1) return { fault: severalFound(key, found.length) };
    const { output } = checked;
    const place = one.path.join();
    const other = this.#columns.get(place);
    if (other && !isEqual(other.value, output)) {
      return { fault: `duplicate: The column ${other.name} has another amount for the same price` };
    }
    this.#columns.set(place, { name: column.name, value: output });
    this.#noteEnded(column, output);
    this.#change(column, one, output);
    return { value: output };
  }

  /** Notes that the amount is that of a price that was valid before. */
  #noteEnded(column: SheetColumn, value: unknown): void {
    const ended = this.#prices.find("before", column.key as SupplyPriceKey)
      .find(({ price }) => isAmount(price.price_amount, value));
    if (ended) this.ended.set(column, String(ended.price.valid_to));
  }

  #change({ name }: SheetColumn, { path, price }: FoundPrice, amount: unknown): void {
    const taxes = objectsIn(price.taxes);
    const kept = taxes.filter((tax) => TAX_AMOUNTS.every((one) => (tax[one] ?? null) === null));
    if (kept.length < taxes.length) {
      const column = `${name.slice(0, name.lastIndexOf(".") + 1)}taxes`;
      this.lost.push({ column, from: taxes, to: kept });
    }
    const changed = { ...price, price_amount: amount, taxes: kept };
    const territories = this.territories ?? this.#prices.territories;
    this.territories = withEntry(territories, path, changed);
  }
}

const AMOUNT = v.nullable(amount.body!);

/** The amounts of a tax, which depend on the price. Its rate stays. */
const TAX_AMOUNTS = ["taxable_amount", "tax_amount"];

/** Whether an amount is the same: some numbers are kept as their texts (`RawNumber`). */
function isAmount(one: unknown, other: unknown): boolean {
  return one !== null && JSON.stringify(one) === JSON.stringify(other);
}

/** The arrays that lead to a price. */
const ARRAYS_ON_PATH = ["supply_details", "prices"];

/** A copy of the territories with another price. */
function withEntry(territories: Entry[], path: FoundPrice["path"], price: Entry): Entry[] {
  const [i, j, k] = path;
  const [supplies, prices] = ARRAYS_ON_PATH as [string, string];
  const territory = territories[i]!;
  const supply = objectsIn(territory[supplies])[j]!;
  const changed = { ...supply, [prices]: objectsIn(supply[prices]).with(k, price) };
  const details = objectsIn(territory[supplies]).with(j, changed);
  return territories.with(i, { ...territory, [supplies]: details });
}

/**
 * Gives the supplies with the product's old availability the new one, since these are mirrored
 * fields.
 */
export function withAvailability(territories: Entry[], before: unknown, after: string): Entry[] {
  return territories.map((territory) => ({
    ...territory,
    supply_details: objectsIn(territory.supply_details).map((supply) =>
      supply.product_availability === before ? { ...supply, product_availability: after } : supply
    ),
  }));
}

function inWords({ currency_code, price_type, country }: SupplyPriceKey): string {
  const place = country === undefined ? "" : ` for ${country}`;
  return `in ${currency_code} of type ${price_type}${place} without a qualifier, valid today`;
}

function notFound(key: SupplyPriceKey): string {
  return `not_found: No supplier has a price ${
    inWords(key)
  }: a sheet changes prices and creates none, PUT /products/{id}/territories does`;
}

function severalFound(key: SupplyPriceKey, count: number): string {
  const { currency_code, price_type, country } = key;
  const remedy = country === undefined
    ? `name the country, such as supply_prices[${currency_code} ${price_type} GB].price_amount`
    : "change them with PUT /products/{id}/territories";
  return `ambiguous: ${count} prices are ${inWords(key)}: ${remedy}`;
}
