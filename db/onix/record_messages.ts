import { DEFECT } from "../../schema/defects.ts";
import type { ApiError } from "../../schema/errors.ts";
import type { Incoming } from "../../schema/onix/mapping/incoming.ts";
import { MAPPING } from "../../schema/onix/mapping/mapping.ts";
import type { ElementPlace } from "../../schema/onix/mapping/messages.ts";
import type { Message } from "../../schema/onix/report/message.ts";
import { PARTIAL } from "../../schema/onix/rules/notifications.ts";
import { childrenOf } from "../../schema/onix/xml/element.ts";
import { sharedBy } from "../products/keys.ts";

/* Messages about a record as a whole: why it is rejected, and what its sender should know. */

/** The place of a record as a whole. */
const WHOLE: ElementPlace = { path: "/Product", value: null };

/** The place of the reference of a record. */
function atReference(value: string | null): ElementPlace {
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

/** The fault of a record at which the service fails. */
export const FAILED = fault(DEFECT.code, DEFECT.message);

/** The fault of a record that leaves its product too many entries beside those that were added here. */
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

export function ambiguous(incoming: Incoming, products: Parameters<typeof sharedBy>[1]): Message {
  return isbnFault(incoming, "ambiguous", sharedBy("ISBN", products));
}

export function isbnInUse(incoming: Incoming, rival: string): Message {
  const message = `The record "${rival}" of this message has the same ISBN`;
  return isbnFault(incoming, "isbn_in_use", message);
}

/** A message that rejects a record because of its ISBN. */
function isbnFault(
  { record, reader }: Incoming,
  code: string,
  message: string,
): Message {
  const [found] = ["isbn13", "isbn10"].flatMap((name) => MAPPING[name]!.find!(record) ?? []);
  return fault(code, message, reader.messages.placeOf(found ?? record));
}

/** The fault of a record whose reference an earlier one of the message has for another product. */
export function referenceOfAnother(reference: string): Message {
  const message =
    "An earlier record of this message has this reference, but another ISBN and another form: each product needs a reference of its own";
  return fault("reference_of_another", message, atReference(reference));
}

/** The warning of a record none of whose prices can be read. They stay in the stored record alone. */
export function notOnSale(
  { record, reader, notification }: Incoming,
): Message[] {
  const prices = childrenOf(record, "ProductSupply")
    .flatMap((supply) => childrenOf(supply, "SupplyDetail"))
    .flatMap(({ children }) => children.filter(({ name }) => name === "Price"));
  const [first] = prices;
  const isLost = prices.every(({ isWithheld }) => isWithheld);
  if (!first || !isLost || notification === PARTIAL) return [];
  const { path } = reader.messages.placeOf(first);
  const message = "No price of the record can be read: the book is on sale nowhere";
  return [warning("not_on_sale", message, { path, value: null })];
}

/** The warning of a record that creates a product which was deleted. */
export function createdAgain(reference: string, day: string): Message {
  const message =
    `The product with this reference was deleted on ${day}: this record creates it again`;
  return warning("created_again", message, atReference(reference));
}

/** The warning of a record that its ISBN has led to a product with this other reference. */
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
