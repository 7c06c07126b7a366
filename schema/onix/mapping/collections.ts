import { about, column, type Fields, required } from "../../fields.ts";
import { distinctBy, objectsIn } from "../../objects.ts";
import { heading, text } from "../../values.ts";
import { child, childrenOf, childValue, type Element, setChild, valueOf } from "../xml/element.ts";
import {
  addTitle,
  claimTitle,
  removeStatements,
  titleElements,
  titleIn,
  titleOf,
  warnOfTitleCodes,
  writeTitle,
} from "./titles.ts";
import { check } from "./checks.ts";
import { anyOf, type FieldCodec, scalar, textOf } from "./codec.ts";
import { compositesOf, type EntryCodec } from "./entries.ts";
import { schemaOfEntry } from "./entry_schemas.ts";
import { missingPart } from "./required.ts";

/*
 * Collections by their titles, with the number of the product in them.
 */

/** What a collection is checked against. */
export const COLLECTION_FIELDS: Fields = {
  name: about("The title.", required(column(heading(500))), "TitleDetail"),
  part_number: about("The number.", column(text(50)), "PartNumber"),
};

const COLLECTION = { fields: COLLECTION_FIELDS };

/** The level of the title of a collection (List 149). */
const LEVEL = "02";

const COLLECTION_ENTRY: EntryCodec = {
  read(each, reader) {
    warnOfTitleCodes(each, reader);
    const all = titleElements(each, LEVEL);
    const own = all.find(titleOf);
    if (!own) {
      const missing = all[0] && missingPart(all[0]);
      if (missing) reader.lacks(all[0]!, missing);
      return;
    }
    claimTitle(each, own, reader);
    const number = partNumberIn(each);
    if (number) reader.claim(number.found);
    return { name: titleOf(own)!, part_number: number?.value ?? null };
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
  write(each, now, before) {
    if (each.children.length === 0) setChild(each, "CollectionType", "10");
    if (now.name !== before.name) {
      const own = titleElements(each, LEVEL).find(titleOf) ??
        addTitle(each, "01", LEVEL);
      writeTitle(own, String(now.name));
    }
    if (scalar(now.part_number) !== scalar(before.part_number)) {
      writePartNumber(each, textOf(now.part_number));
    }
    for (const own of titleElements(each, LEVEL)) removeStatements(each, own);
  },
  project: ({ name, part_number }) => ({
    name,
    ...scalar(part_number) !== undefined && { part_number },
  }),
  key: ["name"],
  apart: [],
  keepsRest: true,
};

export const collections: FieldCodec = {
  ...compositesOf("Collection", COLLECTION_ENTRY),
  project: (value) => anyOf(objectsIn(value).map(COLLECTION_ENTRY.project)),
};

/** Whether both entries name one collection. */
export function isSameCollection(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
): boolean {
  return a.name === b.name;
}

function fieldIn(each: Element, field: string): Element | undefined {
  return field === "name" ? elementOfName(each) : partNumberIn(each)?.found;
}

/** The element that says the name of a collection. */
export function elementOfName(each: Element): Element | undefined {
  const own = titleElements(each, LEVEL).find(titleOf);
  return own && titleIn(own);
}

/** The number of the product: in the title, or else in the order of the titles. */
function partNumberIn(
  each: Element,
): { found: Element; value: string } | undefined {
  const found = partNumbersIn(each)[0];
  const value = valueOf(found);
  return found && value ? { found, value } : undefined;
}

/** The elements that have the number: in a title, and in the order of the titles (List 197, 02). */
function partNumbersIn(each: Element): Element[] {
  const hasValue = (found: Element | undefined) => valueOf(found) === undefined ? [] : [found!];
  const inTitles = titleElements(each, LEVEL).flatMap((one) => hasValue(child(one, "PartNumber")));
  const inOrders = childrenOf(each, "CollectionSequence").flatMap((one) =>
    childValue(one, "CollectionSequenceType") === "02"
      ? hasValue(child(one, "CollectionSequenceNumber"))
      : []
  );
  return [...inTitles.slice(0, 1), ...inOrders];
}

function writePartNumber(each: Element, number: string | undefined): void {
  const known = partNumbersIn(each);
  if (number === undefined) {
    for (const one of titleElements(each, LEVEL)) {
      setChild(one, "PartNumber", undefined);
    }
    each.children = each.children.filter((one) =>
      one.name !== "CollectionSequence" ||
      childValue(one, "CollectionSequenceType") !== "02"
    );
  } else if (known.length > 0) {
    for (const found of known) found.text = number;
  } else {
    const [own] = titleElements(each, LEVEL);
    setChild(own ?? addTitle(each, "01", LEVEL), "PartNumber", number);
  }
}
