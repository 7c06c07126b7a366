import { about, column, type Fields, required } from "../../fields.ts";
import { heading, text } from "../../values.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  replaceChildren,
  setChild,
} from "../xml/element.ts";
import {
  addTitle,
  claimTitle,
  titleElements,
  titleIn,
  titleOf,
  warnOfTitleCodes,
  writeTitle,
} from "./titles.ts";
import { type Codec, scalar, textOf } from "./record_reader.ts";
import { compositesOf } from "./entries.ts";

/*
 * Collections by their titles, with the number of the product in them.
 */

/** What a collection is checked against. */
export const COLLECTION_FIELDS: Fields = {
  name: about("The title.", required(column(heading(500))), "TitleDetail"),
  part_number: about("The number.", column(text(50)), "PartNumber"),
};

/** The level of the title of a collection (List 149). */
const LEVEL = "02";

export const collections: Codec = compositesOf("Collection", {
  read(each, reader) {
    warnOfTitleCodes(each, reader);
    const own = titleElements(each, LEVEL).find(titleOf);
    if (!own) return;
    claimTitle(each, own, reader);
    const number = numberIn(each);
    if (number) reader.claim(number.found);
    const collection = {
      name: titleOf(own)!,
      part_number: number?.value ?? null,
    };
    return reader.tie(each, collection, {
      name: titleIn(own)!,
      ...number && { part_number: number.found },
    });
  },
  write(each, now, before) {
    if (each.children.length === 0) setChild(each, "CollectionType", "10");
    if (now.name !== before.name) {
      const own = titleElements(each, LEVEL).find(titleOf) ??
        addTitle(each, "01", LEVEL);
      writeTitle(own, String(now.name));
    }
    if (scalar(now.part_number) !== scalar(before.part_number)) {
      writeNumber(each, textOf(now.part_number));
    }
  },
  project: ({ name, part_number }) => ({
    name,
    ...scalar(part_number) !== undefined && { part_number },
  }),
  key: ["name"],
  apart: [],
  keepsRest: true,
});

/** Whether both entries name one collection. */
export function isSameCollection(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
): boolean {
  return a.name === b.name;
}

/** The element that says the name of a collection. */
export function elementOfName(each: Element): Element | undefined {
  const own = titleElements(each, LEVEL).find(titleOf);
  return own && titleIn(own);
}

/** The number of the product: in the title, or else in the order of the titles (List 197, 02). */
function numberIn(
  each: Element,
): { found: Element; value: string } | undefined {
  const [own] = titleElements(each, LEVEL);
  const inTitle = [own, ...titleElements(each, LEVEL)].find((one) =>
    one && childValue(one, "PartNumber")
  );
  if (inTitle) {
    const found = child(inTitle, "PartNumber")!;
    return { found, value: childValue(inTitle, "PartNumber")! };
  }
  const sequences = childrenOf(each, "CollectionSequence");
  const sequence = sequences.find((one) =>
    childValue(one, "CollectionSequenceType") === "02"
  );
  const value = sequence && childValue(sequence, "CollectionSequenceNumber");
  if (!value) return;
  return { found: child(sequence, "CollectionSequenceNumber")!, value };
}

function writeNumber(each: Element, number: string | undefined): void {
  const known = numberIn(each);
  if (known && number !== undefined) {
    known.found.text = number;
    return;
  }
  const [own] = titleElements(each, LEVEL);
  if (number === undefined) {
    for (const one of titleElements(each, LEVEL)) {
      setChild(one, "PartNumber", undefined);
    }
    const sequences = childrenOf(each, "CollectionSequence").filter((one) =>
      childValue(one, "CollectionSequenceType") === "02"
    );
    replaceChildren(each, sequences, []);
  } else setChild(own ?? addTitle(each, "01", LEVEL), "PartNumber", number);
}
