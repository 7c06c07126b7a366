import { createHash } from "node:crypto";
import type { Element } from "../../schema/onix/xml/element.ts";
import {
  type Incoming,
  readRecord,
  type Rejected,
} from "../../schema/onix/mapping/incoming.ts";
import { notSentOf } from "../../schema/onix/mapping/outgoing.ts";
import type { Head } from "../../schema/onix/xml/read.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import type { Paths } from "../../schema/onix/xml/paths.ts";
import { toStored } from "../../schema/onix/xml/write.ts";

/** A record of a message that can be written. */
export interface Item {
  incoming: Incoming;
  /** The paths in the record that would make a message invalid. */
  notSent: Paths;
  /** The record to store. For a partial update, its blocks. */
  record: Element;
  /** The text in which it is stored, and the hash of that. */
  text: string;
  digest: string;
  /** The other reference under which an earlier record of the message has the same ISBN. */
  rival?: string | undefined;
}

/** Reads a record of a message with this header and release. */
export function readItem(
  product: Element,
  { header, release }: Head,
): Item | Rejected {
  const incoming = readRecord(product, header);
  if (incoming.kind === "rejected") return incoming;
  const { record } = incoming;
  const notSent = notSentOf(record, release);
  return { incoming, notSent, record, ...storedForm(record) };
}

/** The text in which a record is stored, and its hash. */
export function storedForm(
  record: Element,
): { text: string; digest: string } {
  const text = toStored(record);
  const digest = createHash("sha256").update(text).digest("base64url");
  return { text, digest };
}

/** The outcome of a record, with messages besides those of reading it. */
export function outcomeOf(
  { incoming: { reference, line, messages } }: Item,
  outcome: Outcome["outcome"],
  id: string | null,
  ...more: Outcome["messages"]
): Outcome {
  return {
    record_reference: reference,
    line,
    id,
    outcome,
    messages: [...messages, ...more],
  };
}
