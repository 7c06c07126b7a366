import * as v from "valibot";
import type { ErrorCode } from "../errors.ts";
import { described } from "../values.ts";
import { OnixReport } from "./onix.ts";

export const Whole = v.pipe(v.number(), v.integer());

export const ErrorDetail = v.object({
  pointer: described("A JSON Pointer into the body.", v.optional(v.string())),
  parameter: described("A parameter of the query.", v.optional(v.string())),
  header: described("A header of the request.", v.optional(v.string())),
  count: described(
    "The number of records that refer to this one.",
    v.optional(Whole),
  ),
  code: v.string(),
  message: v.string(),
  line: described("The line in an XML body.", v.optional(Whole)),
  column: described("The column in an XML body.", v.optional(Whole)),
});

export const Meta = v.object({
  page: whole(1),
  limit: whole(1),
  total: whole(0),
  total_pages: whole(0),
});

/** The envelope of a success (specification, 7.1). */
export function success<const D extends v.GenericSchema>(data: D) {
  return v.object({ success: v.literal(true), data, error: v.null() });
}

/** The envelope of a page of a list. */
export function page<const E extends v.GenericSchema>(entry: E) {
  return v.object({ ...success(v.array(entry)).entries, meta: Meta });
}

/** The envelope of a failure with one of these codes. */
export function failure(codes: ErrorCode[]) {
  return v.object({
    success: v.literal(false),
    error: v.object({
      code: v.picklist(codes),
      message: v.string(),
      details: v.array(ErrorDetail),
      request_id: v.string(),
      report: described(
        "What an import of ONIX has done before the error, if anything.",
        v.optional(OnixReport),
      ),
    }),
  });
}

function whole(min: number) {
  return v.pipe(Whole, v.minValue(min));
}
