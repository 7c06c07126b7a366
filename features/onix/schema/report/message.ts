/** The most messages of a record: the report has room for those of many. */
export const MAX_RECORD_MESSAGES = 100;

/** A sentence about a record, an element or a value in it. */
export interface Message {
  severity: "error" | "warning";
  code: string;
  /** The path in reference names, such as `/Product/DescriptiveDetail/Subject[2]/SubjectCode`. */
  path: string;
  value: string | null;
  message: string;
}
