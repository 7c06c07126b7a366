import { compositeSince21, isAtMostOnce, nameInOnix21 } from "../rules/facts.ts";
import { bareDateIn, isBareDate } from "../xml/dates.ts";
import type { Element } from "../xml/element.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Warns about single elements of any field: those that repeat another, are of ONIX 2.1, or have a
 * text that is read in another form.
 */

/** Warns of the elements of a record: as it was received, and as it is stored with the defaults of its header. */
export function warnOfElements(
  received: Element,
  record: Element,
  reader: RecordReader,
): void {
  warnOfElement(received, record, reader);
  warnOfChildren(received, record, reader);
}

function warnOfChildren(received: Element, stored: Element, reader: RecordReader): void {
  const seen = new Map<string, Element>();
  for (const [i, each] of received.children.entries()) {
    const child = stored.children[i]!;
    const first = seen.get(each.name);
    if (!first) seen.set(each.name, child);
    else if (isAtMostOnce(each.name, received.name)) {
      reader.warnOfOther(child, first);
    }
    const composite = compositeSince21(received.name, each.name);
    if (composite) {
      const message =
        `${each.name} stands in ${composite} since ONIX 3.0: here it is kept in the record`;
      reader.warn("onix21_element", message, child, { value: null });
    }
    warnOfElement(each, child, reader);
    if (each.children.length > 0) warnOfChildren(each, child, reader);
  }
}

function warnOfElement(received: Element, stored: Element, reader: RecordReader): void {
  if (received.text !== stored.text) {
    const message = "A user and password in a URL are not stored";
    reader.warn("credentials_removed", message, stored, { value: null });
  }
  if (received.recoded) {
    const message = "Controls are read as characters of Windows-1252";
    reader.warn("windows_1252", message, stored);
  }
  if (isBareDate(received.name) && "reformatted" in bareDateIn(received)) {
    reader.warn("reformatted", "The date is read in another form", stored);
  }
  if (nameInOnix21(received.name) !== undefined) {
    const message = `${received.name} is an element of ONIX 2.1: it is kept in the record`;
    reader.warn("onix21_element", message, stored);
  }
}
