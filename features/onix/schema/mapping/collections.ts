import { about, column, type Fields, required } from "../../../../schema/fields.ts";
import { distinctBy, objectsIn } from "../../../../schema/objects.ts";
import { heading, text } from "../../../../schema/values.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  removeChildren,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import {
  addTitle,
  claimTitle,
  elementOfTitle,
  removeStatements,
  textOfTitle,
  titleElements,
  warnOfTitleCodes,
  writeTitle,
} from "../codecs/titles.ts";
import { check } from "../codecs/checks.ts";
import { type FieldCodec, scalar, textOf, unlessEmpty } from "../codecs/codec.ts";
import { compositesOf, type EntryCodec } from "../codecs/entries.ts";
import { schemaOfEntry } from "../codecs/entry_schemas.ts";
import { missingPart } from "../codecs/required.ts";

/*
 * Collections by their titles, with the number of the product in them.
 */

/** The fields by which a collection is validated. */
const COLLECTION_FIELDS: Fields = {
  name: about("The title.", required(column(heading(500))), "TitleDetail"),
  part_number: about("The number.", column(text(50)), "PartNumber"),
};

const COLLECTION = { fields: COLLECTION_FIELDS };

/** The level of the title of a collection (List 149). */
const LEVEL = "02";

const COLLECTION_ENTRY: EntryCodec = {
  read(collection, reader) {
    warnOfTitleCodes(collection, reader);
    const own = titledElement(collection);
    if (!own) {
      const [first] = titleElements(collection, LEVEL);
      const missing = first && missingPart(first);
      if (missing) reader.warnOfMissing(first, missing);
      return;
    }
    claimTitle(collection, own, reader);
    const number = firstPartNumber(collection);
    if (number) reader.claim(number.found);
    return { name: textOfTitle(own)!, part_number: number?.value ?? null };
  },
  accept: (entry, found, reader) =>
    check(
      schemaOfEntry(COLLECTION),
      entry,
      ([field]) => ({ element: fieldIn(found, field!) ?? found }),
      reader,
      { keepsRest: true },
    ) as typeof entry | undefined,
  fieldIn,
  distinct: [distinctBy("name")],
  write(collection, now, before) {
    if (collection.children.length === 0) setChild(collection, "CollectionType", "10");
    if (now.name !== before.name) {
      const own = titledElement(collection) ?? addTitle(collection, "01", LEVEL);
      writeTitle(own, String(now.name));
    }
    if (scalar(now.part_number) !== scalar(before.part_number)) {
      writePartNumber(collection, textOf(now.part_number));
    }
    for (const own of titleElements(collection, LEVEL)) removeStatements(collection, own);
  },
  project: ({ name, part_number }) => ({
    name,
    ...scalar(part_number) !== undefined && { part_number },
  }),
  key: ["name"],
  apart: [],
  keepsRest: true,
};

const COLLECTIONS = compositesOf("Collection", COLLECTION_ENTRY);

export const collections: FieldCodec = {
  ...COLLECTIONS,
  write(descriptive, now, before, reader) {
    COLLECTIONS.write(descriptive, now, before, reader);
    for (const old of objectsIn(before)) {
      const collection = reader.elementOf(old)!;
      const isGone = !descriptive.children.includes(collection);
      updateTitlesOfProduct(descriptive, old, isGone ? undefined : collection);
    }
  },
  project: (value) => unlessEmpty(objectsIn(value).map(COLLECTION_ENTRY.project)),
};

/**
 * Updates the titles of the product that repeat the title and number of a collection. If the
 * collection is gone, they lose it.
 */
function updateTitlesOfProduct(
  descriptive: Element,
  old: Record<string, unknown>,
  collection: Element | undefined,
): void {
  const titled = collection && titledElement(collection);
  const name = titled && textOfTitle(titled);
  const number = collection && firstPartNumber(collection)?.value;
  const hasOtherNumber = number !== scalar(old.part_number);
  if (name === old.name && !hasOtherNumber) return;
  const own = titleElements(descriptive, "01").find(textOfTitle);
  for (const detail of childrenOf(descriptive, "TitleDetail")) {
    const repeated = childrenOf(detail, "TitleElement").filter((each) =>
      each !== own && childValue(each, "TitleElementLevel") !== "01" &&
      textOfTitle(each) === old.name
    );
    if (repeated.length === 0) continue;
    removeChildren(detail, "TitleStatement");
    if (name === undefined) replaceChildren(detail, repeated, []);
    else {
      for (const each of repeated) {
        writeTitle(each, name);
        if (hasOtherNumber && child(each, "PartNumber")) setChild(each, "PartNumber", number);
      }
    }
  }
}

/** Whether both entries name the same collection. */
export function isSameCollection(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
): boolean {
  return a.name === b.name;
}

function fieldIn(collection: Element, field: string): Element | undefined {
  return field === "name" ? elementOfName(collection) : firstPartNumber(collection)?.found;
}

/** Returns the element with the name of a collection. */
export function elementOfName(collection: Element): Element | undefined {
  const own = titledElement(collection);
  return own && elementOfTitle(own);
}

/** The title element that has a title. */
function titledElement(collection: Element): Element | undefined {
  return titleElements(collection, LEVEL).find(textOfTitle);
}

/** The number of the product: in the title, or else in the order of the titles. */
function firstPartNumber(
  collection: Element,
): { found: Element; value: string } | undefined {
  const found = partNumbersIn(collection)[0];
  const value = valueOf(found);
  return found && value ? { found, value } : undefined;
}

/** The elements that have the number: in a title, and in the order of the titles (List 197, 02). */
function partNumbersIn(collection: Element): Element[] {
  const withValue = (found: Element | undefined) => valueOf(found) === undefined ? [] : [found!];
  const inTitles = titleElements(collection, LEVEL).flatMap((one) =>
    withValue(child(one, "PartNumber"))
  );
  const inOrders = childrenOf(collection, "CollectionSequence").flatMap((one) =>
    childValue(one, "CollectionSequenceType") === "02"
      ? withValue(child(one, "CollectionSequenceNumber"))
      : []
  );
  return [...inTitles.slice(0, 1), ...inOrders];
}

function writePartNumber(collection: Element, number: string | undefined): void {
  const known = partNumbersIn(collection);
  if (number === undefined) {
    for (const one of titleElements(collection, LEVEL)) {
      setChild(one, "PartNumber", undefined);
    }
    collection.children = collection.children.filter((one) =>
      one.name !== "CollectionSequence" ||
      childValue(one, "CollectionSequenceType") !== "02"
    );
  } else if (known.length > 0) {
    for (const found of known) found.text = number;
  } else {
    const [own] = titleElements(collection, LEVEL);
    setChild(own ?? addTitle(collection, "01", LEVEL), "PartNumber", number);
  }
}
