import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  removeChildren,
  replaceChildren,
  valueOf,
} from "../xml/element.ts";
import { elementOf } from "../../../../schema/fields.ts";
import { PERIOD, SCALARS } from "../../../../schema/product.ts";
import { codecAt } from "./path_codec.ts";
import { dateIn, writeDate } from "../xml/dates.ts";
import {
  hasTextSources,
  type OlderElement,
  valuesInSources,
  withOlderSources,
  withoutInSources,
} from "../valid/text_sources.ts";
import { type Codec, textOf } from "./codec.ts";
import { isbnCodec } from "./isbn.ts";
import { isAtSegment, type Segment, segmentsOf } from "./path.ts";
import { subtitle, title } from "./titles.ts";

/* Codecs of the fields that no path describes, by composite and field, each with its reason. */

export const CODECS: Readonly<Record<string, Codec>> = {
  "Product/isbn13": isbnCodec("isbn13"),
  "Product/isbn10": isbnCodec("isbn10"),
  "Product/title": title,
  "Product/subtitle": subtitle,
  "Product/publication_date": publicationDay(),
  "Price/price_amount": priceAmount(),
  "TextContent/text_author": textSource("TextAuthor"),
  "TextContent/text_source_corporate": textSource("TextSourceCorporate"),
  "TextContent/text_source_description": textSource("TextSourceDescription"),
  "TextContent/source_title": sourceTitle(),
  "Price/currency_code": currencyOfPrice(),
  "Price/valid_from": periodEnd("valid_from", "from"),
  "Price/valid_to": periodEnd("valid_to", "to"),
  "AudienceRange/audience_range_exact": rangeValue("01"),
  "AudienceRange/audience_range_from": rangeValue("03"),
  "AudienceRange/audience_range_to": rangeValue("04"),
  "Extent/extent_value": partOfExtent("ExtentValue"),
  "Extent/extent_unit": partOfExtent("ExtentUnit"),
};

/** A date with a day: another one announces the publication. */
function publicationDay(): Codec {
  const field = SCALARS.publication_date;
  const path = elementOf("publication_date", field)!;
  const codec = codecAt(path);
  const [segment] = segmentsOf(path) as [Segment];
  const isDay = (date: unknown) => /^\d{4}-\d\d-\d\d$/.test(String(date));
  return {
    ...codec,
    write(parent, now, before, reader) {
      if (textOf(now) !== undefined) return codec.write(parent, now, before, reader);
      // A month stays: it is one of the other dates.
      const days = parent.children.filter((each) => {
        const read = isAtSegment(segment, each) ? dateIn(each) : undefined;
        return read !== undefined && "date" in read && isDay(read.date);
      });
      replaceChildren(parent, days, []);
    },
    read(parent, reader) {
      const date = codec.read(parent, reader);
      if (date === undefined || isDay(date)) return date;
      reader.warn(
        "imprecise_date",
        "publication_date needs a day: the date is one of publishing_dates",
        codec.find!(parent)!,
      );
    },
  };
}

/** Who wrote a text may be in `TextSource`. Another value is written as the older elements, which both releases have. */
function textSource(older: OlderElement): Codec {
  const codec = codecAt(older);
  return {
    ...codec,
    find: (content) =>
      hasTextSources(content)
        ? valuesInSources(content, older)[0]?.elements[0]
        : codec.find!(content),
    read(content, reader) {
      if (!hasTextSources(content)) return codec.read(content, reader);
      const [own, ...others] = valuesInSources(content, older);
      own?.elements.forEach((each) => reader.claim(each));
      for (const { elements } of others) reader.warnOfOther(elements[0]!, own!.elements[0]!);
      return own?.value;
    },
    write(content, now, before, reader) {
      content.children = textOf(now) === undefined
        ? withoutInSources(content, older)
        : withOlderSources(content);
      codec.write(content, now, before, reader);
    },
  };
}

/** The authors of a text in another publication had their affiliations when they wrote for the former one. */
function sourceTitle(): Codec {
  const title = codecAt("SourceTitle");
  return {
    ...title,
    write(content, now, before, reader) {
      for (const source of childrenOf(content, "TextSource")) {
        removeChildren(source, "ProfessionalAffiliation");
      }
      title.write(content, now, before, reader);
    },
  };
}

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

/** A price without a currency has null, as one that is free of charge may. */
function currencyOfPrice(): Codec {
  const currency = codecAt("CurrencyCode");
  return {
    ...currency,
    read: (price, reader) => currency.read(price, reader) ?? null,
  };
}

/** A period is two dates (List 173, 14 and 15), or one date that is a span (24). */
function periodEnd(name: keyof typeof PERIOD, end: "from" | "to"): Codec {
  const own = codecAt(elementOf(name, PERIOD[name])!);
  const spanIn = (price: Element) =>
    childrenOf(price, "PriceDate").find((each) => childValue(each, "PriceDateRole") === "24");
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

/** A duration has leading zeros, which a number does not have. Its value and unit are written in any order. */
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
      const [code, value] = find(composite);
      if (!code || !value) return;
      reader.claim(code);
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
  };
}
