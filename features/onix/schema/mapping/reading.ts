import type { Element } from "../xml/element.ts";
import { limitCollateral } from "./collateral.ts";
import { coverOf } from "./cover.ts";
import { containerOf } from "./mapped.ts";
import { MAPPED_FIELDS, MAPPING } from "./mapping.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/* Reads the values of a record. In: its elements. Out: the value of each mapped field. */

/** The values of a record, those of its blocks only if it has them. */
export type RecordValues = Record<string, unknown>;

/** A record that was read. */
export interface Reading {
  record: Element;
  values: RecordValues;
  reader: RecordReader;
}

/** The values in a record. Those of absent blocks are undefined. */
export function readValues(
  record: Element,
  reader: RecordReader,
): RecordValues {
  const values: RecordValues = {};
  for (const [name, { block, read }] of MAPPED_FIELDS) {
    const container = containerOf(record, block);
    if (!container) continue;
    const { result, isWhole } = reader.attempt(() => read(container, reader));
    if (!isWhole) reader.markUnreadable(name);
    if (result !== undefined) values[name] = result;
  }
  limitCollateral(values, reader);
  values.cover_image_url = coverOf(values.supporting_resources);
  return values;
}

/** The element of a field of the product in a record, or of the entry with this index. */
export function elementOfField(
  record: Element,
  name: string,
  index?: number,
): Element | undefined {
  const { block, find } = MAPPING[name]!;
  const container = containerOf(record, block);
  return container && find?.(container, index);
}
