import { childValue, type Element, haveSameContent } from "../xml/element.ts";
import { withhold } from "../withheld/withhold.ts";
import { copyIds } from "../codecs/ids.ts";
import { BLOCKS, hasBlock } from "../mapping/mapped.ts";
import type { Differences } from "../merge/differences.ts";
import { MAPPED_FIELDS } from "../mapping/mapping.ts";
import { type Reading, readValues } from "../mapping/reading.ts";
import { RecordReader } from "../codecs/record_reader.ts";

/*
 * The stored record of a product. It is read to be the base of a merge, and changed by a partial
 * update.
 */

/** The record last received. Its elements have the ids of their rows. */
export interface Received {
  record: Element;
  /** The fields in which the product differed from the record when it was received. */
  differences: Differences | null;
}

/**
 * Reads a stored record. A block that is equal in `next` is not read again: it has the values of
 * `next`, whose elements get its ids.
 */
export function readStoredRecord(
  record: Element,
  next?: Pick<Reading, "record" | "values">,
): Reading {
  const same = next ? sameBlocks(record, next.record) : NO_BLOCKS;
  const others = withoutBlocks(record, same);
  withhold(others);
  const reader = new RecordReader(others, { isSilent: true });
  const values = readValues(others, reader);
  for (const block of same) {
    copyIds(allOf(record, block), allOf(next!.record, block));
  }
  for (const [name, { block }] of MAPPED_FIELDS) {
    if (block && same.has(block)) values[name] = next!.values[name];
  }
  return { record, values, reader };
}

const NO_BLOCKS: ReadonlySet<string> = new Set();

function sameBlocks(a: Element, b: Element): ReadonlySet<string> {
  return new Set(
    BLOCKS.filter((block) => haveSameContent(allOf(a, block), allOf(b, block))),
  );
}

function withoutBlocks(record: Element, names: ReadonlySet<string>): Element {
  const children = record.children.filter(({ name }) => !names.has(name));
  return { ...record, children };
}

/** Returns the children with this name, including withheld ones. */
function allOf({ children }: Element, name: string): Element[] {
  return children.filter((child) => child.name === name);
}

/**
 * The stored record after a partial update: the update's blocks replace its own. Supplies that
 * all have a market reference replace those with the same one.
 */
export function replaceBlocks(stored: Element, update: Element): Element {
  const blocks: readonly string[] = BLOCKS.filter((block) => hasBlock(update, block));
  const references = marketReferencesIn(update);
  const isOfOtherMarket = (each: Element) =>
    each.name === "ProductSupply" && references !== undefined &&
    !references.includes(childValue(each, "MarketReference"));
  const others = stored.children.filter((each) =>
    !blocks.includes(each.name) || isOfOtherMarket(each)
  );
  const added = update.children.filter(({ name }) => blocks.includes(name));
  const order = (name: string) => BLOCKS.findIndex((block) => block === name);
  return {
    ...stored,
    children: [...others, ...added].sort((a, b) => order(a.name) - order(b.name)),
  };
}

/** The market references of all supplies in a record, also of withheld ones, if each has one. */
function marketReferencesIn(record: Element) {
  const references = allOf(record, "ProductSupply").map((supply) =>
    childValue(supply, "MarketReference")
  );
  return references.includes(undefined) ? undefined : references;
}
