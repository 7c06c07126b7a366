import { bareIsbn } from "../../values.ts";
import {
  childrenOf,
  childValue,
  type Element,
  element,
} from "../xml/element.ts";
import { child } from "../xml/element.ts";
import { isbnOf } from "../xml/mend.ts";
import { type Part, replaceChildren, scalar, setChild } from "./part.ts";
import type { Reading } from "./reading.ts";

/*
 * The ISBNs among the identifiers of a product. An ISBN-13 stands as type 15, or as a
 * GTIN-13 of type 03, or as both. An ISBN-10 is type 02.
 */

/** The types of identifiers that a new ISBN gets. */
const TYPES = { isbn13: ["03", "15"], isbn10: ["02"] } as const;

/** The ISBN of a product, bare. */
export function isbnPart(field: "isbn13" | "isbn10"): Part {
  const all = (product: Element) =>
    childrenOf(product, "ProductIdentifier")
      .filter((each) => isbnOf(each) === field);
  return {
    read(product, reading) {
      const found = all(product);
      // Type 15 says that it is an ISBN, 03 only that it is a GTIN.
      found.sort((a, b) => Number(isIsbnType(b)) - Number(isIsbnType(a)));
      let isbn: string | undefined;
      for (const each of found) {
        const value = childValue(each, "IDValue");
        if (value === undefined) continue;
        const bare = bareIsbn(value);
        if (isbn !== undefined && bare !== isbn) {
          reading.warn(
            "another_isbn",
            `The record has another ISBN before this one, ${isbn}`,
            each,
            { name: "IDValue" },
          );
          continue;
        }
        if (bare !== value) {
          reading.warn(
            "reformatted",
            `The ISBN is stored as ${bare}`,
            each,
            { name: "IDValue" },
          );
        }
        isbn = bare;
        useAll(each, reading);
        reading.useFor(field, child(each, "IDValue")!);
      }
      return isbn;
    },
    write(product, now, before) {
      const own = all(product).filter((each) =>
        bareIsbn(childValue(each, "IDValue") ?? "") === before
      );
      if (typeof now !== "string") return replaceChildren(product, own, []);
      if (own.length > 0) {
        for (const each of own) setChild(each, "IDValue", now);
        return;
      }
      product.children.push(
        ...TYPES[field].map((type) =>
          element("ProductIdentifier", [
            element("ProductIDType", type),
            element("IDValue", now),
          ])
        ),
      );
    },
    project: scalar,
  };
}

function isIsbnType(identifier: Element): boolean {
  return childValue(identifier, "ProductIDType") === "15";
}

export function useAll(composite: Element, reading: Reading): void {
  if (composite.children.length === 0) reading.use(composite);
  composite.children.forEach((child) => useAll(child, reading));
}
