import { objectsIn } from "../../../../schema/objects.ts";
import { child, type Element } from "../xml/element.ts";
import { textOf } from "../codecs/codec.ts";
import type { Book } from "../mapping/mapped.ts";
import { MAPPING } from "../mapping/mapping.ts";
import { RecordReader } from "../codecs/record_reader.ts";

/*
 * Writes the availability and the prices that a product has outside supply details. They are sent
 * as a supply if its record has none.
 */

/** Adds the availability and the prices of a product, as one supply, to a record without any. */
export function addOwnSupply(record: Element, product: Book["product"]): void {
  if (hasSupply(record)) return;
  const prices = objectsIn(product.product_prices).flatMap((price) => [
    ...priceOf(price, "02", price.retail_price_inc_tax),
    ...priceOf(price, "01", price.retail_price ?? price.list_price),
  ]);
  const product_availability = product.product_availability_code;
  if (prices.length === 0 && textOf(product_availability) === undefined) return;
  const supply = { supply_details: [{ product_availability, prices }] };
  const reader = new RecordReader(record, { isSilent: true });
  MAPPING.product_territories!.write(record, [supply], [], reader);
}

/** Whether the record has a supply, which may be withheld. */
function hasSupply(record: Element): boolean {
  return record.children.some((each) =>
    each.name === "ProductSupply" &&
    (each.isWithheld || child(each, "SupplyDetail"))
  );
}

/** A price of this type (List 58), if it has an amount. */
function priceOf(
  { currency_code, tax_rate, valid_from, valid_to }: Record<string, unknown>,
  price_type: string,
  price_amount: unknown,
): Record<string, unknown>[] {
  if (textOf(price_amount) === undefined) return [];
  const taxes = price_type === "02" && textOf(tax_rate) ? [{ tax_rate_percent: tax_rate }] : [];
  const period = { valid_from, valid_to };
  return [{ price_type, price_amount, taxes, currency_code, ...period }];
}
