import { bareIsbn, isbnFieldOf } from "../../../../schema/values.ts";
import { isZero } from "../rules/decimals.ts";
import type { Release } from "../rules/releases.ts";
import { bareDateIn, dateElement, dateIn, isBareDate, writeDate } from "../xml/dates.ts";
import {
  child,
  childrenOf,
  childValue,
  copyOf,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { withOneSeriesOfNumbers } from "./contributor_numbers.ts";
import { withRestrictionsInPlace } from "./restrictions.ts";
import { withOlderSources, withoutOlderBesideSources } from "./text_sources.ts";

/*
 * Converts a composite to a release: elements that the other release has under another name, in
 * another composite or in another form. ISBNs, dates and prices of 0 have one form in both.
 */

/** Returns the children of a composite as the release has them. */
export function converted(given: Element, release: Release): Element[] {
  const { name, children } = given;
  switch (name) {
    case "Product":
      return release === "3.1" ? withRestrictionsInPlace(children) : children;
    case "Territory":
      return withoutIdle(given);
    case "Price":
      return withoutZero(given);
    case "ProductIdentifier":
      return withBareIsbn(given);
    case "SalesRestriction":
      return children.map(withDayInForm);
    case "DescriptiveDetail":
      return release === "3.1" ? withOneSeriesOfNumbers(inRelease31(children)) : children;
    case "Imprint":
    case "Publisher":
      return release === "3.1" ? children : withName(given, `${name}Name`);
    case "SalesRights":
      return release === "3.1" ? children : withName(given, "PublisherName");
    case "TextContent":
      return release === "3.1" ? withoutOlderBesideSources(given) : withOlderSources(given);
  }
  const date = child(given, "Date");
  return date ? withDateInForm(given, date, release) : children;
}

/** A composite with an inverted name alone, which release 3.0 does not have, with that as its name. */
function withName(given: Element, name: string): Element[] {
  const inverted = child(given, `${name}Inverted`);
  if (!inverted || childValue(given, name) !== undefined) return given.children;
  return given.children.map((each) => each === inverted ? { ...each, name } : each);
}

/** The audiences and conferences of release 3.0 as release 3.1 has them. */
function inRelease31(children: readonly Element[]): Element[] {
  const audiences = new Set(children.flatMap((each) => onixAudienceOf(each) ?? []));
  return children.flatMap((each) => {
    if (each.name === "Conference") return [asEvent(each)];
    if (each.name !== "AudienceCode") return [each];
    // Many senders of 3.0 write both forms.
    if (audiences.has(valueOf(each) ?? "")) return [];
    return [
      element("Audience", [
        element("AudienceCodeType", "01"),
        element("AudienceCodeValue", each.text),
      ]),
    ];
  });
}

/** The code of an `Audience` of ONIX List 28. */
function onixAudienceOf(audience: Element): string | undefined {
  const isOnix = audience.name === "Audience" && childValue(audience, "AudienceCodeType") === "01";
  return isOnix ? childValue(audience, "AudienceCodeValue") : undefined;
}

/** The children of a dated composite. The date has the form of its format, which release 3.1 has in an attribute. */
function withDateInForm(
  given: Element,
  date: Element,
  release: Release,
): Element[] {
  const read = dateIn(given);
  if (read && "reformatted" in read) {
    const copy = copyOf(given);
    const own = child(copy, "Date")!;
    if ("date" in read) writeDate(copy, read.date);
    else own.text = own.text.replace(/\D/g, "");
    return withDateInForm(copy, own, release);
  }
  const format = valueOf(child(given, "DateFormat"));
  if (format === undefined || release === "3.0") return given.children;
  return given.children.flatMap((child) => {
    if (child.name === "DateFormat") return [];
    if (child !== date) return [child];
    const attributes = { dateformat: format, ...child.attributes };
    return [{ ...child, attributes }];
  });
}

/** Converts a date without a composite of its own to its format. */
function withDayInForm(found: Element): Element {
  const read = isBareDate(found.name) ? bareDateIn(found) : undefined;
  if (!read || !("reformatted" in read) || !("date" in read)) return found;
  return dateElement(found.name, read.date);
}

/** Which ISBN an identifier is, if it is one. */
export function isbnOf(identifier: Element): "isbn13" | "isbn10" | undefined {
  const type = childValue(identifier, "ProductIDType");
  return isbnFieldOf(type, childValue(identifier, "IDValue"));
}

/** An identifier whose ISBN has no hyphens. */
function withBareIsbn(identifier: Element): Element[] {
  const { children } = identifier;
  return isbnOf(identifier)
    ? children.map((child) =>
      child.name === "IDValue" ? { ...child, text: bareIsbn(child.text.trim()) } : child
    )
    : children;
}

/** Removes countries that its regions contain from a territory, since ONIX has no place for them. */
function withoutIdle(territory: Element): Element[] {
  const { children } = territory;
  const regions = childValue(territory, "RegionsIncluded")?.split(" ") ?? [];
  const isOfWorld = regions.includes("WORLD") &&
    child(territory, "CountriesExcluded") !== undefined;
  const idle = regions.length === 0
    ? "CountriesExcluded"
    : isOfWorld
    ? "CountriesIncluded"
    : undefined;
  return idle ? children.filter((each) => each.name !== idle) : children;
}

/** The children of a price, which of 0 is an item that is free of charge, or unpriced for the reason given. */
function withoutZero(price: Element): Element[] {
  const { children } = price;
  const zero = childrenOf(price, "PriceAmount").find(({ text }) => isZero(text.trim()));
  if (!zero) return children;
  const reason = child(price, "UnpricedItemType") ??
    element("UnpricedItemType", "01");
  return children.flatMap((each) => each === zero ? [reason] : each === reason ? [] : [each]);
}

/** A conference of release 3.0 as an event: the same elements under other names. */
function asEvent(conference: Element): Element {
  const renamed = renamedFrom(conference);
  if (!child(renamed, "EventRole")) {
    renamed.children.unshift(element("EventRole", "01"));
  }
  return renamed;
}

function renamedFrom({ name, children, markup: _, ...rest }: Element): Element {
  return {
    ...rest,
    name: name.replace(/^Conference/, "Event"),
    children: children.map(renamedFrom),
  };
}
