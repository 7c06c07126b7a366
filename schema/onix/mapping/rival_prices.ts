import type { Entry } from "../../bodies.ts";
import type { Rows } from "../../fields.ts";
import { objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { rivals } from "../../rival_prices.ts";
import type { Message } from "../report/message.ts";
import type { Element } from "../xml/element.ts";
import { besideFields } from "./pairing.ts";
import { textOf } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";
import { entryInWords, type EntryKind } from "./words.ts";

/*
 * Rival prices after a record was merged: the sender has sent one, and another was written
 * here.
 */

const SUPPLY_DETAILS = ARRAYS.product_territories.fields.supply_details as Rows;
const PRICES = SUPPLY_DETAILS.fields.prices as Rows;
const PRICE: EntryKind = { composite: "Price", key: PRICES.same ?? [], fields: PRICES.fields };

/** The warnings about two prices, of which the record has one, after it was merged. */
export function rivalPrices(
  territories: unknown,
  record: Element,
  { reader }: { reader: RecordReader },
): Message[] {
  const supplies = objectsIn(territories)
    .flatMap(({ supply_details }) => objectsIn(supply_details))
    .map(({ prices }) => objectsIn(prices))
    .filter((prices) => prices.length > 1);
  if (supplies.length === 0) return [];
  const elements = new Map(pricesIn(record).map((each) => [each.id, each]));
  const elementOf = ({ id }: Entry) => elements.get(id as string);
  const limitsOfElement = (price: Entry) => {
    const element = elementOf(price);
    return element ? limitsBesideFields(element) : "";
  };
  return supplies.flatMap((prices) =>
    rivals(prices, limitsOfElement).flatMap((pair): Message[] => {
      const [first, second] = pair.map((index) => prices[index]!) as [Entry, Entry];
      const found = elementOf(second) ?? elementOf(first);
      if (!found) return [];
      const amounts = [first, second].map(({ price_amount }) => textOf(price_amount));
      const message = `${entryInWords(PRICE, second)}: ${
        amounts.join(" and ")
      } are valid at once, and both are sent: nobody knows which one counts`;
      const place = reader.messages.placeOf(found);
      return [{ severity: "warning", code: "two_prices", ...place, message }];
    })
  );
}

function pricesIn(record: Element): Element[] {
  return record.children
    .filter(({ name }) => name === "ProductSupply")
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === "SupplyDetail")
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === "Price");
}

/** What limits a price beside its fields, such as a condition. */
function limitsBesideFields({ children, ...price }: Element): string {
  const others = children.filter(({ name }) => name !== "PriceIdentifier");
  return besideFields({ ...price, children: others }, PRICE.fields);
}
