import { type Element, element } from "../xml/element.ts";
import { indented, timeOf } from "../xml/write.ts";
import { startTag } from "../xml/xml.ts";
import type { Message } from "./message.ts";
import type { Outcome, Report } from "./report.ts";

/* Writes the report of an import as an ONIX Acknowledgement 3.0. */

/** The data of an acknowledgement that is not in the report. */
export interface Acknowledged {
  /** The name of the organization that acknowledges the message. */
  sender: string;
  sentAt: Date;
  /** The number of records with warnings that are not rejected. */
  warned: number;
}

const NAMESPACE = "http://ns.editeur.org/onix/acknowledgement/3.0/reference";

/** The report as an ONIX Acknowledgement 3.0, in chunks of text. */
export function* writeAcknowledgement(
  report: Report,
  { sender, sentAt, warned }: Acknowledged,
): Generator<string> {
  const root = "ONIXMessageAcknowledgement";
  yield `<?xml version="1.0" encoding="UTF-8"?>\n${
    startTag(root, { release: "3.0", xmlns: NAMESPACE })
  }\n`;
  yield indented(element("Header", [
    element("Sender", [element("SenderName", sender)]),
    element("SentDateTime", timeOf(sentAt)),
    element("MessageStatus", messageStatus(report)),
    ...summaries(report, warned),
  ]));
  const named = report.outcomes.filter(hasReference);
  for (const outcome of named) yield indented(productOf(outcome));
  if (named.length === 0) yield indented(element("NoProduct", ""));
  yield `</${root}>\n`;
}

/** List 221: processed, part of it, or rejected. */
function messageStatus({ records, rejected }: Report): string {
  if (rejected === 0) return "03";
  return rejected < records ? "02" : "01";
}

/** List 226: no errors, with warnings, or rejected. */
function recordStatus({ outcome, messages }: Outcome): string {
  if (outcome === "rejected") return "03";
  return messages.length > 0 ? "02" : "00";
}

/** Counts the records by status. */
function summaries({ records, rejected }: Report, warned: number): Element[] {
  const counts = {
    "00": records - warned - rejected,
    "02": warned,
    "03": rejected,
  };
  return Object.entries(counts).filter(([, count]) => count > 0)
    .map(([status, count]) =>
      element("RecordStatusSummary", [
        element("RecordStatus", status),
        element("NumberOfRecords", String(count)),
      ])
    );
}

interface NamedOutcome extends Outcome {
  record_reference: string;
}

function hasReference(outcome: Outcome): outcome is NamedOutcome {
  return outcome.record_reference !== null;
}

function productOf(outcome: NamedOutcome): Element {
  const { messages, record_reference } = outcome;
  return element("Product", [
    element("RecordReference", record_reference),
    element("RecordStatus", recordStatus(outcome)),
    ...messages.map(statusDetail),
  ]);
}

/**
 * A message of the report: its severity (List 224), and its place. List 225 has only general
 * codes, so ours goes before the sentence.
 */
function statusDetail({ code, severity, path, message, value }: Message): Element {
  const shown = value === null ? "" : ` (${value})`;
  return element("RecordStatusDetail", [
    element("StatusDetailType", severity === "error" ? "E" : "W"),
    element("StatusDetailCodeType", "02"),
    element("StatusDetailCode", severity === "error" ? "000" : "001"),
    element("StatusDetailText", `${code}: ${message}${shown}`),
    element("StatusDetailXPath", path),
  ]);
}
