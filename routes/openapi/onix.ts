import * as v from "valibot";
import { OUTCOMES } from "../../features/onix/schema/report/report.ts";
import { Count, described } from "../../schema/values.ts";

/* The schemas of the report on an imported ONIX message. */

/** A sentence about a record, an element or a value in it. */
export const OnixMessage = v.object({
  severity: described(
    "An error rejects its record. A warning names what is kept only in the record, or how it was read.",
    v.picklist(["error", "warning"]),
  ),
  code: described("The kind of message, for machines.", v.string()),
  path: described(
    "The path of the element, in reference names, for any tags of the message.",
    v.string(),
  ),
  value: described("The value of the element.", v.nullable(v.string())),
  message: described("What is wrong, for people.", v.string()),
});

/** The outcome of a record. */
export const OnixOutcome = v.object({
  record_reference: described(
    "The record's `RecordReference`, or null if it has none.",
    v.nullable(v.string()),
  ),
  line: described("The line of the message on which the record begins.", Count),
  id: described(
    "The id of its product, or null if it has none. A dry run creates none.",
    v.nullable(v.pipe(v.string(), v.uuid())),
  ),
  outcome: described(
    "The outcome of the record. An unchanged record has written nothing.",
    v.picklist(OUTCOMES),
  ),
  messages: described("Messages about it.", v.array(OnixMessage)),
});

/** The number of records with content at a path. */
export const OnixPaths = v.object({
  path: described("A path without positions.", v.string()),
  records: described("The number of records with it.", Count),
});

export const OnixReport = v.object({
  records: described("The number of records in the message.", Count),
  created: described("The records that have created a product.", Count),
  updated: described("The records that have changed their product.", Count),
  unchanged: described("The records that have changed nothing.", Count),
  deleted: described("The records that have deleted their product.", Count),
  rejected: described("The records at fault.", Count),
  warnings: described("The number of warnings.", Count),
  dry_run: described("Whether nothing was written.", v.boolean()),
  outcomes: described(
    "The records that are not `unchanged`, and those that are but have a message: the first 10,000.",
    v.array(OnixOutcome),
  ),
  more: described("The number of outcomes that are left out.", Count),
  more_messages: described(
    "The number of messages that are left out: a record has at most 100, a report 20,000.",
    Count,
  ),
  more_paths: described(
    "The number of paths that are left out of `unmapped` and `not_sent`, which have at most 1,000 each.",
    Count,
  ),
  unmapped: described(
    "Elements without a field. They are kept in the record, and sent with it.",
    v.array(OnixPaths),
  ),
  not_sent: described(
    "Elements that are kept in the record, but not sent in release 3.1: they would make a message invalid, or permit more than their sender did. Some of them may be sent in release 3.0.",
    v.array(OnixPaths),
  ),
});
