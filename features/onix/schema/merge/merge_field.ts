import type { Entry } from "../../../../schema/bodies.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { PARTIAL } from "../rules/notifications.ts";
import { isSameCollection } from "../mapping/collections.ts";
import type { ReportConflict, Side } from "./conflicts.ts";
import { repeatedRows } from "../mapping/contributors.ts";
import { coverOf } from "../mapping/cover.ts";
import type { Differences } from "./differences.ts";
import { type Block, type Book, isParty } from "../mapping/mapped.ts";
import { MAPPING } from "../mapping/mapping.ts";
import { mergeRows } from "./merge_entries.ts";
import { MERGED_ARRAYS } from "./merged_arrays.ts";
import { isSamePerson } from "../mapping/person.ts";
import { locationOfChange, parentOf } from "./locations.ts";
import { isAnnounced } from "./publication.ts";
import { elementOfField, type Reading } from "../mapping/reading.ts";
import type { RecordReader } from "../codecs/record_reader.ts";
import { type Changes, changesOf, type ThreeWay } from "./three_way.ts";
import { valueInWords } from "./words.ts";

/*
 * Merges one field. In: its base, incoming and local value. Out: the value to write, or none if the
 * local one stays. The elements of the incoming record get the ids of the rows or records that they
 * became.
 */

/** The new record, as its sender wrote it. */
interface Update extends Reading {
  notification: string;
  blocks: readonly Block[];
}

/** The sender's previous record. The elements of its entries have ids. */
export interface BaseRecord extends Reading {
  differences: Differences | null;
}

/** The records and the product of a merge. */
export interface Sources {
  update: Update;
  /** The record to store: the update, or for a partial one the base with the blocks of the update. */
  incoming: Reading;
  base: BaseRecord | null;
  /** The product. */
  local: Book;
}

/** The sources of a merge, with what the merge of each field needs. */
export interface Merging extends Sources {
  /** The differences between product and base that are not edits. */
  differences: Differences;
  winner: Side;
  reportConflict: ReportConflict;
  newId: () => string;
}

/** The value to write, or whether the one that stays was edited. */
type MergedField = { value: unknown } | { isEdited: boolean };

/** Merges a field. The local value stays unless the sender has changed it. */
export function mergeField(name: string, sides: ThreeWay, merging: Merging): MergedField {
  const { base, incoming, local } = sides;
  const { update, differences } = merging;
  const { isIncomingChanged, isLocalChanged, isConflict } = changesOfField(
    name,
    sides,
    differences,
  );
  // Runs even if nothing is written, since it gives the elements of the record their ids.
  const rows = mergedRows(name, sides, merging);
  if (isIncomingChanged && hasField(name, update, local)) {
    if (rows) return { value: rows };
    const isReported = isConflict && !isCoverOfResources(name, merging.local);
    if (isReported) reportFieldConflict(name, sides, merging);
    if (!isReported || merging.winner === "incoming") {
      return { value: withoutRepeats(name, incoming) };
    }
  }
  if (rows) return { isEdited: isLocalChanged };
  if (!isIncomingChanged) keepReference(name, merging);
  keepIds(name, base, incoming, merging.incoming.reader);
  return { isEdited: isLocalChanged };
}

function reportFieldConflict(
  name: string,
  { base, incoming, local }: ThreeWay,
  merging: Merging,
): void {
  merging.reportConflict(
    locationOfChange(name, base, incoming, merging.incoming),
    valueInWords(incoming),
    valueInWords(local),
  );
}

/** Finds which sides have changed a field. Its known difference from the base is no edit. */
function changesOfField(name: string, sides: ThreeWay, differences: Differences): Changes {
  const { project } = MAPPING[name]!;
  const local = project(sides.local);
  const base = sides.base === sides.local ? local : project(sides.base);
  const incoming = sides.incoming === sides.base ? base : project(sides.incoming);
  const unedited = Object.hasOwn(differences, name) ? differences[name] ?? undefined : base;
  return changesOf({ base, incoming, local }, unedited);
}

/** Merges an array entry by entry. Returns undefined if it is merged as one value, or nothing has changed. */
function mergedRows(
  name: string,
  { base, incoming, local }: ThreeWay,
  merging: Merging,
): Entry[] | undefined {
  const array = MERGED_ARRAYS[name];
  if (!array || incoming === base) return;
  const { winner, reportConflict, newId } = merging;
  return mergeRows(
    array,
    { base: objectsIn(base), incoming: objectsIn(incoming), local: objectsIn(local) },
    parentOf(merging.incoming.record, MAPPING[name]!),
    {
      incoming: merging.incoming.reader,
      base: merging.base?.reader,
      winner,
      reportConflict,
      newId,
    },
  );
}

/** Whether the update has the field. A partial update has those of its blocks. An unreadable field counts as absent. */
export function hasField(name: string, update: Update, local: unknown): boolean {
  const { block } = MAPPING[name]!;
  const isDayUnknown = name === "publication_date" && isAnnounced(local);
  const isUnread = update.reader.unreadableFields.has(name) && !(name in ARRAYS) &&
    !isDayUnknown;
  return !isUnread &&
    (update.notification !== PARTIAL || block !== null && update.blocks.includes(block));
}

/** Whether the field is the cover and a resource links to it. A conflict is then reported for the resource. */
function isCoverOfResources(name: string, { product }: Book): boolean {
  return name === "cover_image_url" &&
    product.cover_image_url === coverOf(product.supporting_resources);
}

/** A value without rows that repeat others. */
function withoutRepeats(name: string, value: unknown): unknown {
  if (name !== "contributors") return value;
  const repeated = repeatedRows(value);
  return repeated.size === 0 ? value : objectsIn(value).filter((row) => !repeated.has(row));
}

/** Gives the element of a party the id that the same element of the base has. */
function keepReference(name: string, { incoming, base, local }: Sources): void {
  if (!isParty(name)) return;
  const found = elementOfField(incoming.record, name);
  const id = base ? elementOfField(base.record, name)?.id : local.product[MAPPING[name]!.field];
  if (found && id) found.id = id as string;
}

/** Gives the elements of contributors and collections the ids that the same elements of the base have. */
function keepIds(name: string, base: unknown, incoming: unknown, reader: RecordReader): void {
  const isSame = IS_SAME[name];
  if (!isSame || incoming === base) return;
  const free = new Set(objectsIn(base));
  for (const entry of objectsIn(incoming)) {
    const known = free.values().find((one) => isSame(one, entry));
    if (!known) continue;
    free.delete(known);
    if (known.id) reader.elementOf(entry)!.id = known.id as string;
  }
}

/** The arrays that refer to records, and whether two entries refer to the same one. */
const IS_SAME: Readonly<Record<string, (a: Entry, b: Entry) => boolean>> = {
  contributors: isSamePerson,
  collections: isSameCollection,
};
