import { childrenOf, childValue, type Element, setChild, valueOf } from "../xml/element.ts";
import { type Codec, textOf } from "../codecs/codec.ts";

/* The availability of a product. A record has one for each supplier, a product a single one. */

/**
 * Returns the codec of the availability: that of all supply details, if they have the same. A
 * changed one replaces all that had the old value.
 */
export function availability(): Codec {
  const name = "ProductAvailability";
  const detailsIn = (product: Element) =>
    childrenOf(product, "ProductSupply")
      .flatMap((supply) => childrenOf(supply, "SupplyDetail"));
  const codesIn = (product: Element) =>
    detailsIn(product).flatMap((detail) => childrenOf(detail, name))
      .filter((each) => valueOf(each) !== undefined);
  return {
    find: (product) => codesIn(product)[0],
    read(product, reader) {
      const [first, ...others] = codesIn(product);
      const code = valueOf(first);
      if (!first || others.some((other) => valueOf(other) !== code)) return;
      reader.claim(first);
      return code;
    },
    write(product, now, before) {
      const code = textOf(now);
      if (code === undefined) return;
      const old = codesIn(product).length > 0 ? textOf(before) : undefined;
      for (const detail of detailsIn(product)) {
        if (childValue(detail, name) === old) setChild(detail, name, code);
      }
    },
  };
}
