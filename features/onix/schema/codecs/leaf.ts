import { isAmbiguous, shortest, withPoint } from "../rules/decimals.ts";
import { expectedNumber, KINDS } from "../rules/kinds.ts";
import { withoutTags } from "../rules/xhtml.ts";
import { dateIn } from "../xml/dates.ts";
import { child, type Element, valueOf } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/* Reads the value of a data element as the API has it: a date, a number, a code or a text. */

/** The date of a composite, as the API has it. */
export function readDay(
  composite: Element,
  found: Element,
  reader: RecordReader,
): string | undefined {
  const read = dateIn(composite);
  if (!read) return;
  if ("fault" in read) {
    // A date of another calendar is valid, although no field can hold it.
    if (read.fault === "other_calendar") {
      reader.warn(read.fault, read.message, found);
    } else reader.failAt(found, read.fault, read.message);
  } else if ("from" in read) {
    const message = "Expected one date, not a span of time";
    reader.failAt(found, "invalid_date", message);
  } else {
    if (read.reformatted) {
      reader.warn("reformatted", `The date is read as ${read.date}`, found);
    }
    const format = child(composite, "DateFormat");
    if (format) reader.claim(format);
    return read.date;
  }
}

/** The kinds of whole numbers, and of all numbers. */
const WHOLE_KINDS = new Set(["n", "n+", "int"]);
const NUMBER_KINDS = new Set([...WHOLE_KINDS, "d", "d+", "dec", "percent"]);

/** The value of a data element in the type of its field. Warns of a value that cannot be read. */
export function readLeaf(
  found: Element,
  kind: string,
  reader: RecordReader,
): string | number | boolean | undefined {
  if (kind === "flag") return true;
  const text = found.markup && kind !== "flow" ? withoutTags(found.text).trim() : valueOf(found);
  if (text === undefined || text === "") return;
  if (!NUMBER_KINDS.has(kind)) {
    return reader.acceptCode(text, found, kind) ? text : undefined;
  }
  const number = withPoint(text);
  if (!KINDS.dec!.form.test(number)) {
    reader.failAt(
      found,
      "invalid_number",
      isAmbiguous(text)
        ? "A comma before three last digits may separate thousands or be a decimal sign: write a point, or no sign"
        : expectedNumber("dec"),
    );
    return;
  }
  if (number !== text) {
    const message = "A decimal comma is read as a decimal point";
    reader.warn("reformatted", message, found);
  }
  if (!WHOLE_KINDS.has(kind)) return shortest(number);
  return /^\+?\d{1,15}(?:\.0*)?$/.test(number) ? Number(number) : number;
}
