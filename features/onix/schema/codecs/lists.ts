import * as v from "valibot";
import type { List } from "../../../../schema/fields.ts";
import { MAX_ENTRIES, SAME } from "../../../../schema/objects.ts";
import { dataElement } from "../rules/facts.ts";
import {
  attributesAfter,
  child,
  childrenOf,
  element,
  removeDependents,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { check, checkedArray } from "./checks.ts";
import type { Codec } from "./codec.ts";
import { readLeaf } from "./leaf.ts";

/*
 * Codecs of arrays of single values: several codes in one data element (`GB US`), or a data element
 * for each.
 */

/** A data element that holds several codes. */
export function codes(name: string): Codec {
  const { kind } = dataElement(name)!;
  return {
    find: (composite) => child(composite, name),
    read(composite, reader) {
      const found = child(composite, name);
      const value = valueOf(found);
      if (!found || value === undefined) return [];
      reader.claim(found);
      return [...new Set(value.split(" "))].filter((code) => reader.acceptCode(code, found, kind));
    },
    write(composite, now) {
      const text = (now as string[] | undefined ?? []).join(" ");
      setChild(composite, name, text === "" ? undefined : text);
    },
  };
}

/** A data element that is repeated. */
export function leaves(name: string, list: Partial<List> = {}): Codec {
  const { item = v.unknown(), max, isDistinct, isRequired } = list;
  const distinct = isDistinct ? [SAME] : [];
  const { kind } = dataElement(name)!;
  return {
    find: (composite, index = 0) => childrenOf(composite, name)[index],
    read(composite, reader) {
      // One more than the API accepts is enough to know that there are too many.
      const all = childrenOf(composite, name).slice(0, MAX_ENTRIES + 1);
      const read = all.flatMap((found) => {
        const { result } = reader.attempt(() =>
          check(
            item,
            readLeaf(found, kind, reader),
            () => ({ element: found }),
            reader,
          )
        );
        if (typeof result !== "string") return [];
        reader.claim(found);
        return { found, entry: result };
      });
      const limits = { max, distinct, isRequired };
      return checkedArray(limits, name, composite, read, reader);
    },
    write(composite, now, before) {
      const old = childrenOf(composite, name);
      const was = before as string[] | undefined ?? [];
      // A value may stand twice in the record, and once in the list.
      const known = old.filter((each) => was.includes(valueOf(each) ?? ""));
      const values = now as string[] | undefined ?? [];
      const unused = [...known];
      const same = values.map((value) => {
        const i = unused.findIndex((each) => valueOf(each) === value);
        return i < 0 ? undefined : unused.splice(i, 1)[0]!;
      });
      const wanted = values.map((value, i) => {
        // A text that was corrected in its place keeps its language.
        const earlier = values.length === known.length && unused.includes(known[i]!);
        return same[i] ?? element(name, value, earlier ? attributesAfter(known[i]!) : {});
      });
      replaceChildren(composite, known, wanted);
      removeDependents(composite, name);
    },
  };
}
