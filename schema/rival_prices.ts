import type { Entry } from "./bodies.ts";
import { detailAt, type ErrorDetail } from "./errors.ts";
import { canonical, objectsIn } from "./objects.ts";

/*
 * Finds rival prices: two prices of one supply with the same type, currency, country and first day. A
 * recipient cannot know which one to use. For example, two GBP prices of type 02 for GB, both valid
 * from 1 May.
 */

/** The key of a price without its territory: prices with different keys are no rivals. */
const APART = [
  "price_type",
  "price_qualifier",
  "currency_code",
  "minimum_order_quantity",
  // The price that begins later takes the place of the one before.
  "valid_from",
];

/** The warnings about rival prices in a body of territories. */
export function rivalPricesIn(territories: readonly Entry[]): ErrorDetail[] {
  return territories.flatMap(({ supply_details }, i) =>
    objectsIn(supply_details).flatMap((supply, j) => {
      const prices = objectsIn(supply.prices);
      return rivals(prices).map(([first, second]) => {
        const amounts = [first, second].map((index) => prices[index]!.price_amount);
        return detailAt(
          `/${i}/supply_details/${j}/prices/${second}`,
          `two_prices: ${
            amounts.map((one) => JSON.stringify(one)).join(" and ")
          } are of one type, currency, country and first day: nobody knows which one counts`,
        );
      });
    })
  );
}

/**
 * The pairs of prices that are rivals: the index of the earlier one, then of the later one. `limitsOf`
 * returns what else limits a price, such as a condition.
 */
export function rivals(
  prices: readonly Entry[],
  limitsOf: (price: Entry) => string = () => "",
): [first: number, second: number][] {
  const indexes = prices.keys().filter((index) => (prices[index]!.price_amount ?? "") !== "");
  const alike = Map.groupBy(indexes, (index) => {
    const price = prices[index]!;
    return canonical([...APART.map((name) => price[name] || null), limitsOf(price)]);
  });
  return [...alike.values()].flatMap((group) => {
    const earlier = new Earlier();
    return group.flatMap((index): [number, number][] => {
      const places = placesOf(prices[index]!);
      const rival = earlier.rivalOf(places);
      earlier.add(index, places);
      return rival === undefined ? [] : [[rival, index]];
    });
  });
}

/** Where a price is valid: in the included places, except the excluded ones. */
interface Places {
  included: readonly string[];
  excluded: ReadonlySet<string>;
}

const WORLD = "WORLD";

function placesOf(price: Entry): Places {
  const territory = (price.territory ?? {}) as Record<string, string[] | null>;
  const { countries_included, regions_included } = territory;
  const { countries_excluded, regions_excluded } = territory;
  const included = [...countries_included ?? [], ...regions_included ?? []];
  return {
    included: included.length === 0 || included.includes(WORLD) ? [WORLD] : included,
    excluded: new Set([...countries_excluded ?? [], ...regions_excluded ?? []]),
  };
}

/**
 * The earlier prices, by place. Comparing each price with each other would take seconds for the prices
 * that a body can hold.
 */
class Earlier {
  /** The first price that includes a place, and what all that do exclude of it. */
  readonly #areas = new Map<string, { index: number; excluded: ReadonlySet<string> }>();

  /** The index of a price for a place of these. */
  rivalOf({ included, excluded }: Places): number | undefined {
    if (included[0] === WORLD) {
      const isValid = ([place]: [string, unknown]) => isNotIn(excluded, place);
      return this.#areas.get(WORLD)?.index ?? this.#areas.entries().find(isValid)?.[1].index;
    }
    for (const place of included) {
      if (excluded.has(place)) continue;
      for (const area of [place, countryOf(place), WORLD]) {
        const earlier = this.#areas.get(area);
        if (earlier && isNotIn(earlier.excluded, place)) return earlier.index;
      }
    }
  }

  add(index: number, { included, excluded }: Places): void {
    const parts = Map.groupBy(excluded, countryOf);
    for (const place of included) {
      const own = place === WORLD ? excluded : new Set(parts.get(place));
      const before = this.#areas.get(place);
      this.#areas.set(place, {
        index: before?.index ?? index,
        excluded: before?.excluded.intersection(own) ?? own,
      });
    }
  }
}

/** Whether neither the place nor the country that it is a part of is one of these. */
function isNotIn(places: ReadonlySet<string>, place: string): boolean {
  return !places.has(place) && !places.has(countryOf(place));
}

/** The country of a region such as `GB-SCT`. */
function countryOf(place: string): string {
  return place.replace(/-.*/, "");
}
