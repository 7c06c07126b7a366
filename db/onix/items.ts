import { createHash } from "node:crypto";
import { guarded } from "../../schema/defects.ts";
import { childValue, type Element } from "../../schema/onix/xml/element.ts";
import { type Incoming, readRecord, type Rejected } from "../../schema/onix/mapping/incoming.ts";
import { notSentOf } from "../../schema/onix/mapping/outgoing.ts";
import type { Outcome } from "../../schema/onix/report/report.ts";
import type { Paths } from "../../schema/onix/xml/paths.ts";
import { toStored } from "../../schema/onix/xml/write.ts";
import { FAILED } from "./plan.ts";

/** A record of a message that can be written. */
export interface Item extends StoredForm {
  incoming: Incoming;
  /** The paths in the record that no message of release 3.1 has. */
  notSent: Paths;
  /** The other reference under which an earlier record of the message has the same ISBN. */
  rival?: string | undefined;
}

/** The record to store, of a partial update its blocks, the text of that, and its hash. */
export interface StoredForm {
  record: Element;
  text: string;
  digest: string;
}

/** Reads a record of a message with this header. */
export function readItem(product: Element, header: Element): Item | Rejected {
  return guarded(
    () => itemOf(product, header),
    () => ({
      kind: "rejected",
      reference: childValue(product, "RecordReference") ?? null,
      line: product.line ?? 0,
      messages: [FAILED],
      moreMessages: 0,
    }),
  );
}

function itemOf(product: Element, header: Element): Item | Rejected {
  const incoming = readRecord(product, header);
  if (incoming.kind === "rejected") return incoming;
  const { record } = incoming;
  const notSent = notSentOf(record, "3.1");
  return { incoming, notSent, ...storedForm(record) };
}

/** The form in which a record is stored. */
export function storedForm(record: Element): StoredForm {
  const text = toStored(record);
  const digest = createHash("sha256").update(text).digest("base64url");
  return { record, text, digest };
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
