import { Buffer } from "node:buffer";

/*
 * V8 keeps the text of which a string is a slice, or from which it is joined, for as long as the
 * string itself: 50 characters of a cell would keep the cell, and the references of a message all
 * of it. What is kept longer is copied.
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
