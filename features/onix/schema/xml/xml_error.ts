/** A message that cannot be read on. The records before it were read. */
export class XmlError extends Error {
  override readonly name = "XmlError";
  /** Such as `not_well_formed`, `invalid_encoding`, `doctype` or `unsupported_release`. */
  readonly code: string;
  readonly line: number;
  readonly column: number;

  constructor(code: string, message: string, place: LineAndColumn) {
    super(message);
    this.code = code;
    this.line = place.line;
    this.column = place.column;
  }
}

/** A place in a message, both from 1. */
export interface LineAndColumn {
  line: number;
  column: number;
}
