import * as v from "valibot";
import { type Entry, objectOf } from "../../../schema/bodies.ts";
import { idOfCode } from "../../../schema/code_ids.ts";
import { detailAt, type ErrorDetail } from "../../../schema/errors.ts";
import { about, assigned, column, type Fields, required, time } from "../../../schema/fields.ts";
import { CODE_FILTERS, REFERENCE_FILTERS } from "../../../schema/list_query.ts";
import { array, closedObject, SAME } from "../../../schema/objects.ts";
import { code } from "../../../schema/onix_codes.ts";
import { PRODUCT_TYPES } from "../../../schema/product.ts";
import {
  codeListOf,
  LIFECYCLE_CODES,
  MAX_NAME,
  type SharedTable,
} from "../../../schema/records.ts";
import {
  Count,
  Day,
  described,
  heading,
  oneOf,
  optionalFlag,
  Timestamp,
  Uuid,
} from "../../../schema/values.ts";
import type { Criteria, View } from "../../../schema/view.ts";
import { LEFT_OUT_FIELDS, NameToLeaveOut } from "./leave_out.ts";

/* The bodies and responses of recipients. `schema/view.ts` defines the view of one. */

/** The most recipients of an organization. */
export const MAX_RECIPIENTS = 100;

/** The most values of a criterion. */
export const MAX_VALUES = 100;

function values<const S extends v.GenericSchema<string, string>>(about: string, item: S) {
  return described(
    about,
    v.optional(v.pipe(
      array(item, { min: 1, max: MAX_VALUES }),
      v.transform((values) => [...new Set(values as string[])]),
    )),
  );
}

function codeOfTable(table: SharedTable) {
  const list = codeListOf(table);
  return list ? code(list) : oneOf(...LIFECYCLE_CODES);
}

/** Criteria of products, by name. */
const Criterion = closedObject({
  ...Object.fromEntries([
    ...REFERENCE_FILTERS.map(({ field, filter }) => [field, values(filter!, Uuid)]),
    ...CODE_FILTERS.map(({ name, reference: { field, table } }) => [
      name,
      values(
        `As \`${field}\`, by the codes of the records.`,
        codeOfTable(table as SharedTable) as v.GenericSchema<string, string>,
      ),
    ]),
  ]),
  program_id: values(
    "Products in one of these publishing programs: those are the lists that are picked by hand.",
    Uuid,
  ),
  product_type: values("Products of one of these types.", oneOf(...PRODUCT_TYPES)),
  language_code: values("Products with one of these languages (ONIX List 74).", code(74)),
  subject_code: values(
    "Products with one of these subject codes. One that ends in `*` is a beginning.",
    heading(200),
  ),
  publication_date_from: described("Products published on this day or later.", v.optional(Day)),
  publication_date_to: described("Products published on this day or earlier.", v.optional(Day)),
  announced: described(
    "Without the products that are announced on a later day, to the trade (role 10 in `publishing_dates`) or to the public (role 09). Days begin at 00:00 UTC.",
    v.optional(oneOf("trade", "public")),
  ),
});

/** Names with references to records, in criteria. */
export const REFERENCES_IN_CRITERIA: readonly [name: string, table: string][] = [
  ...REFERENCE_FILTERS.map(({ field, table }): [string, string] => [field, table]),
  ["program_id", "publishing_programs"],
];

const SELECTION =
  "Which products the recipient sees: filters of `GET /products`, all of which a product meets. `{}` selects every product. The id of a record that is deleted later matches nothing.";

const LEAVE_OUT = `What the recipient does not see of products: fields (${
  LEFT_OUT_FIELDS.map((name) => `\`${name}\``).join(", ")
}), and ONIX elements by their reference names, such as \`Stock\`, wherever they stand. What limits an entry, such as its territory, cannot be left out (\`limits\`).`;

// deno-fmt-ignore
const RECIPIENT = {
  id: about("The id of the recipient.", assigned(Uuid), null),
  name: about("The name of the recipient, such as that of a shop.", required(column(heading(MAX_NAME), v.string())), null),
  selection: about(SELECTION, column(Criterion, Criterion, { fallback: {} }), null),
  except: about("The products that the recipient does not see although they are selected: those that meet all of these filters.",
    column(v.nullable(Criterion), v.nullable(Criterion)), null),
  leave_out: about(LEAVE_OUT,
    column(array(NameToLeaveOut, { max: 100, distinct: [SAME] }), v.array(v.string()), { fallback: [] }), null),
  currencies: about("The currencies of the prices that the recipient sees. Null: all. `[]`: no prices.",
    column(v.nullable(array(code(96), { max: 200, distinct: [SAME] })), v.nullable(v.array(v.string()))), null),
  price_types: about("The types (ONIX List 58) of the prices that the recipient sees. In `product_prices`, `retail_price` has type 01 and `retail_price_inc_tax` 02. Null: all.",
    column(v.nullable(array(code(58), { max: 200, distinct: [SAME] })), v.nullable(v.array(v.string()))), null),
  products: about("How many products the recipient sees now.", assigned(Count), null),
  last_fetched_at: about("When a key of the recipient last read a feed or a sheet. Null: never.",
    { kind: "column", response: v.nullable(Timestamp) }, null),
  created_at: about("The time at which the recipient was created.", time, null),
  updated_at: about("The time of its last change.", time, null),
} satisfies Fields;

export const Recipient = objectOf(RECIPIENT, "shown");

/** A valid body of `POST /recipients`. */
export interface NewRecipient extends Entry, Omit<View, "id"> {
  name: string;
}

export const CreateRecipient = objectOf(RECIPIENT, "new") as v.GenericSchema<unknown, NewRecipient>;

/** A valid body of `PUT /recipients/{id}`. An absent field keeps its value. */
export type RecipientChange = Partial<NewRecipient>;

export const UpdateRecipient = objectOf(RECIPIENT, "changed") as v.GenericSchema<
  unknown,
  RecipientChange
>;

/** The effect of a write on the products that the recipient sees. */
export const Effect = v.object({
  comes: described("The number of products that enter the view.", Count),
  leaves: described("The number of products that leave the view.", Count),
});

export type Effect = v.InferOutput<typeof Effect>;

/** The parameter for a dry run. */
export const DryRunParameters = v.object({
  dry_run: optionalFlag(
    "Whether to say what would happen without writing anything.",
  ),
});

export type DryRunQuery = v.InferOutput<typeof DryRunParameters>;

/** A recipient with its access to one product. */
export const ProductRecipient = v.object({
  id: described("The id of the recipient.", Uuid),
  name: described("The name of the recipient.", v.string()),
  in_view: described("Whether the recipient sees the product now.", v.boolean()),
  since: described(
    "Since when the recipient's feed has reported the product. Null before that, and for a recipient without `selection` and `except`.",
    v.nullable(Timestamp),
  ),
  because: described(
    "JSON Pointers to the criteria of the recipient that keep the product out, such as `/selection/imprint_id`.",
    v.array(v.string()),
  ),
});

export type ProductRecipient = v.InferOutput<typeof ProductRecipient>;

/** The statuses (List 64) of products that are no longer for sale, which follow status 04. */
const AFTER_ACTIVE = ["06", "07", "08", "11"];

const LEAVES_BY_STATUS =
  "leaves_by_status: A product that goes out of print leaves the view: its recipient is told that the record was a mistake, not that the book is out of print. Select the statuses 06, 07, 08 and 11, too, or only `except` those before publication";

/** The warnings of a recipient whose products leave when they go out of print. */
export function statusWarnings({ selection }: Pick<View, "selection">): ErrorDetail[] {
  const names = ["publishing_status_code", "publishing_status_id"] as const;
  return names.flatMap((name) => {
    const values = (selection as Criteria)[name] as string[] | undefined;
    if (!values) return [];
    const has = (status: string) =>
      values.includes(status) || values.includes(idOfCode("64", status));
    return has("04") && !AFTER_ACTIVE.every(has)
      ? [detailAt(`/selection/${name}`, LEAVES_BY_STATUS)]
      : [];
  });
}
