import type { Entry } from "../../../../schema/bodies.ts";
import { isInRelease } from "../rules/facts.ts";
import { limits } from "../rules/limits.ts";
import { type Distinct, isEqual, MAX_ENTRIES, objectsIn } from "../../../../schema/objects.ts";
import { checkedArray } from "./checks.ts";
import {
  childrenOf,
  type Element,
  element,
  removeDependents,
  replaceChildren,
} from "../xml/element.ts";
import type { Codec } from "./codec.ts";
import { type Keys, matchEntries, matchKeysOf } from "./matching.ts";
import type { RecordReader } from "./record_reader.ts";
import { missingPart } from "./required.ts";
import { removeOtherDates } from "./dates.ts";
import { renumberIfNumbered } from "./sequence.ts";

/*
 * Codec of an array of objects, each in a composite with the same name. In: the codec of one
 * object. Out: the codec of the array.
 */

/** The codec of an object in its own composite. */
export interface EntryCodec extends Keys {
  read(
    found: Element,
    reader: RecordReader,
  ): Entry | undefined;
  write(
    found: Element,
    now: Entry,
    before: Entry,
    reader: RecordReader,
  ): void;
  project(entry: Entry): Entry;
  /** The entry as the API accepts it, or undefined. */
  accept(
    entry: Entry,
    found: Element,
    reader: RecordReader,
  ): Entry | undefined;
  /** The element of a field of an entry. */
  fieldIn(found: Element, field: string): Element | undefined;
  distinct?: readonly Distinct[] | undefined;
  isRequired?: boolean | undefined;
  /** Whether an entry keeps its other fields if one of them cannot be read. */
  keepsRest?: boolean | undefined;
  /** Whether another field has the content of a composite. */
  isElsewhere?: (found: Element) => boolean;
}

/** Returns the codec of an array of objects in composites with this name. */
export function compositesOf(name: string, codec: EntryCodec): Codec {
  function readEntry(found: Element, reader: RecordReader) {
    const { result: entry, isWhole } = reader.attempt(() => codec.read(found, reader));
    const missing = missingPart(found);
    if (missing !== undefined) reader.warnOfMissing(found, missing);
    else if (entry && (isWhole || codec.keepsRest)) {
      return reader.attempt(() => codec.accept(entry, found, reader)).result;
    }
    return undefined;
  }

  return {
    find: (composite, index = 0) => childrenOf(composite, name)[index],
    read(composite, reader) {
      const all = childrenOf(composite, name).filter((found) =>
        !codec.isElsewhere?.(found) && !isOfOldRelease(found)
      );
      // One more than the API accepts is enough to know that there are too many.
      const read = all.slice(0, MAX_ENTRIES + 1).flatMap((found) => {
        const entry = readEntry(found, reader);
        if (entry) return { found, entry: reader.tie(found, entry) };
        reader.release(found);
        return [];
      });
      return checkedArray(codec, name, composite, read, reader, codec.fieldIn);
    },
    write(composite, now, before, reader) {
      const earlier = objectsIn(before);
      const later = objectsIn(now);
      const elements = earlier.map((entry) => reader.elementOf(entry)!);
      const olds = entriesBefore(earlier, later, codec);
      const written: Element[] = [];
      const wanted = later.map((entry) => {
        const old = olds.get(entry) ?? {};
        const found = reader.elementOf(old) ?? element(name, []);
        if (!isEqual(codec.project(entry), codec.project(old))) {
          codec.write(found, entry, old, reader);
          written.push(found);
        }
        return found;
      });
      replaceChildren(composite, elements, wanted);
      const removed = elements.filter((each) => !wanted.includes(each));
      const unread = childrenOf(composite, name).filter((each) =>
        !wanted.includes(each) && !codec.isElsewhere?.(each)
      );
      removeOtherDates(composite, [...written, ...removed], unread);
      removeDependents(composite, name);
      const isInPlace = wanted.length === elements.length &&
        wanted.every((each, i) => each === elements[i]);
      if (!isInPlace) renumberIfNumbered(childrenOf(composite, name));
      // Of two of a kind, such as dates, a message may have only the first: it must be that of the product.
      if (wanted.length > olds.size) putFirst(wanted, composite);
    },
  };
}

/** Maps entries to their previous states: those with the same row, and those with the same content. */
function entriesBefore(
  earlier: readonly Entry[],
  later: readonly Entry[],
  codec: EntryCodec,
): Map<Entry, Entry> {
  const byId = new Map(earlier.map((entry) => [entry.id, entry]));
  byId.delete(undefined);
  const ofRows = new Map<Entry, Entry>();
  for (const entry of later) {
    const old = byId.get(entry.id);
    if (old) ofRows.set(entry, old);
    byId.delete(entry.id);
  }
  const taken = new Set(ofRows.values());
  const others = matchEntries(
    earlier.filter((entry) => !taken.has(entry)),
    later.filter((entry) => !ofRows.has(entry)),
    (entry) => matchKeysOf(codec.project(entry), codec),
    "key",
  );
  return new Map([...ofRows, ...others]);
}

/** Puts these children of a composite before others of their name, which cannot be read. */
function putFirst(wanted: readonly Element[], composite: Element): void {
  const own = new Set(wanted);
  const isUnread = (each: Element) => each.name === wanted[0]!.name && !own.has(each);
  const unread = composite.children.filter(isUnread);
  const others = composite.children.filter((each) => !isUnread(each));
  const last = others.findLastIndex((each) => own.has(each));
  composite.children = others.toSpliced(last + 1, 0, ...unread);
}

/**
 * Whether an entry has a limit that later releases have no element for. It is then not sent in
 * these.
 */
function isOfOldRelease({ name, children }: Element): boolean {
  return children.some((each) => limits(each.name, name) && !isInRelease("3.1", each.name));
}
