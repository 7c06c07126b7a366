// Declares `JSON.isRawJSON`.
import type {} from "../../../../schema/numbers.ts";
import { isObject } from "../../../../schema/objects.ts";
import type { Element } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/* The interface of codecs: how a value of a product is read from a record and written into it. */

/** Reads and writes one value of a composite. */
export interface Codec {
  /** The element of the value, or of the one with this index of several. */
  find?(composite: Element, index?: number): Element | undefined;
  read(composite: Element, reader: RecordReader): unknown;
  /** Writes the value `now` into the composite, which has the value `before`. The reader knows the elements of its entries. */
  write(
    composite: Element,
    now: unknown,
    before: unknown,
    reader: RecordReader,
  ): void;
}

/** The codec of a field, with the projection that is compared. */
export interface FieldCodec extends Codec {
  /** Returns the part of a value that its element can contain: without ids and labels. */
  project(value: unknown): unknown;
}

/** Returns a scalar in one form, or undefined for a value that no element can contain. */
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

/** Returns an array, or undefined if it is empty, since no element can contain that. */
export function unlessEmpty<T>(all: readonly T[]): readonly T[] | undefined {
  return all.length > 0 ? all : undefined;
}

/** The value of a field, or of one in it: the segments of `group.field`. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, name) => isObject(at) ? at[name] : undefined, value);
}
