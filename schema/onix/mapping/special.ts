import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  isMarkedUp,
  valueOf,
} from "../xml/element.ts";
import { readDate, writeDate } from "./dates.ts";
import { shortest, withPoint } from "../rules/kinds.ts";
import {
  type Part,
  replaceChildren,
  scalar,
  setChild,
  textOf,
} from "./part.ts";

/*
 * The fields of entries that do not map straight, by composite and field.
 */

export const SPECIAL: Readonly<Record<string, Part>> = {
  "PublishingDate/date": date(),
  "MarketDate/date": date(),
  "SupplyDate/date": date(),
  "CitedContent/publication_date": dated("ContentDate", "01"),
  "Price/valid_from": dated("PriceDate", "14"),
  "Price/valid_to": dated("PriceDate", "15"),
  "Price/price_amount": priceAmount(),
  "AudienceRange/audience_range_exact": rangeValue("01"),
  "AudienceRange/audience_range_from": rangeValue("03"),
  "AudienceRange/audience_range_to": rangeValue("04"),
  "TextContent/text": text(),
  "TextContent/text_format": attributeOf("Text", "textformat"),
  "TextContent/language": attributeOf("Text", "language"),
};

/** The date of a composite whose role is a field of its own. */
function date(): Part {
  return {
    read(composite, reading) {
      const value = readDate(composite);
      if (value === undefined) return;
      reading.use(child(composite, "Date")!);
      const format = child(composite, "DateFormat");
      if (format) reading.use(format);
      return value;
    },
    write(composite, now) {
      if (typeof now === "string") writeDate(composite, now);
    },
    project: scalar,
  };
}

/** The date with one role. */
function dated(name: string, role: string): Part {
  const withRole = (composite: Element) =>
    childrenOf(composite, name).find((each) =>
      childValue(each, `${name}Role`) === role
    );
  return {
    read(composite, reading) {
      const found = withRole(composite);
      const value = found && readDate(found);
      if (value === undefined) return;
      found!.children.forEach((child) => reading.use(child));
      return value;
    },
    write(composite, now) {
      const found = withRole(composite);
      if (typeof now !== "string") {
        if (found) replaceChildren(composite, [found], []);
        return;
      }
      const target = found ?? element(name, [element(`${name}Role`, role)]);
      if (!found) composite.children.push(target);
      writeDate(target, now);
    },
    project: scalar,
  };
}

/** A price of 0 is an item that is free of charge (List 57, 01). */
function priceAmount(): Part {
  const amount = "PriceAmount";
  return {
    read(composite, reading) {
      const found = child(composite, amount);
      const value = valueOf(found);
      if (found && value) {
        reading.use(found);
        if (withPoint(value) !== value) reading.warnOfComma(found);
        return shortest(withPoint(value));
      }
      const unpriced = child(composite, "UnpricedItemType");
      if (valueOf(unpriced) !== "01") return;
      reading.use(unpriced!);
      return "0";
    },
    write(composite, now) {
      const text = textOf(now);
      const unpriced = child(composite, "UnpricedItemType");
      if (unpriced && text !== undefined) {
        replaceChildren(composite, [unpriced], []);
      }
      setChild(composite, amount, text);
    },
    project: scalar,
  };
}

/** One bound of a range: a precision with the value that follows it. */
function rangeValue(precision: string): Part {
  const find = ({ children }: Element) => {
    const i = children.findIndex((each, i) =>
      each.name === "AudienceRangePrecision" && valueOf(each) === precision &&
      children[i + 1]?.name === "AudienceRangeValue"
    );
    return i < 0 ? [] : [children[i]!, children[i + 1]!];
  };
  return {
    read(composite, reading) {
      const [of, value] = find(composite);
      if (!of || !value) return;
      reading.use(of);
      reading.use(value);
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

/** The text of collateral, with its markup. */
function text(): Part {
  return {
    read(composite, reading) {
      const found = child(composite, "Text");
      const value = valueOf(found);
      if (found && value) reading.use(found);
      return value;
    },
    write(composite, now) {
      setChild(composite, "Text", textOf(now));
    },
    project: (value) => {
      if (typeof value !== "string") return;
      const found = element("Text", value);
      return isMarkedUp(found) ? value.trim() : valueOf(found);
    },
  };
}

/** An attribute of a data element. */
function attributeOf(name: string, attribute: string): Part {
  return {
    read: (composite) => child(composite, name)?.attributes[attribute],
    write(composite, now) {
      const found = child(composite, name);
      if (!found) return;
      const { [attribute]: _, ...others } = found.attributes;
      const value = textOf(now);
      found.attributes = value === undefined
        ? others
        : { ...others, [attribute]: value };
    },
    project: scalar,
  };
}
