import { bareIsbn, isbnFieldOf } from "../../values.ts";
import type { Release } from "../rules/releases.ts";
import { bareDateIn, dateElement, dateIn, isBareDate, writeDate } from "./dates.ts";
import {
  child,
  childrenOf,
  childValue,
  copyOf,
  type Element,
  element,
  valueOf,
} from "./element.ts";
import { withRestrictionsInPlace } from "./restrictions.ts";

/*
 * What a composite says, in the terms of a release: what the other one says in another
 * element, place or form. ISBNs, dates and prices of 0 have one form in both.
 */

/** The children of a composite in the terms of the release. */
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
      return release === "3.1" ? children.map(inRelease31) : children;
  }
  const date = child(given, "Date");
  return date ? withDateInForm(given, date, release) : children;
}

/** An audience or a conference of release 3.0 as release 3.1 has it. */
function inRelease31(each: Element): Element {
  if (each.name === "Conference") return asEvent(each);
  if (each.name !== "AudienceCode") return each;
  return element("Audience", [
    element("AudienceCodeType", "01"),
    element("AudienceCodeValue", each.text),
  ]);
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

/** A date that stands in no composite of its own, in the form of its format. */
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

/** A territory without countries that say nothing beside its regions: ONIX has no place for them. */
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
  const zero = childrenOf(price, "PriceAmount").find(({ text }) =>
    /^(?:0+|0*[.,]0+)$/.test(text.trim())
  );
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
