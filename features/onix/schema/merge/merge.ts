import type { Message } from "../report/message.ts";
import { conflictReporter, winnerOf } from "./conflicts.ts";
import { MAPPED_FIELDS } from "../mapping/mapping.ts";
import { hasField, mergeField, type Merging, type Sources } from "./merge_field.ts";
import type { Edits } from "./options.ts";
import { DATES, withOneDate, withOwnDates } from "./publication.ts";
import type { RecordValues } from "../mapping/reading.ts";
import { rivalPrices } from "./rival_prices.ts";

/*
 * Merges a new record into a product that users edit (a three-way merge). Base is the sender's
 * previous record, incoming its new one, local the product. In: the three. Out: the values that the
 * sender has changed, which are written, and a warning for each conflict. The elements of the
 * incoming record get the ids of their rows, so that the next merge can match them.
 *
 * Base: title "Emma", price 9.99. Local: title "Emma (annotated)", price 9.99. Incoming: title
 * "Emma", price 10.99. Written: the price alone.
 */

/** The result of a merge. */
export interface Merged {
  /** The values to write, by field. Undefined: the record has none. */
  written: RecordValues;
  messages: Message[];
  /** The fields that keep a local edit. */
  edited: ReadonlySet<string>;
}

/**
 * Merges a record into its product. A value that the sender has changed is written, unless a user has
 * edited it and `edits` is `protect`. All other values stay. With `overwrite`, and for a product
 * without a record, the product itself is the base, so that it has no edits.
 */
export function mergeEdits(
  { update, incoming, base: baseOfSender, local }: Sources,
  edits: Edits,
  newId: () => string,
): Merged {
  const base = edits === "overwrite" ? null : baseOfSender;
  // The day of publication is a field, its month or year an entry. They are compared as one value.
  const differences = withOneDate(base?.differences ?? {});
  const messages: Message[] = [];
  const winner = winnerOf(edits);
  const reportConflict = conflictReporter(winner, update.reader, messages);
  const merging: Merging = {
    update,
    incoming,
    base,
    local,
    differences,
    winner,
    reportConflict,
    newId,
  };
  const localValues = withOneDate(
    Object.fromEntries(MAPPED_FIELDS.map(([name, { valueIn }]) => [name, valueIn(local)])),
  );
  const baseValues = base ? withOneDate(base.values) : localValues;
  const incomingValues = withOneDate(incoming.values);

  const written: RecordValues = {};
  const edited = new Set<string>();
  for (const [name] of MAPPED_FIELDS) {
    const sides = {
      base: baseValues[name],
      incoming: incomingValues[name],
      local: localValues[name],
    };
    const outcome = mergeField(name, sides, merging);
    if ("value" in outcome) written[name] = outcome.value;
    else if (outcome.isEdited) edited.add(name);
  }
  keepCoverWithResources(written, edited);
  splitDates(written, edited, localValues, incoming.values);
  const { product_territories } = { ...localValues, ...written };
  if (hasField("product_territories", update, product_territories)) {
    messages.push(...rivalPrices(product_territories, incoming.record, update));
  }
  return { written, messages, edited };
}

/** Keeps the cover if the resources are edited, since it is a link of one of them. */
function keepCoverWithResources(written: RecordValues, edited: Set<string>): void {
  if (!edited.has("supporting_resources")) return;
  delete written.cover_image_url;
  edited.add("cover_image_url");
}

/** Splits the date of publication, which was merged as one value, into the two fields of a product. */
function splitDates(
  written: RecordValues,
  edited: Set<string>,
  local: RecordValues,
  incoming: RecordValues,
): void {
  if (DATES.some((name) => edited.has(name))) {
    for (const name of DATES) edited.add(name);
  }
  if (DATES.some((name) => name in written)) {
    Object.assign(written, withOwnDates({ ...local, ...written }, incoming));
  }
}
