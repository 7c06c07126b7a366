import * as v from "valibot";
import { objectOf, ruled } from "../../bodies.ts";
import { column, type Field, type Fields, type Rule } from "../../fields.ts";
import { remembered } from "../../objects.ts";

/*
 * What the API accepts of an entry. In: the descriptions of its fields. Out: the schema of all
 * but its arrays, whose entries are checked one by one.
 */

/** What entries have beside what their elements say. */
const BESIDE = {
  id: v.optional(v.unknown()),
  collateral_type: v.optional(v.unknown()),
};

/** The schema of an object whose arrays have been checked. */
export const schemaOfEntry = remembered((
  { fields, rules, stored }: {
    fields: Fields;
    rules?: readonly Rule[] | undefined;
    stored?: (entry: Record<string, unknown>) => Record<string, unknown>;
  },
) => {
  const entry = objectOf(withoutArrays(fields), "new", BESIDE);
  const valid = ruled(entry, "new", rules);
  return stored ? v.pipe(valid, v.transform(stored)) : valid;
});

function withoutArrays(fields: Fields): Fields {
  const any = v.unknown();
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]): [string, Field] => {
      switch (field.kind) {
        case "values":
        case "list":
          return [name, column(any)];
        case "rows":
          return [name, column(any, any, { fallback: [] })];
        case "group": {
          const { type: _, ...group } = field;
          return [name, { ...group, fields: withoutArrays(field.fields) }];
        }
        default:
          return [name, field];
      }
    }),
  );
}
