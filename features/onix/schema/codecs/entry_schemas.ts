import * as v from "valibot";
import { objectOf, ruled } from "../../../../schema/bodies.ts";
import { column, type Field, type Fields, type Rule } from "../../../../schema/fields.ts";
import { remembered } from "../../../../schema/objects.ts";

/*
 * Schemas of the entries that the API accepts. In: the descriptions of the fields. Out: the schema
 * of all fields but arrays, whose entries are checked one by one.
 */

/** The fields of entries that their elements do not contain. */
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
