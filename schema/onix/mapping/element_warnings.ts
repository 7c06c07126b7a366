import { compositeSince21, isAtMostOnce, nameInOnix21 } from "../rules/facts.ts";
import type { Element } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Warnings about single elements, whatever field they are of: that they repeat another, are
 * of ONIX 2.1, or have a text that is read as another.
 */

/** Warns of the elements of a record: as it was received, and as it is stored with the defaults of its header. */
export function warnOfElements(
  received: Element,
  record: Element,
  reader: RecordReader,
): void {
  warnOf(received, record);
  visit(received, record);

  function visit(arrived: Element, stored: Element): void {
    const seen = new Map<string, Element>();
    for (const [i, each] of arrived.children.entries()) {
      const child = stored.children[i]!;
      const first = seen.get(each.name);
      if (!first) seen.set(each.name, child);
      else if (isAtMostOnce(each.name, arrived.name)) {
        reader.warnOfOther(child, first);
      }
      const composite = compositeSince21(arrived.name, each.name);
      if (composite) {
        const message =
          `${each.name} stands in ${composite} since ONIX 3.0: here it is kept in the record`;
        reader.warn("onix21_element", message, child, { value: null });
      }
      warnOf(each, child);
      if (each.children.length > 0) visit(each, child);
    }
  }

  function warnOf(arrived: Element, stored: Element): void {
    if (arrived.text !== stored.text) {
      const message = "A user and password in a URL are not stored";
      reader.warn("credentials_removed", message, stored, { value: null });
    }
    if (arrived.recoded) {
      const message = "Controls are read as characters of Windows-1252";
      reader.warn("windows_1252", message, stored);
    }
    if (nameInOnix21(arrived.name) !== undefined) {
      const message = `${arrived.name} is an element of ONIX 2.1: it is kept in the record`;
      reader.warn("onix21_element", message, stored);
    }
  }
}
