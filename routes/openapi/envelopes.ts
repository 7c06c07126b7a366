import * as v from "valibot";
import type { ErrorCode } from "../../schema/errors.ts";
import { described } from "../../schema/values.ts";
import { UndoReport } from "../../features/history/schema/undo.ts";
import { SheetReport } from "../../features/sheets/schema/report.ts";
import { OnixReport } from "./onix.ts";

/* The schemas of envelopes: success, page and failure (specification, 7.1). */

export const Whole = v.pipe(v.number(), v.integer());

export const ErrorDetail = v.object({
  pointer: described("A JSON Pointer into the body.", v.optional(v.string())),
  parameter: described("A parameter of the query.", v.optional(v.string())),
  header: described("A header of the request.", v.optional(v.string())),
  count: described(
    "The number of records that refer to this one.",
    v.optional(Whole),
  ),
  code: described("What is wrong, for programs.", v.string()),
  message: described("What is wrong, for people.", v.string()),
  hint: described(
    "The part of the message that says what to do, if there is one.",
    v.optional(v.string()),
  ),
  line: described("The line in an XML body or a sheet.", v.optional(Whole)),
  column: described(
    "The column in an XML body, as a number, or in a sheet, as its name.",
    v.optional(v.union([Whole, v.string()])),
  ),
});

export const Meta = v.object({
  page: described("The page, counted from 1.", whole(1)),
  limit: described("The size of a page.", whole(1)),
  total: described("The number of entries on all pages.", whole(0)),
  total_pages: described("The number of pages.", whole(0)),
});

export const ProductsMeta = v.object({
  ...Meta.entries,
  nearest: described(
    "True if `q` matches nothing, and these are the nearest products: each word may have one mistake. Absent otherwise.",
    v.optional(v.literal(true)),
  ),
});

/** Returns the schema of the envelope of a success (specification, 7.1) with this data. */
export function success<const D extends v.GenericSchema>(
  sentence: string,
  data: D,
) {
  return v.object({
    success: described("Whether the request succeeded.", v.literal(true)),
    data: described(sentence, data),
    error: described("Null after a success.", v.null()),
    warnings: described(
      "Ignored fields of the body whose values differ from the data: a name beside an id, or a product form without a format. Also prices of one supply that are valid at the same time, another record with the same name, and an ISBN-10 of another book than the ISBN-13. Absent if there are none.",
      v.optional(v.array(ErrorDetail)),
    ),
  });
}

/** The envelope of a page of a list. */
export function page<const E extends v.GenericSchema>(
  entry: E,
  meta: v.GenericSchema = Meta,
) {
  return v.object({
    ...success("The entries of the page.", v.array(entry)).entries,
    meta: described("The number of the page, and the totals.", meta),
  });
}

/** The envelope of a failure with one of these codes. */
export function failure(codes: ErrorCode[]) {
  return v.object({
    success: described("Whether the request succeeded.", v.literal(false)),
    error: described(
      "Why the request failed.",
      v.object({
        ...errorEntries(codes),
        request_id: described(
          "The id of the request, as in `X-Request-Id` and the log.",
          v.string(),
        ),
        report: described(
          "What an import of ONIX or of a sheet has done before the error, if anything.",
          v.optional(v.union([OnixReport, SheetReport, UndoReport])),
        ),
      }),
    ),
  });
}

/** The fields that the errors of requests and of operations in a batch share. */
export function errorEntries(codes: readonly ErrorCode[]) {
  return {
    code: described("The kind of error, for programs.", v.picklist(codes)),
    message: described("The error in a sentence, for people.", v.string()),
    hint: described(
      "The part of the message that says what to do, if there is one.",
      v.optional(v.string()),
    ),
    details: described(
      "Every error of the request, with its place. Empty if there is only the message.",
      v.array(ErrorDetail),
    ),
  };
}

function whole(min: number) {
  return v.pipe(Whole, v.minValue(min));
}
