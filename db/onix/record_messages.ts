import { DEFECT } from "../../schema/defects.ts";
import type { ApiError } from "../../schema/errors.ts";
import type { Incoming } from "../../schema/onix/mapping/incoming.ts";
import { MAPPING } from "../../schema/onix/mapping/mapping.ts";
import type { Message } from "../../schema/onix/report/message.ts";
import { PARTIAL } from "../../schema/onix/rules/notifications.ts";
import { childrenOf } from "../../schema/onix/xml/element.ts";
import { sharedBy } from "../products/keys.ts";

/* What is told of a record as a whole: why it is rejected, and what its sender should know. */

/** A message about a record, or what is at the path in it. */
function messageOf(
  severity: Message["severity"],
  code: string,
  message: string,
  { path = "", value = null }: { path?: string; value?: string | null } = {},
): Message {
  return { severity, code, path: `/Product${path}`, value, message };
}

/** A message that rejects a record. */
export function fault(code: string, message: string): Message {
  return messageOf("error", code, message);
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
  return {
    severity: "error",
    code,
    ...reader.messages.placeOf(found ?? record),
    message,
  };
}

/** The fault of a record whose reference an earlier one of the message has for another product. */
export function referenceOfAnother(reference: string): Message {
  const message =
    "An earlier record of this message has this reference, but another ISBN and another form: each product needs a reference of its own";
  const at = { path: "/RecordReference", value: reference };
  return messageOf("error", "reference_of_another", message, at);
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
  return [{
    severity: "warning",
    code: "not_on_sale",
    path: reader.messages.placeOf(first).path,
    value: null,
    message: "No price of the record can be read: the book is on sale nowhere",
  }];
}

/** The warning of a record that creates a product which was deleted. */
export function createdAgain(value: string, deleted_at: string): Message {
  const message =
    `The product with this reference was deleted on ${deleted_at}: this record creates it again`;
  return messageOf("warning", "created_again", message, {
    path: "/RecordReference",
    value,
  });
}

/** The warning of a record that its ISBN has led to a product with another reference. */
export function otherReference(reference: string, value: string): Message {
  const message =
    `The product has the reference "${reference}": from now on this one finds it, too`;
  const at = { path: "/RecordReference", value };
  return messageOf("warning", "other_reference", message, at);
}

export const STALE_RECORD = messageOf(
  "warning",
  "stale",
  "The sender has sent a later message with this product: this record is not applied",
);

export const UNKNOWN_RECORD = messageOf(
  "warning",
  "not_found",
  "No product has this reference: there is nothing to delete",
  { path: "/RecordReference" },
);

export function superseded(line: number): Message {
  const message = `The record on line ${line} is of the same product, and counts instead`;
  return messageOf("warning", "superseded", message);
}
