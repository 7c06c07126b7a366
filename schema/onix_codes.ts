import * as v from "valibot";
import file from "../sql/code_lists.json" with { type: "json" };

/** The ONIX code lists by number. `sql/seed.sql` stores them in the database. */
export const CODE_LISTS = file.lists;

type NumberOf<Key> = Key extends `${infer List extends number}` ? List : never;

/** The number of a list. */
export type OnixList = NumberOf<keyof typeof CODE_LISTS>;

/** What the message about an unknown code expects, if not "a code of ONIX List …". */
const EXPECTED: { [list in OnixList]?: string } = {
  96: "a currency of ISO 4217, in capitals",
};

/**
 * A code of the list, described by its number for `/code-lists/{number}`. A list has one
 * schema, so that the OpenAPI document can name it.
 */
export function code(list: OnixList) {
  const known = SCHEMAS.get(list) ?? v.pipe(
    oneOfMany(
      codesIn(list),
      `invalid_code: Expected ${
        EXPECTED[list] ?? `a code of ONIX List ${list}`
      }`,
    ),
    v.description(`A code of ONIX List ${list}.`),
  );
  SCHEMAS.set(list, known);
  return known;
}

/** `v.picklist`, which compares with each of hundreds of codes, without the comparisons. */
function oneOfMany(codes: string[], message: string) {
  const schema = v.picklist(codes, message);
  const all = new Set<unknown>(codes);
  const run: typeof schema["~run"] = (dataset, config) =>
    all.has(dataset.value)
      ? { typed: true, value: dataset.value as string }
      : schema["~run"](dataset, config);
  return { ...schema, "~run": run };
}

type CodeSchema = v.GenericSchema<string>;

const SCHEMAS = new Map<OnixList, CodeSchema>();

/** The codes of the list, in its order. */
export function codesIn(list: OnixList): string[] {
  return CODE_LISTS[list].codes.map(({ code }) => code);
}
