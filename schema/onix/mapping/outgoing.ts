import { copyOf, type Element, element } from "../xml/element.ts";
import { child, childrenOf } from "../xml/element.ts";
import { isObject } from "../../objects.ts";
import { mend } from "../xml/mend.ts";
import { type Book, canonical, setChild, textOf } from "./part.ts";

export type { Book } from "./part.ts";
import { Reading } from "./reading.ts";
import type { Release } from "../rules/releases.ts";
import { settledValues } from "./settled.ts";
import type { Paths } from "../xml/paths.ts";
import type { Steps } from "../xml/steps.ts";
import {
  containerOf,
  formOf,
  type Place,
  PRODUCT_CODE,
  readView,
  type Values,
  VIEW,
} from "./view.ts";

/** The record last received. */
export interface Received {
  record: Element;
  /** What the product said otherwise than the record when it was received (`differences`). */
  differences: Differences | null;
}

/** The fields in which a product differs from a record, with the product's values. */
export type Differences = Readonly<Record<string, unknown>>;

/** A record that can be sent. */
export interface Outgoing {
  record: Element;
  /** What would make the message invalid and is left out. */
  notSent: Paths;
}

/**
 * The product as a record: the record last received, changed where the product has changed
 * since. Always valid by EDItEUR's schema of the release.
 */
export function* writeRecord(
  book: Book,
  received: Received | null,
  release: Release,
): Steps<Outgoing> {
  const record = received ? copyOf(received.record) : element("Product", [
    element("RecordReference", ""),
    element("NotificationType", "03"),
  ]);
  writeChanges(book, record, received?.differences ?? {});
  const { product, reference, organization } = book;
  setChild(record, "RecordReference", reference ?? `urn:uuid:${product.id}`);
  if (!hasSupply(record)) addSupply(record, product);
  yield;
  const mended = yield* mend(record, release, {
    organization,
    identifier: proprietary(PRODUCT_CODE, String(product.product_code)),
  });
  return { record: mended.record, notSent: mended.notSent };
}

/** Writes into the record what the product says otherwise. */
function writeChanges(
  book: Book,
  record: Element,
  differences: Differences,
): void {
  const reading = new Reading(record, { isSilent: true });
  const places = Object.entries(VIEW).map(([name, place]) => {
    const now = place.of(book);
    return { name, place, now, form: formOf(name, now) };
  });
  const isChanged =
    (values: Values) => ({ name, form }: typeof places[number]) =>
      form !==
        (Object.hasOwn(differences, name)
          ? canonical(differences[name] ?? undefined)
          : formOf(name, values[name]));
  // Most products are as their records say: what the API would refuse need not be known.
  if (!places.some(isChanged(readView(record, reading)))) return;
  const values = settledValues(record, reading);
  for (const { name, place, now } of places.filter(isChanged(values))) {
    const before = Object.hasOwn(differences, name)
      ? asThen(differences[name], values[name], reading)
      : values[name];
    place.write(blockOf(record, place), now, before, reading);
  }
}

/** What the product said, from the elements that the record has for it. */
function asThen(then: unknown, values: unknown, reading: Reading): unknown {
  if (!Array.isArray(then) || !Array.isArray(values)) return then;
  if (then.length !== values.length) return values;
  then.forEach((entry, i) => {
    const source = isObject(values[i]) && reading.sourceOf(values[i]);
    if (source && isObject(entry)) reading.from(source, entry);
  });
  return then;
}

/** The composite in which a field stands, which is added where it is missing. */
function blockOf(record: Element, { block }: Place): Element {
  const known = containerOf(record, block);
  if (known) return known;
  const added = element(block!, []);
  record.children.push(added);
  return added;
}

/**
 * What a product says otherwise than the record it was just written from, such as the name
 * of a contributor that was found by ISNI. To be stored with the record. Null: nothing.
 */
export function differences(book: Book, record: Element): Differences | null {
  const reading = new Reading(record, { isSilent: true });
  const values = settledValues(record, reading);
  const differing = Object.entries(VIEW).flatMap(([name, place]) => {
    const is = place.project(place.of(book));
    const isSame = canonical(is) === formOf(name, values[name]);
    return isSame ? [] : [[name, is ?? null] as const];
  });
  return differing.length > 0 ? Object.fromEntries(differing) : null;
}

/** The paths of what would make a message with this record invalid, without positions. */
export function* notSentOf(
  record: Element,
  release: Release,
): Steps<Paths> {
  const substitutes = { organization: "-", identifier: proprietary("-", "-") };
  const { notSent } = yield* mend(record, release, substitutes);
  return notSent;
}

/** The record of a deleted product (NotificationType 05). */
export function deletion(reference: string, id: string): Element {
  return element("Product", [
    element("RecordReference", reference),
    element("NotificationType", "05"),
    proprietary("product_id", id),
  ]);
}

/** An identifier of our own. */
function proprietary(name: string, value: string): Element {
  return element("ProductIdentifier", [
    element("ProductIDType", "01"),
    element("IDTypeName", name),
    element("IDValue", value),
  ]);
}

function hasSupply(record: Element): boolean {
  return childrenOf(record, "ProductSupply").some((supply) =>
    child(supply, "SupplyDetail")
  );
}

/** The availability and the prices of a product without supply details, as one supply. */
function addSupply(record: Element, product: Book["product"]): void {
  const all = (product.product_prices as Record<string, unknown>[]) ?? [];
  const prices = all.flatMap((price) => [
    ...priceOf(price, "02", price.retail_price_inc_tax),
    ...priceOf(price, "01", price.retail_price ?? price.list_price),
  ]);
  const code = textOf(product.product_availability_code);
  if (prices.length === 0 && code === undefined) return;
  record.children.push(element("ProductSupply", [
    element("SupplyDetail", [
      ...code ? [element("ProductAvailability", code)] : [],
      ...prices,
    ]),
  ]));
}

/** A price of this type (List 58), if it has an amount. */
function priceOf(
  { currency_code, tax_rate, valid_from, valid_to }: Record<string, unknown>,
  type: string,
  amount: unknown,
): Element[] {
  const text = textOf(amount);
  if (text === undefined) return [];
  const rate = textOf(tax_rate);
  return [element("Price", [
    element("PriceType", type),
    element("PriceAmount", text),
    ...type === "02" && rate
      ? [element("Tax", [element("TaxRatePercent", rate)])]
      : [],
    element("CurrencyCode", String(currency_code)),
    ...dateOf("14", valid_from),
    ...dateOf("15", valid_to),
  ])];
}

function dateOf(role: string, day: unknown): Element[] {
  return typeof day !== "string" ? [] : [element("PriceDate", [
    element("PriceDateRole", role),
    element("Date", day.replaceAll("-", "")),
  ])];
}
