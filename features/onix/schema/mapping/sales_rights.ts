import type { Column } from "../../../../schema/fields.ts";
import type { Entry } from "../../../../schema/bodies.ts";
import { MAX_ENTRIES, objectsIn } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { child, childrenOf, type Element, setChild } from "../xml/element.ts";
import { checked } from "../codecs/checks.ts";
import { compositesOf } from "../codecs/entries.ts";
import { entryCodec, projectionOf } from "../codecs/fields.ts";
import { codecAt } from "../codecs/path_codec.ts";
import { type FieldCodec, textOf } from "../codecs/codec.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Reads and writes sales rights. The right for the rest of the world is an entry of the same array.
 * In a record it is an element of its own, without a territory.
 */

/** The element of the right for the rest of the world. */
const REST = "ROWSalesRightsType";

/** The codec of the sales rights, that of the rest of the world last. */
export function salesRights(): FieldCodec {
  const { fields } = ARRAYS.product_sales_rights;
  const typeOfRest = checked(
    codecAt(REST),
    (fields.sales_rights_type as Column).body!,
  );
  const entry = entryCodec("SalesRights", ARRAYS.product_sales_rights);
  const project = projectionOf("SalesRights", ARRAYS.product_sales_rights);
  const inTerritory = compositesOf("SalesRights", entry);
  const readRest = (parent: Element, reader: RecordReader): Entry[] => {
    const found = child(parent, REST);
    const code = typeOfRest.read(parent, reader);
    if (!found || !code) return [];
    const right = { sales_rights_type: code, is_rest_of_world: true };
    const { result } = reader.attempt(() => entry.accept(right, found, reader));
    return result ? [reader.tie(found, result)] : [];
  };
  return {
    find: (parent, index = 0) =>
      [...childrenOf(parent, "SalesRights"), ...childrenOf(parent, REST)][
        index
      ],
    read(parent, reader) {
      const inRest = readRest(parent, reader);
      const rights = [...objectsIn(inTerritory.read(parent, reader)), ...inRest];
      const elements = [
        ...childrenOf(parent, "SalesRights"),
        ...inRest.map((right) => reader.elementOf(right)!),
      ];
      return allOrNone(rights, elements, reader);
    },
    write(parent, now, before, reader) {
      const all = objectsIn(now);
      inTerritory.write(
        parent,
        all.filter((entry) => !isRest(entry)),
        objectsIn(before).filter((entry) => !isRest(entry)),
        reader,
      );
      setChild(parent, REST, textOf(all.find(isRest)?.sales_rights_type));
    },
    // The element can contain only one for the rest of the world, which comes last.
    project: (value) =>
      project(objectsIn(value).toSorted((a, b) => Number(isRest(a)) - Number(isRest(b)))),
  };
}

function isRest(entry: Record<string, unknown>): boolean {
  return entry.is_rest_of_world === true;
}

/**
 * Returns the rights of these elements, or none if one cannot be read or there are too many: some
 * rights without the others would permit more than the sender did.
 */
function allOrNone(
  rights: readonly Entry[],
  elements: readonly Element[],
  reader: RecordReader,
): readonly Entry[] | void {
  const over = elements[MAX_ENTRIES];
  if (!over && rights.length === elements.length) return rights;
  if (over) reader.warn("too_many", `At most ${MAX_ENTRIES} entries`, over);
  for (const each of elements) reader.release(each);
  return reader.fail();
}
