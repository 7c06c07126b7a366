// Declares `JSON.isRawJSON`.
import type {} from "../../numbers.ts";
import { isObject } from "../../objects.ts";
import type { Element } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * How a value of a product stands in a record.
 */

/** How a value stands in a composite. */
export interface Codec {
  /** The element of the value, or of the one with this index of several. */
  find?(composite: Element, index?: number): Element | undefined;
  read(composite: Element, reader: RecordReader): unknown;
  /** Makes the composite say `now`. It says `before`, from which entries know their elements. */
  write(
    composite: Element,
    now: unknown,
    before: unknown,
    reader: RecordReader,
  ): void;
}

/** How the value of a field stands in a composite, and what of it is compared. */
export interface FieldCodec extends Codec {
  /** The value without what the element does not say, such as ids and labels. */
  project(value: unknown): unknown;
}

/** A scalar in one form, or undefined for what an element does not say. */
export function scalar(value: unknown): unknown {
  if (value === null || value === false || value === "") return;
  return value === true ? true : textOf(value);
}

/** A scalar as the value of an element. True is an element without a value. */
export function textOf(value: unknown): string | undefined {
  if (value === true) return "";
  if (typeof value === "number") return String(value);
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** An array, or undefined if it is empty: no element says that. */
export function anyOf<T>(all: readonly T[]): readonly T[] | undefined {
  return all.length > 0 ? all : undefined;
}

/** The value of a field, or of one in it: the steps of `group.field`. */
export function valueAt(value: unknown, way: readonly string[]): unknown {
  return way.reduce((at, name) => isObject(at) ? at[name] : undefined, value);
}
