import type { Column } from "../../fields.ts";
import type { Entry } from "../../bodies.ts";
import { MAX_ENTRIES, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { child, childrenOf, type Element, setChild } from "../xml/element.ts";
import { checked } from "./checks.ts";
import { compositesOf } from "./entries.ts";
import { entryCodec, projectionOf } from "./fields.ts";
import { codecAt } from "./path_codec.ts";
import { type FieldCodec, textOf } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Where a product may be sold. What applies in the rest of the world is an entry of the same
 * array, and in a record an element of its own, without a territory.
 */

/** The codec of the sales rights, that of the rest of the world last. */
export function salesRights(): FieldCodec {
  const { fields } = ARRAYS.product_sales_rights;
  const rest = "ROWSalesRightsType";
  const typeOfRest = checked(
    codecAt(rest),
    (fields.sales_rights_type as Column).body!,
  );
  const isRest = (entry: Record<string, unknown>) => entry.is_rest_of_world === true;
  const entry = entryCodec("SalesRights", ARRAYS.product_sales_rights);
  const project = projectionOf("SalesRights", ARRAYS.product_sales_rights);
  const inTerritory = compositesOf("SalesRights", entry);
  const readRest = (parent: Element, reader: RecordReader): Entry[] => {
    const found = child(parent, rest);
    const code = typeOfRest.read(parent, reader);
    if (!found || !code) return [];
    const right = { sales_rights_type: code, is_rest_of_world: true };
    const { result } = reader.attempt(() => entry.accept(right, found, reader));
    return result ? [reader.tie(found, result)] : [];
  };
  return {
    find: (parent, index = 0) =>
      [...childrenOf(parent, "SalesRights"), ...childrenOf(parent, rest)][
        index
      ],
    read(parent, reader) {
      const inRest = readRest(parent, reader);
      const rights = [...objectsIn(inTerritory.read(parent, reader)), ...inRest];
      const elements = [
        ...childrenOf(parent, "SalesRights"),
        ...inRest.map((right) => reader.elementOf(right)!),
      ];
      const over = elements[MAX_ENTRIES];
      if (!over && rights.length === elements.length) return rights;
      if (over) reader.warn("too_many", `At most ${MAX_ENTRIES} entries`, over);
      // Some rights without the others would say more than the sender did.
      for (const each of elements) reader.release(each);
      return reader.fail();
    },
    write(parent, now, before, reader) {
      const all = objectsIn(now);
      inTerritory.write(
        parent,
        all.filter((entry) => !isRest(entry)),
        objectsIn(before).filter((entry) => !isRest(entry)),
        reader,
      );
      setChild(parent, rest, textOf(all.find(isRest)?.sales_rights_type));
    },
    // An element can say one for the rest of the world, and says it last.
    project: (value) =>
      project(objectsIn(value).toSorted((a, b) => Number(isRest(a)) - Number(isRest(b)))),
  };
}
