import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { isbnOf } from "../valid/converted.ts";
import { bareIsbn } from "../../../../schema/values.ts";
import type { Codec } from "./codec.ts";

/*
 * Codecs of the ISBNs of a product. A record may have an ISBN in several identifiers: as one of
 * type 15, as a GTIN, or repeated.
 */

/** The types of identifiers that a new ISBN gets. */
const ISBN_TYPES = { isbn13: ["03", "15"], isbn10: ["02"] } as const;

/** The codec of an ISBN, which a product has without hyphens and spaces. */
export function isbnCodec(field: "isbn13" | "isbn10"): Codec {
  const all = (product: Element) =>
    childrenOf(product, "ProductIdentifier")
      .filter((each) => isbnOf(each) === field);
  return {
    find: (product) =>
      isbnTypeFirst(all(product)).map((each) => child(each, "IDValue"))
        .find((found) => valueOf(found) !== undefined),
    read(product, reader) {
      const found = isbnTypeFirst(all(product));
      let isbn: string | undefined;
      for (const each of found) {
        const id = child(each, "IDValue");
        const value = valueOf(id);
        if (!id || value === undefined) {
          reader.warnOfMissing(each, "IDValue");
          continue;
        }
        const bare = bareIsbn(value);
        if (isbn !== undefined && bare !== isbn) {
          const message = `The record has another ISBN before this one, ${isbn}`;
          reader.warn("another_isbn", message, id);
          continue;
        }
        if (bare !== value) {
          reader.warn("reformatted", `The ISBN is stored as ${bare}`, id);
        }
        isbn = bare;
        each.children.forEach((child) => reader.claim(child));
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
        ...ISBN_TYPES[field].map((type) =>
          element("ProductIdentifier", [
            element("ProductIDType", type),
            element("IDValue", now),
          ])
        ),
      );
    },
  };
}

/** Sorts identifiers of type 15 first. It marks ISBNs, while 03 marks any GTIN. */
function isbnTypeFirst(all: Element[]): Element[] {
  return all.sort((a, b) => Number(isIsbnType(b)) - Number(isIsbnType(a)));
}

function isIsbnType(identifier: Element): boolean {
  return childValue(identifier, "ProductIDType") === "15";
}
