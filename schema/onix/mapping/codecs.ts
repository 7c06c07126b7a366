import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  isMarkedUp,
  valueOf,
} from "../xml/element.ts";
import { codecAt } from "./path.ts";
import { dateIn, writeDate } from "../xml/dates.ts";
import { type Codec, replaceChildren, scalar, textOf } from "./codec.ts";

/*
 * The fields of entries that no path describes, by composite and field, each with its reason.
 */

export const CODECS: Readonly<Record<string, Codec>> = {
  "Price/price_amount": priceAmount(),
  "Price/valid_from": periodEnd("14", "from"),
  "Price/valid_to": periodEnd("15", "to"),
  "AudienceRange/audience_range_exact": rangeValue("01"),
  "AudienceRange/audience_range_from": rangeValue("03"),
  "AudienceRange/audience_range_to": rangeValue("04"),
  "Extent/extent_value": partOfExtent("ExtentValue"),
  "Extent/extent_unit": partOfExtent("ExtentUnit"),
  "TextContent/text": textCodec(),
};

/** A price of 0 is an item that is free of charge (List 57, 01), unless another reason is given. */
function priceAmount(): Codec {
  const amount = codecAt("PriceAmount");
  return {
    ...amount,
    read(composite, reader) {
      const unpriced = child(composite, "UnpricedItemType");
      const isFree = valueOf(unpriced) === "01";
      const value = amount.read(composite, reader);
      if (value === "0" && unpriced && !isFree) return;
      if (child(composite, "PriceAmount") || !isFree) return value;
      reader.claim(unpriced!);
      return "0";
    },
    write(composite, now, before, reader) {
      const unpriced = child(composite, "UnpricedItemType");
      if (unpriced && textOf(now) !== undefined) {
        replaceChildren(composite, [unpriced], []);
      }
      amount.write(composite, now, before, reader);
    },
  };
}

/** A period is two dates (List 173, 14 and 15), or one date that is a span (24). */
function periodEnd(role: "14" | "15", end: "from" | "to"): Codec {
  const own = codecAt(`PriceDate[PriceDateRole=${role}]/Date`);
  const spanIn = (price: Element) =>
    childrenOf(price, "PriceDate").find((each) =>
      childValue(each, "PriceDateRole") === "24"
    );
  return {
    ...own,
    find(price) {
      const span = spanIn(price);
      return own.find!(price) ?? (span && child(span, "Date"));
    },
    read(price, reader) {
      const span = spanIn(price);
      const read = span && dateIn(span);
      if (own.find!(price) || !read || !("from" in read)) {
        return own.read(price, reader);
      }
      span!.children.forEach((each) => reader.claim(each));
      if (read.reformatted) {
        const message = `The span is read as ${read.from} to ${read.to}`;
        reader.warn("reformatted", message, child(span!, "Date")!);
      }
      return read[end];
    },
    write(price, now, before, reader) {
      const span = spanIn(price);
      const read = span && dateIn(span);
      if (span && read && "from" in read) {
        replaceChildren(price, [span], [
          dated("14", read.from),
          dated("15", read.to),
        ]);
      }
      own.write(price, now, before, reader);
    },
  };
}

function dated(role: string, day: string): Element {
  const date = element("PriceDate", [element("PriceDateRole", role)]);
  writeDate(date, day);
  return date;
}

/** The digits of durations by their units (List 24): hours, minutes and seconds. */
const DURATIONS: Readonly<Record<string, number>> = { 14: 3, 15: 5, 16: 7 };

/** A duration has leading zeros, which a number has not. Its value and unit are written in any order. */
function partOfExtent(name: "ExtentValue" | "ExtentUnit"): Codec {
  const part = codecAt(name);
  return {
    ...part,
    write(extent, now, before, reader) {
      part.write(extent, now, before, reader);
      const value = child(extent, "ExtentValue");
      const digits = DURATIONS[childValue(extent, "ExtentUnit") ?? ""];
      if (value && digits) value.text = value.text.padStart(digits, "0");
    },
  };
}

/** One bound of a range: a precision and the value that belongs to it, in one composite. */
function rangeValue(precision: string): Codec {
  const find = (range: Element) => {
    const all = childrenOf(range, "AudienceRangePrecision");
    const i = all.findIndex((each) => valueOf(each) === precision);
    const value = childrenOf(range, "AudienceRangeValue")[i];
    return value ? [all[i]!, value] : [];
  };
  return {
    find: (composite) => find(composite)[1],
    read(composite, reader) {
      const [of, value] = find(composite);
      if (!of || !value) return;
      reader.claim(of);
      reader.claim(value);
      return valueOf(value);
    },
    write(composite, now) {
      const found = find(composite);
      const text = textOf(now);
      const wanted = text === undefined ? [] : [
        element("AudienceRangePrecision", precision),
        element("AudienceRangeValue", text),
      ];
      replaceChildren(composite, found, wanted);
    },
    project: scalar,
  };
}

/** The text of collateral: white space belongs to its markup. */
function textCodec(): Codec {
  return {
    ...codecAt("Text"),
    project: (value) => {
      if (typeof value !== "string") return;
      const found = element("Text", value);
      return isMarkedUp(found) ? value.trim() : valueOf(found);
    },
  };
}
