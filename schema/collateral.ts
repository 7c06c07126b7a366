import * as v from "valibot";
import {
  changing,
  chosen,
  creating,
  fields,
  isObject,
  object,
} from "./objects.ts";
import { code } from "./onix_codes.ts";
import { Day, heading, HttpUrl, NoId, oneOf, text, Uuid } from "./values.ts";

const Audiences = v.pipe(
  v.array(
    v.unknown(),
    "invalid_type: Expected an array of codes of ONIX List 154",
  ),
  v.maxLength(50, "too_many: At most 50 codes"),
  v.array(code(154)),
);

const Year = v.pipe(
  v.string("invalid_type: Expected a year as a string"),
  v.regex(/^\d{4}$/, "invalid_year: Expected a year of four digits"),
);

/** The fields of ONIX block 2, by `collateral_type`. The field that is not nullable is required. */
export const COLLATERAL = {
  text_content: {
    text: heading(100_000),
    text_type: v.nullable(code(153)),
    content_audience: v.nullable(Audiences),
    text_format: v.nullable(code(34)),
    text_author: v.nullable(text()),
    source_title: v.nullable(text()),
    language: v.nullable(text()),
  },
  cited_content: {
    source_title: heading(),
    cited_content_type: v.nullable(code(156)),
    citation_note: v.nullable(text(100_000)),
    resource_link: v.nullable(HttpUrl),
    publication_date: v.nullable(Day),
    content_audience: v.nullable(Audiences),
  },
  award: {
    prize_name: heading(),
    prize_year: v.nullable(Year),
    prize_country: v.nullable(code(91)),
    prize_code: v.nullable(code(41)),
    prize_statement: v.nullable(text(100_000)),
    prize_jury: v.nullable(text(100_000)),
  },
};

export type CollateralType = keyof typeof COLLATERAL;

export type CollateralEntry =
  & { id?: string; collateral_type?: CollateralType }
  & Record<string, unknown>;

type EntrySchema = v.GenericSchema<unknown, CollateralEntry>;

export const COLLATERAL_TYPES = Object.keys(COLLATERAL) as CollateralType[];

/** Entries that create a row, by type. */
export const CREATED = byType((type) =>
  fields({
    id: NoId,
    collateral_type: v.literal(type),
    ...creating(COLLATERAL[type] as v.ObjectEntries),
  })
);

/** Entries that update a row, by type. */
export const CHANGED = byType((type) =>
  fields({
    id: Uuid,
    collateral_type: v.optional(v.literal(type)),
    ...changing(COLLATERAL[type] as v.ObjectEntries),
  })
);

/** An entry with a missing or wrong type. Its other fields are not checked. */
const Untyped = object({ collateral_type: oneOf(...COLLATERAL_TYPES) });

/** An entry in a body that creates a product. */
export const NewCollateral = chosen<CollateralEntry>(
  Object.values(CREATED),
  (entry) => {
    const type = entryType(entry);
    return type ? CREATED[type] : Untyped;
  },
);

/** An entry in a body that updates a product. With an `id`, it updates that row. */
export const Collateral = chosen<CollateralEntry>(
  [...Object.values(CREATED), ...Object.values(CHANGED)],
  (entry) => {
    if (!isObject(entry) || !("id" in entry)) return NewCollateral;
    const type = "collateral_type" in entry
      ? entryType(entry)
      : likeliestType(entry);
    return type ? CHANGED[type] : Untyped;
  },
);

/** The types of row that an entry can update: its own type, or every type that it is valid for. */
export function typesOf(entry: CollateralEntry): CollateralType[] {
  const own = entryType(entry);
  return own
    ? [own]
    : COLLATERAL_TYPES.filter((type) => !issuesAs(type, entry));
}

/** The issues of an entry that updates a row of this type. */
export function issuesAs(type: CollateralType, entry: CollateralEntry) {
  return v.safeParse(CHANGED[type], entry).issues;
}

/** The type that shares most fields with the entry. Only the database knows the row's type. */
function likeliestType(entry: object): CollateralType {
  const known = COLLATERAL_TYPES.map((type) =>
    Object.keys(entry).filter((field) => Object.hasOwn(COLLATERAL[type], field))
      .length
  );
  return COLLATERAL_TYPES[known.indexOf(Math.max(...known))]!;
}

function entryType(entry: unknown): CollateralType | undefined {
  if (!isObject(entry)) return;
  return COLLATERAL_TYPES.find((type) => type === entry.collateral_type);
}

function byType(schemaOf: (type: CollateralType) => v.GenericSchema) {
  return Object.fromEntries(
    COLLATERAL_TYPES.map((type) => [type, schemaOf(type)]),
  ) as Record<CollateralType, EntrySchema>;
}
