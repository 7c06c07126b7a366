import * as v from "valibot";
import type { Field } from "./fields.ts";
import { code, codesIn, type OnixList } from "./onix_codes.ts";
import { choices, codesLike, embeds, limit, Term, Time, Uuids, wholeNumber } from "./parameters.ts";
import { type ArrayName, LISTED, PRODUCT_TYPES, SCALARS } from "./product.ts";
import { codeListOf, LIFECYCLE_CODES, pathOfTable, type SharedTable } from "./records.ts";
import { type ProductReference, REFERENCES } from "./references.ts";
import { didYouMean, speller } from "./spelling.ts";
import { Day, described, heading, Isbn10, Isbn13, oneOf } from "./values.ts";
import { Recipient } from "./view.ts";

/* The query of `GET /products`: filters, search, order, page and embeds. */

/** The references by which lists are filtered, with the parameters of their names. */
export const REFERENCE_FILTERS = REFERENCES.filter(({ filter }) => filter);

/** The filters of the specification (4.2). */
export const COUNTED_FILTERS = REFERENCE_FILTERS
  .filter(({ isCounted }) => isCounted).map(({ field }) => field);

/** A filter of lists by the codes of shared records. */
export interface CodeFilter {
  /** The parameter, which is also the field in responses. */
  name: `${string}_code`;
  reference: ProductReference;
  schema: v.GenericSchema<unknown, string[]>;
}

export const CODE_FILTERS: readonly CodeFilter[] = Object.entries<Field>(
  SCALARS,
).flatMap(([name, shown]): CodeFilter[] => {
  if (shown.kind !== "shown" || shown.column !== "code") return [];
  const reference = REFERENCES.find(({ field, array }) => !array && field === shown.reference)!;
  const schema = codesOfTable(reference.table as SharedTable);
  return [{ name: name as CodeFilter["name"], reference, schema }];
});

function codesOfTable(table: SharedTable) {
  const list = codeListOf(table);
  if (list) return codesOn(list);
  const near = speller(LIFECYCLE_CODES);
  const known = v.picklist(
    LIFECYCLE_CODES,
    ({ input }) =>
      `invalid_code: Expected a code of ${pathOfTable(table)}${didYouMean(near(String(input)))}`,
  );
  return codeList(known, LIFECYCLE_CODES[0]);
}

function codesOn(list: OnixList) {
  return codeList(code(list), codesIn(list)[0]!);
}

function codeList(code: v.GenericSchema<string, string>, example: string) {
  return v.pipe(codesLike(example), v.array(code));
}

/** Filters that match at most a few products, by exact value. */
const EXACT = {
  isbn13: described(
    "Products with one of these ISBN-13.",
    v.optional(codesLike("9780306406157", Isbn13)),
  ),
  isbn10: described(
    "Products with one of these ISBN-10.",
    v.optional(codesLike("0306406152", Isbn10)),
  ),
  product_code: described(
    "The products with these codes.",
    v.optional(codesLike("P-0DYSSEY1")),
  ),
};

/** Filters by the values of arrays, through the table `product_terms`. */
const TERMS = {
  language_code: described(
    "Products with one of these languages, in any role: codes of ONIX List 74.",
    v.optional(codesOn(74)),
  ),
  subject_code: described(
    "Products with one of these subject codes, of any scheme. A code that ends in `*` is a beginning: `FB*` finds all of Thema's FB.",
    v.optional(codesLike("FBA")),
  ),
  accessibility_code: described(
    "Products with one of these features of accessibility among their `product_form_features`: codes of ONIX List 196.",
    v.optional(codesOn(196)),
  ),
  id_value: described(
    "Products with this value among their `product_identifiers`.",
    v.optional(v.pipe(heading(), v.transform((value) => [value]))),
  ),
};

export const TERM_FILTERS = Object.keys(TERMS) as (keyof typeof TERMS)[];

/** The arrays that have the terms. */
export const TERM_ARRAYS: readonly ArrayName[] = [
  "languages",
  "subjects",
  "product_identifiers",
  "product_form_features",
];

export const EXACT_FILTERS = Object.keys(EXACT) as (keyof typeof EXACT)[];

/** The orders of a list. `-` means descending. */
export const SORTS = [
  "-created_at",
  "created_at",
  "-updated_at",
  "updated_at",
  "title",
  "-title",
  "publication_date",
  "-publication_date",
] as const;

export type Sort = typeof SORTS[number];

/** The order of a list without `sort` (specification, 4.2). */
export const DEFAULT_SORT: Sort = "-created_at";

/** An array that a list embeds: as lists show it, or all of `product_territories`. */
export type Embed = ArrayName | "supply_details";

/** The names of embeds, first the arrays of the specification (4.2). */
const EMBEDS: Record<string, Embed> = {
  product_territories: "product_territories",
  product_sales_rights: "product_sales_rights",
  sales_rights: "product_sales_rights",
  supply_details: "supply_details",
  ...Object.fromEntries(Object.keys(LISTED).map((name) => [name, name])),
};

/** The arrays that a list embeds in its products. */
export const Include = described(
  "Arrays to embed in each product. `product_territories` includes only the markets, `supply_details` the whole of `product_territories`, with suppliers and prices.",
  v.optional(embeds(EMBEDS), ""),
);

/** Parameters of `GET /products` besides the filters by references. */
const PARAMETERS = {
  page: described(
    "The page, counted from 1.",
    v.optional(wholeNumber(Number.MAX_SAFE_INTEGER), "1"),
  ),
  limit: described(
    "The size of a page. A limit above 100 counts as 100. A page over 16 MiB is refused (`too_large`).",
    v.optional(limit(100), "50"),
  ),
  search: described(
    "Words in the title, ISBNs or product code, in any order, ignoring case and accents. Double quotes enclose a phrase. ISBNs match with or without hyphens.",
    v.optional(Term, ""),
  ),
  q: described(
    "Words in the title, subtitle, product code, ISBNs or other identifiers, or in the name of a contributor, collection (such as a series), publisher or imprint, each in any of them. Commas and white space separate words, double quotes enclose a phrase. Both sides are compared without apostrophes, case and accents, with other signs as spaces and initials as one word, and an ISBN-10 is also found as ISBN-13 and the reverse. Without `sort`, products with this title come first, with an article or without (`hobbit` is The Hobbit), then those with a title that begins so, then those with the words in the title, then the others, each newest first. If nothing is found, or short words only within others (`pie` in `happier`), the response has the nearest products, and `nearest` in `meta` is true: a word may have one letter too many, too few, in place of another, or before its neighbour. Words of one or two letters have no such mistake. Of words of three or four letters one has, if the query has another word.",
    v.optional(Term, ""),
  ),
  include: Include,
  sort: described(
    "The order. `-` means descending. Without it, the newest products come first, or with `q` the most relevant.",
    v.optional(oneOf(...SORTS)),
  ),
  updated_since: described(
    "Products updated at this time or later: a day, or a time with its offset (ISO 8601). Deletions are not listed, and a poll can miss a product whose transaction committed late. `GET /products/changes` misses none.",
    v.optional(Time),
  ),
  publication_date_from: described(
    "Products published on this day or later.",
    v.optional(Day),
  ),
  publication_date_to: described(
    "Products published on this day or earlier.",
    v.optional(Day),
  ),
  ...EXACT,
  shared_isbn: described(
    "Only products whose ISBN, in either form, another product has, too. Upserts and ONIX records with such an ISBN are refused as ambiguous.",
    v.optional(oneOf("true")),
  ),
  ...TERMS,
  product_type: described(
    "Products of one of these types.",
    v.optional(choices(PRODUCT_TYPES)),
  ),
  program_id: described(
    "Products in one of these publishing programs.",
    v.optional(Uuids),
  ),
  recipient: Recipient,
};

/** The parameters of `GET /products`. */
export const ProductParameters = v.object({
  ...PARAMETERS,
  ...Object.fromEntries(
    REFERENCE_FILTERS.map(({ field, filter }) => [
      field,
      described(filter!, v.optional(Uuids)),
    ]),
  ) as Record<`${string}_id`, v.GenericSchema<unknown, string[] | undefined>>,
  ...Object.fromEntries(
    CODE_FILTERS.map(({ name, reference: { field }, schema }) => [
      name,
      described(
        `As \`${field}\`, by the codes of the records.`,
        v.optional(schema),
      ),
    ]),
  ) as Record<`${string}_code`, v.GenericSchema<unknown, string[] | undefined>>,
});

export type ListQuery =
  & v.InferOutput<
    v.ObjectSchema<typeof PARAMETERS, undefined>
  >
  & { [reference: `${string}_id`]: string[] | undefined }
  & { [code: CodeFilter["name"]]: string[] | string | undefined };

/** The parameters that restrict a list. */
export const NARROWING = (Object.keys(ProductParameters.entries) as (keyof ListQuery)[])
  .filter((name) => !["page", "limit", "include", "sort", "recipient"].includes(name));

/** The parameters that filter by ids or codes. */
export const FILTERS = Object.fromEntries(
  Object.entries(ProductParameters.entries)
    .filter(([name]) => /_(?:id|code)$/.test(name)),
) as Record<keyof Filters, v.GenericSchema>;

export type Filters =
  & { [reference: `${string}_id`]: string[] | undefined }
  & { [code: `${string}_code`]: string[] | string | undefined };
