import type { Element } from "./element.ts";
import type { Release } from "./releases.ts";

/** The largest record, in characters of its XML. */
export const MAX_RECORD = 4 * 1024 * 1024;

/** A message that cannot be read on. Records before it were read. */
export class XmlError extends Error {
  override readonly name = "XmlError";
  /** Such as `not_well_formed`, `invalid_encoding`, `doctype`, `unsupported_release`. */
  readonly code: string;
  readonly line: number;
  readonly column: number;

  constructor(code: string, message: string, line: number, column: number) {
    super(message);
    this.code = code;
    this.line = line;
    this.column = column;
  }
}

/** What a message consists of, in its order: one header, then records. */
export type Part =
  | { kind: "header"; header: Element; release: Release }
  | { kind: "product"; product: Element; line: number }
  /** A record that cannot be read, although the message can. */
  | { kind: "unreadable"; line: number; code: string; message: string };

/**
 * Reads a message as it arrives and holds one record at a time. `charset` is that of the
 * media type. Throws `XmlError`.
 */
export async function* readMessage(
  _bytes: AsyncIterable<Uint8Array>,
  _charset?: string,
): AsyncGenerator<Part> {
  yield* [];
  await Promise.resolve();
}
