import type { Message } from "../report/message.ts";
import { conflictTeller } from "./conflicts.ts";
import { MAPPED_FIELDS } from "./mapping.ts";
import { mergeField, type Merging, saysField, type Sources } from "./merge_field.ts";
import type { Edits } from "./options.ts";
import { DATES, withOneDate, withOwnDates } from "./publication.ts";
import type { RecordValues } from "./reading.ts";
import { rivalPrices } from "./rival_prices.ts";

/*
 * What a record changes of a product that was edited here. In: the last record of its
 * sender, the new one, and the product. Out: the values to write, which are those that the
 * sender has changed, and ids on the elements of the new record. Entries of the last record
 * are told from each other by the ids of the rows that their elements stand for.
 */

/** What is written of a product because of a record. */
export interface Merged {
  /** The values that are written, by field. Undefined: the record has none. */
  written: RecordValues;
  messages: Message[];
  /** The fields that stay as they are here, where they were edited. */
  edited: ReadonlySet<string>;
}

/**
 * Compares the last record of the sender, the new one, and the product. What the sender has
 * left alone stays as it is here. What the sender has changed is written, unless it was
 * edited here and `edits` is `protect`. With `overwrite`, and for a product without a record,
 * the product counts as what the sender said last: it has no edits.
 */
export function mergeEdits(
  { incoming, now, last: lastOfSender, book }: Sources,
  edits: Edits,
  newId: () => string,
): Merged {
  const last = edits === "overwrite" ? null : lastOfSender;
  // The day of publication is a field, its month or year an entry: they are compared as one value.
  const differences = withOneDate(last?.differences ?? {});
  const messages: Message[] = [];
  const tellConflict = conflictTeller(incoming.reader, edits, messages);
  const merging: Merging = { incoming, now, last, book, differences, tellConflict, newId };
  const here = withOneDate(
    Object.fromEntries(MAPPED_FIELDS.map(([name, { valueIn }]) => [name, valueIn(book)])),
  );
  const before = last ? withOneDate(last.values) : here;
  const after = withOneDate(now.values);

  const written: RecordValues = {};
  const edited = new Set<string>();
  for (const [name] of MAPPED_FIELDS) {
    const versions = { before: before[name], after: after[name], here: here[name] };
    const outcome = mergeField(name, versions, merging);
    if ("value" in outcome) written[name] = outcome.value;
    else if (outcome.isEdited) edited.add(name);
  }
  settleCover(written, edited);
  settleDates(written, edited, here, now.values);
  const { product_territories } = { ...here, ...written };
  if (saysField("product_territories", incoming, product_territories)) {
    messages.push(...rivalPrices(product_territories, now.record, incoming));
  }
  return { written, messages, edited };
}

/** The cover is a link of the resources, so it stays with them. */
function settleCover(written: RecordValues, edited: Set<string>): void {
  if (!edited.has("supporting_resources")) return;
  delete written.cover_image_url;
  edited.add("cover_image_url");
}

/** The date of publication was compared as one value: a product has it in two fields. */
function settleDates(
  written: RecordValues,
  edited: Set<string>,
  here: RecordValues,
  said: RecordValues,
): void {
  if (DATES.some((name) => edited.has(name))) {
    for (const name of DATES) edited.add(name);
  }
  if (DATES.some((name) => name in written)) {
    Object.assign(written, withOwnDates({ ...here, ...written }, said));
  }
}
