import type { Entry } from "../../../../schema/bodies.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { childrenOf, type Element, element, replaceChildren, valueOf } from "../xml/element.ts";
import { check, checkedArray } from "../codecs/checks.ts";
import type { Codec } from "../codecs/codec.ts";
import { compositesOf } from "../codecs/entries.ts";
import { schemaOfEntry } from "../codecs/entry_schemas.ts";
import { entryCodec } from "../codecs/fields.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * The audiences of a product. Release 3.0 has two forms for one audience of List 28. In: the
 * `Audience` composites of a record, and its `AudienceCode` elements. Out: one array. An edit turns
 * each `AudienceCode` into the `Audience` that it goes out as in 3.1.
 *
 * `<AudienceCode>02</AudienceCode>` is an audience with type 01 and value 02.
 */

const CODE = "AudienceCode";

/** The list of the codes in `AudienceCode`, as an `AudienceCodeType`: ONIX List 28. */
const ONIX_AUDIENCES = "01";

/** Returns the codec of the audiences, those of `AudienceCode` first, as in a record. */
export function audiences(): Codec {
  const entry = entryCodec("Audience", ARRAYS.audiences);
  const composites = compositesOf("Audience", entry);
  return {
    find: (parent, index = 0) =>
      [...childrenOf(parent, CODE), ...childrenOf(parent, "Audience")][index],
    read(parent, reader) {
      const rest = objectsIn(composites.read(parent, reader));
      const all = [...readCodes(parent, rest, reader), ...rest].map((entry) => ({
        found: reader.elementOf(entry)!,
        entry,
      }));
      return checkedArray({}, "Audience", parent, all, reader);
    },
    write(parent, now, before, reader) {
      const old = objectsIn(before);
      const elements = new Set(old.map((entry) => reader.elementOf(entry)));
      for (const found of childrenOf(parent, CODE)) {
        if (elements.has(found)) toComposite(found);
        // An `Audience` with the same content is the entry.
        else if (isAmong(old, found)) replaceChildren(parent, [found], []);
      }
      composites.write(parent, now, before, reader);
    },
  };
}

/** Reads the codes of a record without those that an `Audience` repeats. */
function readCodes(parent: Element, rest: readonly Entry[], reader: RecordReader): Entry[] {
  return childrenOf(parent, CODE).flatMap((found) => {
    const value = valueOf(found);
    if (value === undefined) return [];
    const { result } = reader.attempt(() =>
      check(
        schemaOfEntry(ARRAYS.audiences),
        { audience_code_type: ONIX_AUDIENCES, audience_code_value: value },
        () => ({ element: found }),
        reader,
      ) as Entry | undefined
    );
    if (!result) return [];
    reader.claim(found);
    return isAmong(rest, found) ? [] : [reader.tie(found, result)];
  });
}

/** Whether an entry has the audience of a code. */
function isAmong(entries: readonly Entry[], code: Element): boolean {
  return entries.some((entry) =>
    entry.audience_code_type === ONIX_AUDIENCES && entry.audience_code_value === valueOf(code)
  );
}

/** Turns a code into a composite with the same content. */
function toComposite(code: Element): void {
  code.name = "Audience";
  code.children = [
    element("AudienceCodeType", ONIX_AUDIENCES),
    element("AudienceCodeValue", code.text),
  ];
  code.text = "";
}
