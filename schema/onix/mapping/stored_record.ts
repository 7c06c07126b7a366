import { child, childrenOf, childValue, type Element, saySame } from "../xml/element.ts";
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
 * Reads the values that a product can have. Blocks in which the next record says the same have
 * its values: they are not read, and the ids of their elements go to that.
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

/** The stored record after a partial update: the update's blocks replace its own. */
export function replaceBlocks(stored: Element, update: Element): Element {
  const blocks = BLOCKS.filter((block) => child(update, block));
  const references = marketReferencesIn(update);
  const isReplaced = (each: Element) =>
    each.name === "ProductSupply" && references
      ? references.includes(childValue(each, "MarketReference")!)
      : (blocks as string[]).includes(each.name);
  const children = stored.children.filter((each) => !isReplaced(each));
  const added = update.children.filter(({ name }) => (blocks as string[]).includes(name));
  const order = (name: string) => (BLOCKS as readonly string[]).indexOf(name);
  return {
    ...stored,
    children: [...children, ...added].sort((a, b) => order(a.name) - order(b.name)),
  };
}

/** The market references of all product supplies in a record, if all have one. */
function marketReferencesIn(record: Element): string[] | undefined {
  const references = childrenOf(record, "ProductSupply").map((supply) =>
    childValue(supply, "MarketReference")
  );
  return references.length > 0 && !references.includes(undefined)
    ? references as string[]
    : undefined;
}
