import { Buffer } from "node:buffer";

/*
 * Copies texts that outlive the text from which they were cut. V8 keeps a full text in memory as long
 * as a slice of it. For example, the first 50 characters of a cell would keep the cell, and a
 * reference would keep its ONIX message.
 */

/** Copies the first characters of a text, without half of a surrogate pair. */
export function excerpt(text: string, length: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length;
  return Buffer.from(text.slice(0, end)).toString();
}

/** Copies a value of JSON with its texts. */
export function copied<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
