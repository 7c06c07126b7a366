import type { Entry } from "./bodies.ts";
import { detailAt, type ErrorDetail } from "./errors.ts";
import { canonical, objectsIn } from "./objects.ts";

/*
 * Rival prices: those of one supply of which no recipient knows which one counts. They are
 * of one type, currency, country and time.
 */

/** What tells prices apart besides their territories. */
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
 * The indexes of prices that have an earlier rival, after its own. `limitsOf` says what else
 * limits a price, such as a condition.
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
    const known: [number, Places][] = [];
    return group.flatMap((index): [number, number][] => {
      const own = placesOf(prices[index]!);
      const rival = known.find(([, other]) => overlap(own, other));
      known.push([index, own]);
      return rival ? [[rival[0], index]] : [];
    });
  });
}

/** Where a price is valid. */
interface Places {
  isEverywhere: boolean;
  included: ReadonlySet<string>;
  excluded: ReadonlySet<string>;
}

function placesOf(price: Entry): Places {
  const territory = (price.territory ?? {}) as Record<string, string[] | null>;
  const { countries_included, regions_included } = territory;
  const included = new Set([
    ...countries_included ?? [],
    ...regions_included ?? [],
  ]);
  const { countries_excluded, regions_excluded } = territory;
  return {
    isEverywhere: included.size === 0 || included.has("WORLD"),
    included,
    excluded: new Set([
      ...countries_excluded ?? [],
      ...regions_excluded ?? [],
    ]),
  };
}

/** Whether there is a country of both. A region such as `GB-SCT` is a part of its country. */
function overlap(one: Places, other: Places): boolean {
  if (one.isEverywhere && other.isEverywhere) return true;
  const [few, many] = one.isEverywhere ? [other, one] : [one, other];
  return few.included.values().some((place) =>
    [place, place.replace(/-.*/, "")].some((each) =>
      !many.excluded.has(each) &&
      (many.isEverywhere || many.included.has(each))
    )
  );
}
