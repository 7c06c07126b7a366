import { bareIsbn } from "../../values.ts";
import {
  child,
  childrenOf,
  childValue,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { isbnOf } from "../xml/mend.ts";
import { type Codec, replaceChildren, scalar, setChild } from "./codec.ts";

/*
 * The ISBNs among the identifiers of a product. An ISBN-13 stands as type 15, or as a
 * GTIN-13 of type 03, or as both. An ISBN-10 is type 02.
 */

/** The types of identifiers that a new ISBN gets. */
const ISBN_TYPES = { isbn13: ["03", "15"], isbn10: ["02"] } as const;

/** The ISBN of a product, bare. */
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
        if (!id || value === undefined) continue;
        const bare = bareIsbn(value);
        if (isbn !== undefined && bare !== isbn) {
          const message =
            `The record has another ISBN before this one, ${isbn}`;
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
    project: scalar,
  };
}

/** Type 15 says that it is an ISBN, 03 only that it is a GTIN. */
function isbnTypeFirst(all: Element[]): Element[] {
  return all.sort((a, b) => Number(isIsbnType(b)) - Number(isIsbnType(a)));
}

function isIsbnType(identifier: Element): boolean {
  return childValue(identifier, "ProductIDType") === "15";
}
