import * as v from "valibot";
import { chosen, fields, isObject } from "./objects.ts";
import {
  CITED_CONTENT_TYPES,
  CONTENT_AUDIENCES,
  COUNTRIES,
  PRIZE_ACHIEVEMENTS,
  TEXT_FORMATS,
  TEXT_TYPES,
} from "./onix_codes.ts";
import {
  code,
  Day,
  heading,
  HttpUrl,
  NoId,
  optional,
  text,
  Uuid,
} from "./values.ts";

/** The fields of ONIX block 2, by `collateral_type`. A field that is not nullable cannot be cleared. */
export const COLLATERAL = {
  text_content: {
    text: heading(100_000),
    text_type: optional(code(153, TEXT_TYPES)),
    content_audience: optional(audiences()),
    text_format: optional(code(34, TEXT_FORMATS)),
    text_author: optional(text()),
    source_title: optional(text()),
    language: optional(text()),
  },
  cited_content: {
    source_title: heading(),
    cited_content_type: optional(code(156, CITED_CONTENT_TYPES)),
    citation_note: optional(text(100_000)),
    resource_link: optional(HttpUrl),
    publication_date: optional(Day),
    content_audience: optional(audiences()),
  },
  award: {
    prize_name: heading(),
    prize_year: optional(v.pipe(
      v.string("invalid_type: Expected a year as a string"),
      v.regex(/^\d{4}$/, "invalid_year: Expected a year of four digits"),
    )),
    prize_country: optional(code(91, COUNTRIES)),
    prize_code: optional(code(41, PRIZE_ACHIEVEMENTS)),
    prize_statement: optional(text(100_000)),
    prize_jury: optional(text(100_000)),
  },
};

export type CollateralType = keyof typeof COLLATERAL;

const TYPES = Object.keys(COLLATERAL) as CollateralType[];

const Type = v.picklist(
  TYPES,
  `invalid_value: Expected one of ${TYPES.join(", ")}`,
);

/** The schema of a new entry, by its type. */
export const CREATED = {
  text_content: created("text_content", COLLATERAL.text_content),
  cited_content: created("cited_content", COLLATERAL.cited_content),
  award: created("award", COLLATERAL.award),
};

/** The schema of an entry that changes a row, by its type. An absent field keeps its value. */
export const CHANGED = {
  text_content: changed("text_content", COLLATERAL.text_content),
  cited_content: changed("cited_content", COLLATERAL.cited_content),
  award: changed("award", COLLATERAL.award),
};

/** An entry with a missing or wrong type. Its other fields are not checked. */
const Untyped = v.object({ collateral_type: Type });

export type CollateralEntry =
  & { id?: string; collateral_type?: CollateralType }
  & Record<string, unknown>;

/** An entry in a body that creates a product. */
export const NewCollateral = chosen<CollateralEntry>(
  Object.values(CREATED),
  (entry) => {
    if (!isObject(entry)) return fields({});
    const type = entryType(entry);
    return type ? CREATED[type] : Untyped;
  },
);

/** An entry in a body that updates a product. An entry with an `id` changes that row. */
export const Collateral = chosen<CollateralEntry>(
  [...Object.values(CREATED), ...Object.values(CHANGED)],
  (entry) => {
    if (!isObject(entry) || !("id" in entry)) return NewCollateral;
    if (!("collateral_type" in entry)) return CHANGED[likeliestType(entry)];
    const type = entryType(entry);
    return type ? CHANGED[type] : Untyped;
  },
);

/** The types of row that an entry can change: its own type, or every type that it fits. */
export function typesOf(entry: CollateralEntry): CollateralType[] {
  const own = entryType(entry);
  return own ? [own] : TYPES.filter((type) => !issuesAs(type, entry));
}

/** The issues of an entry that changes a row of this type. */
export function issuesAs(type: CollateralType, entry: CollateralEntry) {
  return v.safeParse(CHANGED[type], entry).issues;
}

/** The type with most of the entry's fields. Only the database knows the row's type. */
function likeliestType(entry: object): CollateralType {
  const known = TYPES.map((type) =>
    Object.keys(entry).filter((field) => Object.hasOwn(COLLATERAL[type], field))
      .length
  );
  return TYPES[known.indexOf(Math.max(...known))]!;
}

function entryType(entry: unknown): CollateralType | undefined {
  if (isObject(entry)) {
    return TYPES.find((type) => type === entry.collateral_type);
  }
}

function created<const E extends v.ObjectEntries>(
  type: CollateralType,
  entries: E,
) {
  return fields({ id: NoId, collateral_type: v.literal(type), ...entries });
}

function changed<const E extends v.ObjectEntries>(
  type: CollateralType,
  entries: E,
) {
  return fields({
    id: Uuid,
    collateral_type: v.optional(v.literal(type)),
    ...v.partial(v.object(entries)).entries,
  });
}

function audiences() {
  return v.pipe(
    v.array(
      v.unknown(),
      "invalid_type: Expected an array of codes of ONIX List 154",
    ),
    v.maxLength(50, "too_many: At most 50 codes"),
    v.array(code(154, CONTENT_AUDIENCES)),
  );
}
