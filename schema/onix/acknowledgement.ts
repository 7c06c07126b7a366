import type { Report } from "./report.ts";

/** Who acknowledges which message. */
export interface Acknowledged {
  /** The name of the organization. */
  sender: string;
  sentAt: Date;
}

/** The report as an ONIX Acknowledgement 3.0. */
export function* writeAcknowledgement(
  _report: Report,
  _acknowledged: Acknowledged,
): Generator<string> {
  yield "";
}
