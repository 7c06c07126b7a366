import { elementOf, type Field, type Fields } from "../../../../schema/fields.ts";
import { isObject } from "../../../../schema/objects.ts";
import { CODE_LISTS } from "../../../../schema/onix_codes.ts";
import { dataElement } from "../rules/facts.ts";
import { scalar, textOf } from "../codecs/codec.ts";
import { shortened } from "../codecs/messages.ts";

/* Describes entries and values in words, for the messages of a report. */

/** The most values of an entry that are named. */
const MAX_VALUES = 8;

/** The description of an array's entries. */
export interface EntryKind {
  /** The name of their composite. */
  composite: string;
  key: readonly string[];
  fields: Fields;
}

/** Names an entry by its composite and natural key, with labels: `Price 02 (RRP including tax) GBP`. */
export function entryInWords(
  { composite, key, fields }: EntryKind,
  entry: Record<string, unknown>,
): string {
  const names = new Set(key.map((path) => path.split(".")[0]!));
  const values = [...names].flatMap((name) => valuesIn(name, fields[name]!, entry[name]));
  const most = values.slice(0, MAX_VALUES);
  const more = values.length > MAX_VALUES ? ["…"] : [];
  return [composite, ...most, ...more].join(" ");
}

function valuesIn(name: string, field: Field, value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one) => valuesIn(name, field, one));
  }
  if (isObject(value) && "fields" in field) {
    return Object.entries(field.fields).flatMap(([name, inner]) =>
      inner.kind === "values" || name.endsWith("_excluded")
        ? []
        : valuesIn(name, inner, value[name])
    );
  }
  const text = textOf(value);
  const element = elementOf(name, field);
  if (!text || !element) return [];
  const label = labelOf(element, text);
  return [label ? `${text} (${label})` : text];
}

/** The label of a code of the list that the element has. */
function labelOf(element: string, code: string): string | undefined {
  const list = Number.parseInt(dataElement(element)?.kind ?? "");
  const { codes } = CODE_LISTS[`${list}` as keyof typeof CODE_LISTS] ??
    { codes: [] };
  return codes.find((one) => one.code === code)?.label;
}

/** Shows a value in a message, shortened. */
export function valueInWords(value: unknown): string {
  const plain = scalar(value);
  const isNone = plain === undefined && !(value instanceof Object);
  if (isNone) return "";
  const text = typeof plain === "string" ? plain : JSON.stringify(value);
  return shortened(text);
}
