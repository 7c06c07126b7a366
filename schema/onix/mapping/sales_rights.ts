import type { Column } from "../../fields.ts";
import { objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { child, childrenOf, setChild } from "../xml/element.ts";
import { checked } from "./checks.ts";
import { compositesOf } from "./entries.ts";
import { entryCodec, projectionOf } from "./fields.ts";
import { codecAt } from "./path_codec.ts";
import { type FieldCodec, textOf } from "./codec.ts";

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
  return {
    find: (parent, index = 0) =>
      [...childrenOf(parent, "SalesRights"), ...childrenOf(parent, rest)][
        index
      ],
    read(parent, reader) {
      const rights = inTerritory.read(parent, reader) as unknown[] | undefined;
      const found = child(parent, rest);
      const code = rights && typeOfRest.read(parent, reader);
      if (!found || !code) return rights;
      const right = { sales_rights_type: code, is_rest_of_world: true };
      const { result } = reader.attempt(() => entry.accept(right, found, reader));
      return result ? [...rights, reader.tie(found, result)] : rights;
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
