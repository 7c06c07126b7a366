import { DEFECT } from "../../../../schema/defects.ts";
import type { ApiError } from "../../../../schema/errors.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import type { RecordContent } from "../../schema/doors/incoming.ts";
import { MAPPING } from "../../schema/mapping/mapping.ts";
import type { ElementLocation } from "../../schema/codecs/messages.ts";
import type { Message } from "../../schema/report/message.ts";
import { PARTIAL } from "../../schema/rules/notifications.ts";
import { childrenOf } from "../../schema/xml/element.ts";
import { sharedKeyMessage } from "../../../../db/products/change/keys.ts";

/*
 * Messages about a record, not about one of its elements: why it is rejected, and warnings for its
 * sender.
 */

/** The place of a record as a whole. */
const WHOLE: ElementLocation = { path: "/Product", value: null };

/** The place of the reference of a record. */
function atReference(value: string | null): ElementLocation {
  return { path: "/Product/RecordReference", value };
}

/** A message that rejects a record. */
export function fault(code: string, message: string, place = WHOLE): Message {
  return { severity: "error", code, ...place, message };
}

/** A message about a record that is written nevertheless, or changes nothing. */
function warning(code: string, message: string, place = WHOLE): Message {
  return { severity: "warning", code, ...place, message };
}

/** The fault of a record on which the service fails. */
export const FAILED = fault(DEFECT.code, DEFECT.message);

/**
 * The fault of a record after which its product would have too many entries, with those that were
 * added locally.
 */
export function overfull(limit: string): Message {
  const message = `${limit}, counting those that were added here: remove some of them first`;
  return fault("too_many", message);
}

/** The message of a record whose product cannot be written. */
export function faultOfWrite({ code, details, message }: ApiError): Message {
  if (code === "CONFLICT") return fault("in_use", message);
  const [detail] = details ?? [];
  return fault(detail?.code ?? "refused", detail?.message ?? message);
}

export const NOT_FOUND = fault(
  "not_found",
  "No product has the reference or the ISBN of this partial update",
);

export function ambiguous(
  content: RecordContent,
  products: Parameters<typeof sharedKeyMessage>[1],
): Message {
  return isbnFault(content, "ambiguous", sharedKeyMessage("ISBN", products));
}

export function isbnInUse(content: RecordContent, rival: string): Message {
  const message = `The record "${rival}" of this message has the same ISBN`;
  return isbnFault(content, "isbn_in_use", message);
}

/** A message that rejects a record because of its ISBN. */
function isbnFault(
  { record, reader }: RecordContent,
  code: string,
  message: string,
): Message {
  const [found] = ["isbn13", "isbn10"].flatMap((name) => MAPPING[name]!.find!(record) ?? []);
  return fault(code, message, reader.messages.locationOf(found ?? record));
}

/** The fault of a record with the reference of an earlier record of the message for another product. */
export function referenceOfAnother(reference: string): Message {
  const message =
    "An earlier record of this message has this reference, but another ISBN and another form: each product needs a reference of its own";
  return fault("reference_of_another", message, atReference(reference));
}

/** The warning of a record none of whose prices can be read. They stay in the stored record alone. */
export function notOnSale(
  { record, reader, notification, values }: RecordContent,
): Message[] {
  const prices = childrenOf(record, "ProductSupply")
    .flatMap((supply) => childrenOf(supply, "SupplyDetail"))
    .flatMap(({ children }) => children.filter(({ name }) => name === "Price"));
  const read = new Set(
    objectsIn(values.product_territories)
      .flatMap(({ supply_details }) => objectsIn(supply_details))
      .flatMap(({ prices }) => objectsIn(prices))
      .map((price) => reader.elementOf(price)),
  );
  const [first] = prices;
  const isLost = prices.every((price) =>
    price.isWithheld || !read.has(price) && reader.messages.isLossReported(price)
  );
  if (!first || !isLost || notification === PARTIAL) return [];
  const { path } = reader.messages.locationOf(first);
  const message = "No price of the record can be read: the book is on sale nowhere";
  return [warning("not_on_sale", message, { path, value: null })];
}

/** The warning of a record that creates a deleted product again. */
export function createdAgain(reference: string, day: string): Message {
  const message =
    `The product with this reference was deleted on ${day}: this record creates it again`;
  return warning("created_again", message, atReference(reference));
}

/** The warning of a record that matches, by its ISBN, a product with this other reference. */
export function otherReference(other: string, reference: string): Message {
  const message = `The product has the reference "${other}": from now on this one finds it, too`;
  return warning("other_reference", message, atReference(reference));
}

export const STALE_RECORD = warning(
  "stale",
  "The sender has sent a later message with this product: this record is not applied",
);

export const UNKNOWN_RECORD = warning(
  "not_found",
  "No product has this reference: there is nothing to delete",
  atReference(null),
);

export function superseded(line: number): Message {
  const message = `The record on line ${line} is of the same product, and counts instead`;
  return warning("superseded", message);
}
