import * as v from "valibot";
import { fields, isObject, list, step } from "./objects.ts";
import { code } from "./onix_codes.ts";
import { TerritoryBody } from "./territory_entries.ts";
import { optional, text, Uuid } from "./values.ts";

/** A sales right. It either has a territory or covers the rest of the world. */
export const SalesRightBody = v.pipe(
  fields({
    id: v.optional(Uuid),
    sales_rights_type: code(46),
    is_rest_of_world: v.optional(
      v.boolean("invalid_type: Expected true or false"),
      false,
    ),
    territory: optional(TerritoryBody),
    publisher_name: optional(text()),
  }, ["sales_rights_type_label", "for_sale", "exclusive"]),
  v.rawCheck(({ dataset, addIssue }) => {
    const right: unknown = dataset.value;
    if (!isObject(right)) return;
    const { is_rest_of_world = false, territory = null } = right;
    if (is_rest_of_world === (territory === null)) return;
    if (typeof is_rest_of_world !== "boolean") return;
    addIssue({
      message: is_rest_of_world
        ? "unexpected_territory: The rest of the world has no territory: send null"
        : "required: A territory is required, except for the rest of the world",
      path: [step("object", right, "territory")],
    });
  }),
);

/** The body of `PUT /products/{id}/sales-rights`: all sales rights of a product. */
export const SalesRightsBody = list(SalesRightBody, "id");

export type SalesRightsBody = v.InferOutput<typeof SalesRightsBody>;
