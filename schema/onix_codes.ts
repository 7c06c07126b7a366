import * as v from "valibot";
import file from "../sql/code_lists.json" with { type: "json" };

/** The ONIX code lists by number. `sql/seed.sql` stores them in the database. */
export const CODE_LISTS = file.lists;

type NumberOf<Key> = Key extends `${infer List extends number}` ? List : never;

/** The number of a list. */
export type OnixList = NumberOf<keyof typeof CODE_LISTS>;

/** A code of the list, described by its number for `/code-lists/{number}`. */
export function code(
  list: OnixList,
  message = `Expected a code of ONIX List ${list}`,
) {
  return v.pipe(
    v.picklist(codesOf(list), `invalid_code: ${message}`),
    v.description(`A code of ONIX List ${list}.`),
  );
}

/** The codes of the list, in its order. */
export function codesOf(list: OnixList): string[] {
  return CODE_LISTS[list].codes.map(({ code }) => code);
}
