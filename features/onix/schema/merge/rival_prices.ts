import type { Entry } from "../../../../schema/bodies.ts";
import type { Rows } from "../../../../schema/fields.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { rivals } from "../../../../schema/rival_prices.ts";
import type { Message } from "../report/message.ts";
import type { Element } from "../xml/element.ts";
import { contentOutsideFields } from "../codecs/matching.ts";
import { textOf } from "../codecs/codec.ts";
import type { RecordReader } from "../codecs/record_reader.ts";
import { entryInWords, type EntryKind } from "./words.ts";

/*
 * Finds rival prices after a merge: the sender has sent one, a user has added another, and both are
 * valid at the same time. In: the merged supplies. Out: warnings.
 */

const SUPPLY_DETAILS = ARRAYS.product_territories.fields.supply_details as Rows;
const PRICES = SUPPLY_DETAILS.fields.prices as Rows;
const PRICE: EntryKind = { composite: "Price", key: PRICES.same ?? [], fields: PRICES.fields };

/** Returns a warning for each pair of rival prices, of which the incoming record has at least one. */
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
    return element ? limitsOutsideFields(element) : "";
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
      const location = reader.messages.locationOf(found);
      return [{ severity: "warning", code: "two_prices", ...location, message }];
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

/** The content that limits a price and has no field, such as a price condition. */
function limitsOutsideFields({ children, ...price }: Element): string {
  const others = children.filter(({ name }) => name !== "PriceIdentifier");
  return contentOutsideFields({ ...price, children: others }, PRICE.fields);
}
