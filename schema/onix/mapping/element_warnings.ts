import { compositeSince21, isAtMostOnce, nameInOnix21 } from "../rules/facts.ts";
import type { Element } from "../xml/element.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * What is told of single elements, whatever field they are of: that they repeat another, are
 * of ONIX 2.1, or have a text that is read as another.
 */

/** Warns of the elements of a record. `received` is the record without the defaults of its header. */
export function warnOfElements(
  received: Element,
  record: Element,
  reader: RecordReader,
): void {
  warnOf(received, record);
  visit(received, record);

  function visit(was: Element, is: Element): void {
    const seen = new Map<string, Element>();
    for (const [i, each] of was.children.entries()) {
      const child = is.children[i]!;
      const first = seen.get(each.name);
      if (!first) seen.set(each.name, child);
      else if (isAtMostOnce(each.name, was.name)) {
        reader.warnOfOther(child, first);
      }
      const composite = compositeSince21(was.name, each.name);
      if (composite) {
        const message =
          `${each.name} stands in ${composite} since ONIX 3.0: here it is kept in the record`;
        reader.warn("onix21_element", message, child, { value: null });
      }
      warnOf(each, child);
      if (each.children.length > 0) visit(each, child);
    }
  }

  function warnOf(was: Element, is: Element): void {
    if (was.text !== is.text) {
      const message = "A user and password in a URL are not stored";
      reader.warn("credentials_removed", message, is, { value: null });
    }
    if (was.recoded) {
      const message = "Controls are read as characters of Windows-1252";
      reader.warn("windows_1252", message, is);
    }
    if (nameInOnix21(was.name) !== undefined) {
      const message = `${was.name} is an element of ONIX 2.1: it is kept in the record`;
      reader.warn("onix21_element", message, is);
    }
  }
}
