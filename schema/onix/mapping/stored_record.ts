import { child, childValue, type Element, saySame } from "../xml/element.ts";
import { withhold } from "../xml/withhold.ts";
import { copyIds } from "./ids.ts";
import { BLOCKS } from "./mapped.ts";
import type { Differences } from "./differences.ts";
import { MAPPED_FIELDS } from "./mapping.ts";
import { type Reading, readValues } from "./reading.ts";
import { RecordReader } from "./record_reader.ts";

/*
 * The record that is stored beside a product: read to be compared with the next one, and
 * changed by a partial update.
 */

/** The record last received. Its elements have the ids of what they stand for. */
export interface Received {
  record: Element;
  /** The fields in which the product differed from the record when it was received. */
  differences: Differences | null;
}

/**
 * Reads a stored record. A block that `next` repeats is not read again: it has the values of
 * `next`, whose elements get the ids of its own.
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
    BLOCKS.filter((block) => saySame(allOf(a, block), allOf(b, block))),
  );
}

function withoutBlocks(record: Element, names: ReadonlySet<string>): Element {
  const children = record.children.filter(({ name }) => !names.has(name));
  return { ...record, children };
}

/** The children with this name, those that are withheld, too. */
function allOf({ children }: Element, name: string): Element[] {
  return children.filter((child) => child.name === name);
}

/**
 * The stored record after a partial update: the update's blocks replace its own. Supplies that
 * all have a market reference replace those with the same one.
 */
export function replaceBlocks(stored: Element, update: Element): Element {
  const blocks: readonly string[] = BLOCKS.filter((block) => child(update, block));
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
