import { codePoints } from "../../../../schema/values.ts";
import type { Message } from "../report/message.ts";
import { DELETION, type Notification, NOTIFICATIONS, PARTIAL } from "../rules/notifications.ts";
import { child, childrenOf, type Element, hasText, valueOf } from "../xml/element.ts";
import { NO_PATHS, type Paths } from "../xml/paths.ts";
import { sentOf } from "../xml/sent.ts";
import { withhold } from "../withheld/withhold.ts";
import { repeatedRows } from "../mapping/contributors.ts";
import { withDefaults } from "./defaults.ts";
import { warnOfElements } from "./element_warnings.ts";
import { type Block, BLOCKS, hasBlock } from "../mapping/mapped.ts";
import { readValues, type RecordValues } from "../mapping/reading.ts";
import { RecordReader } from "../codecs/record_reader.ts";

/*
 * Reads a record of a message. In: its element, and the header of its message. Out: its values by
 * field, and the messages for its sender.
 */

/** The longest `RecordReference`, in characters. */
export const MAX_REFERENCE = 500;

/** The content of a record that can be written. */
export interface RecordContent {
  kind: "record";
  reference: string;
  notification: Notification;
  isbn13: string | null;
  isbn10: string | null;
  blocks: Block[];
  messages: Message[];
  /** The number of warnings that are left out. */
  moreMessages: number;
  /** Whether a message is about the header, including one that an earlier record has reported. */
  reportsOnHeader: boolean;
  /** The data elements that no field holds: the record alone keeps them. */
  unmapped: Paths;
  /** The record to store, with the defaults of the header. For a partial update, its blocks. */
  record: Element;
  /** Its values by field of the mapping, as the API has them, nulls left out. Not to be changed. */
  values: RecordValues;
  /** Knows the elements of its entries, and their places. */
  reader: RecordReader;
}

/** A record whose faults reject it. */
export interface Rejected {
  kind: "rejected";
  reference: string | null;
  line: number;
  messages: Message[];
  moreMessages: number;
}

/** The messages about headers, each reported once for all records. */
const REPORTED_ABOUT_HEADERS = new WeakMap<Element, Set<string>>();

/** Reads a record, with the defaults of the message's header. */
export function readRecord(
  product: Element,
  header: Element,
): RecordContent | Rejected {
  const { record, headerPaths } = withDefaults(product, header);
  const reportedBefore = REPORTED_ABOUT_HEADERS.getOrInsert(header, new Set());
  const reader = new RecordReader(record, { headerPaths, reportedBefore });
  const notification = readNotification(record, reader);
  const reference = readReference(record, reader);
  warnOfFutureDate(header, reader);
  warnOfElements(product, record, reader);
  const isDeletion = notification === DELETION;
  if (notification && !isDeletion) warnOfDeletionText(record, reader);
  for (const { element, code, message, missing } of withhold(record)) {
    if (code && message) reader.warn(code, message, element, { missing });
  }
  const values = isDeletion ? {} : readValues(record, reader);
  if (!isDeletion) checkTitle(record, values, notification === PARTIAL, reader);
  warnOfRepeated(values, reader);
  const { messages, more } = reader.messages.inOrder();
  if (!notification || reference === null || reader.messages.hasErrors) {
    return {
      kind: "rejected",
      reference,
      line: product.line ?? 0,
      messages,
      moreMessages: more,
    };
  }
  const { isbn13 = null, isbn10 = null } = values;
  return {
    kind: "record",
    reference,
    notification,
    isbn13: isbn13 as string | null,
    isbn10: isbn10 as string | null,
    blocks: BLOCKS.filter((block) => hasBlock(record, block)),
    messages,
    moreMessages: more,
    reportsOnHeader: reader.messages.reportsOnHeader,
    unmapped: isDeletion ? NO_PATHS : reader.unmapped(),
    record,
    values,
    reader,
  };
}

function readNotification(
  record: Element,
  reader: RecordReader,
): Notification | undefined {
  const found = child(record, "NotificationType");
  const value = valueOf(found);
  const known = NOTIFICATIONS.find((type) => type === value);
  if (found) reader.claim(found);
  if (!known) {
    reader.reject(
      "unknown_notification",
      `Expected a NotificationType of ${NOTIFICATIONS.join(", ")}`,
      found ?? record,
      { missing: found ? undefined : "NotificationType" },
    );
  }
  return known;
}

function readReference(record: Element, reader: RecordReader): string | null {
  const found = child(record, "RecordReference");
  const value = valueOf(found);
  if (found) reader.claim(found);
  if (!found || value === undefined) {
    reader.reject("no_reference", "The record has no RecordReference", record, {
      missing: "RecordReference",
    });
  } else if (!hasText(found)) {
    reader.reject("no_reference", "The RecordReference is blank", found);
  } else if (codePoints(value) > MAX_REFERENCE) {
    reader.reject("too_long", `At most ${MAX_REFERENCE} characters`, found);
  }
  return value ?? null;
}

/** Rejects a record without a title. A partial update needs one if it replaces the title's block. */
function checkTitle(
  record: Element,
  { title }: RecordValues,
  isPartial: boolean,
  reader: RecordReader,
): void {
  const block = child(record, "DescriptiveDetail");
  if (title !== undefined || isPartial && !block) return;
  const found = block && child(block, "TitleDetail");
  const missing = block ? "TitleDetail" : "DescriptiveDetail";
  reader.reject(
    "no_title",
    "The record has no title",
    found ?? block ?? record,
    found ? undefined : { missing },
  );
}

/** Warns of a message whose time lies ahead, once for all its records. */
function warnOfFutureDate(header: Element, reader: RecordReader): void {
  const { ahead } = sentOf(header);
  if (!ahead) return;
  reader.warn(
    "future_date",
    "The time lies more than a day ahead: it does not tell old messages from new ones",
    ahead,
  );
}

/** Warns of the reason for a deletion in a record that is no deletion. */
function warnOfDeletionText(record: Element, reader: RecordReader): void {
  for (const found of childrenOf(record, "DeletionText")) {
    reader.warn(
      "unexpected_deletion_text",
      "The record says why it is deleted, and is no deletion: that has NotificationType 05",
      found,
    );
  }
}

/** Warns of contributors that repeat an earlier one. */
function warnOfRepeated({ contributors }: RecordValues, reader: RecordReader): void {
  for (const row of repeatedRows(contributors)) {
    reader.warn("duplicate", "An earlier one is the same", reader.elementOf(row)!);
  }
}
