import type { Entry } from "../../bodies.ts";
import type { Rows } from "../../fields.ts";
import { canonical, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import type { Element } from "../xml/element.ts";
import type { Message } from "../xml/paths.ts";
import { besideFields } from "./entries.ts";
import { type RecordReader, scalar, textOf } from "./record_reader.ts";
import { inWords } from "./words.ts";

/*
 * Prices of one supply of which no recipient knows which one counts: they are of one type,
 * currency, country and time. It happens where the sender has sent one, and another was
 * written here.
 */

const PRICE = pricesOf();

/** What tells prices apart besides their territories. */
const APART = [
  "price_type",
  "price_qualifier",
  "currency_code",
  "minimum_order_quantity",
  // The price that begins later takes the place of the one before.
  "valid_from",
];

/** The warnings about two prices, of which the record has one, after it was merged. */
export function rivalPrices(
  territories: unknown,
  record: Element,
  { reader }: { reader: RecordReader },
): Message[] {
  const supplies = objectsIn(territories)
    .flatMap(({ supply_details }) => objectsIn(supply_details))
    .map(({ prices }) => objectsIn(prices).filter(hasAmount))
    .filter((prices) => prices.length > 1);
  if (supplies.length === 0) return [];
  const elements = new Map(pricesIn(record).map((each) => [each.id, each]));
  const elementOf = ({ id }: Entry) => elements.get(id as string);
  return supplies.flatMap((prices) =>
    pairsIn(prices, elementOf).flatMap(([first, second]): Message[] => {
      const found = elementOf(second) ?? elementOf(first);
      if (!found) return [];
      const amounts = [first, second].map(({ price_amount }) => textOf(price_amount));
      const message = `${inWords(PRICE, second)}: ${
        amounts.join(" and ")
      } are valid at once, and both are sent: nobody knows which one counts`;
      const place = reader.placeOf(found);
      return [{ severity: "warning", code: "two_prices", ...place, message }];
    })
  );
}

function pricesOf() {
  const { supply_details } = ARRAYS.product_territories.fields;
  const { fields, same = [] } = (supply_details as Rows).fields.prices as Rows;
  return { composite: "Price", key: same, fields };
}

function hasAmount({ price_amount }: Entry): boolean {
  return textOf(price_amount) !== undefined;
}

function pricesIn(record: Element): Element[] {
  return record.children
    .filter(({ name }) => name === "ProductSupply")
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === "SupplyDetail")
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === "Price");
}

/** Each price with an earlier one that is of the same type, currency, country and time. */
function pairsIn(
  prices: readonly Entry[],
  elementOf: (price: Entry) => Element | undefined,
): [first: Entry, second: Entry][] {
  const alike = Map.groupBy(prices, (price) => {
    const element = elementOf(price);
    return canonical([
      ...APART.map((name) => scalar(price[name]) ?? null),
      element ? limitsOf(element) : "",
    ]);
  });
  return [...alike.values()].flatMap((group) => {
    const known: Places[] = [];
    return group.flatMap((price): [Entry, Entry][] => {
      const own = placesOf(price);
      const rival = known.find((other) => overlap(own, other));
      known.push(own);
      return rival ? [[rival.price, price]] : [];
    });
  });
}

/** What limits a price beside its fields, such as a condition. */
function limitsOf({ children, ...price }: Element): string {
  const others = children.filter(({ name }) => name !== "PriceIdentifier");
  return besideFields({ ...price, children: others }, PRICE.fields);
}

/** Where a price is valid. */
interface Places {
  price: Entry;
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
    price,
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
