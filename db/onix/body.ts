import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { objectsIn } from "../../schema/objects.ts";
import { COLLATERAL_TYPES } from "../../schema/onix/mapping/collateral.ts";
import { elementOfName } from "../../schema/onix/mapping/collections.ts";
import type { ContributorRow } from "../../schema/onix/mapping/contributors.ts";
import type { Book } from "../../schema/onix/mapping/mapped.ts";
import { MAPPING } from "../../schema/onix/mapping/mapping.ts";
import { elementOfPerson } from "../../schema/onix/mapping/person.ts";
import {
  elementOfField,
  type Reading,
  type RecordValues,
} from "../../schema/onix/mapping/reading.ts";
import type { Message } from "../../schema/onix/report/message.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import { FIELDS } from "../../schema/product.ts";
import type { Compared } from "./compare.ts";
import type { LinkRow } from "./link_tables.ts";
import type { Links } from "./links.ts";
import type { LinkedRecord, LinkWarning } from "./named_records.ts";
import { PARTIES } from "./party_identifiers.ts";

/*
 * What a record writes to its product. In: the record beside its product, and the records of the
 * organization that it names. Out: a body, and the product as it then is. Each function but the
 * first is about some fields, and gives the elements that name a publisher, a contributor or a
 * collection the id of that.
 */

/** What is written to some fields. */
interface BodyPart {
  body: ProductBody;
  /** What the product then shows of the records that these fields refer to. */
  shown?: Entry;
}

/** Warns of what was linked. `elementOf` returns the element of the field that a warning is about. */
type TellOfLinks = (
  warnings: readonly LinkWarning[],
  elementOf: (field: string) => Element,
) => void;

/** The body that a record writes, what its product then is, and the warnings about what it names. */
export function bodyOf(
  { one: { item }, book, now, merged: { written } }: Compared,
  links: Links,
): { body: ProductBody; after: Book; messages: Message[] } {
  const messages = new Map<string, Message>();
  // A contributor has a row for each role: what is wrong with its element is told once.
  const tell: TellOfLinks = (warnings, elementOf) => {
    for (const { code, field, message } of warnings) {
      const place = item.incoming.reader.messages.placeOf(elementOf(field));
      const told: Message = { severity: "warning", code, ...place, message };
      messages.set(`${code} ${place.path}`, told);
    }
  };
  const parts: BodyPart[] = [
    ownFieldsPart(written, now),
    collateralPart(written, book),
    ...PARTIES.map(([field, table]) => partyPart(field, links[table][0], written, now, tell)),
    ...CODED.map(([field, list]) => codedPart(field, list, written)),
    productFormPart(written, links, book.product),
    contributorsPart(written, now, links, tell),
    collectionsPart(written, now, links, book.product, tell),
  ];
  const body = Object.assign({}, ...parts.map(({ body }) => body));
  const shown = Object.assign({}, ...parts.map(({ shown }) => shown));
  const linked = links.contributors.map(({ row }) => [row.id, row] as const);
  const after = {
    ...book,
    product: { ...book.product, ...body, ...shown },
    contributors: { ...book.contributors, ...Object.fromEntries(linked) },
  };
  return { body, after, messages: [...messages.values()] };
}

const NOTHING: BodyPart = { body: {} };

/** The fields that have the same name and value in a record. */
function ownFieldsPart(written: RecordValues, { values }: Reading): BodyPart {
  const body: ProductBody = {};
  for (const [name, value] of Object.entries(written)) {
    const field = FIELDS[name];
    if (!field || ["contributors", "collections"].includes(name)) continue;
    body[name] = value ?? (field.kind === "column" ? null : []);
  }
  // An ISBN-10 alone says nothing against the ISBN-13 that it is.
  if (!values.isbn13 && values.isbn10) delete body.isbn13;
  return { body };
}

/** One array here, which has an element for each of its types. */
function collateralPart(written: RecordValues, book: Book): BodyPart {
  if (!COLLATERAL_TYPES.some((type) => type in written)) return NOTHING;
  const all = COLLATERAL_TYPES.flatMap((type) =>
    objectsIn(type in written ? written[type] : MAPPING[type]!.valueIn(book))
  );
  return { body: { collateral: all } };
}

function partyPart(
  field: string,
  linked: LinkedRecord | undefined,
  written: RecordValues,
  { record }: Reading,
  tell: TellOfLinks,
): BodyPart {
  if (!(field in written)) return NOTHING;
  const found = elementOfField(record, field);
  if (linked && found) {
    found.id = linked.row.id;
    tell(linked.warnings, () => found);
  }
  return {
    body: { [`${field}_id`]: linked?.row.id ?? null },
    shown: { [`${field}_name`]: linked?.row.name ?? null },
  };
}

/** The fields that refer to a code, with its list. */
const CODED = [
  ["publishing_status", "64"],
  ["product_availability", "65"],
] as const;

function codedPart(field: string, list: string, written: RecordValues): BodyPart {
  if (!(field in written)) return NOTHING;
  const code = written[field] as string | undefined;
  return {
    body: { [`${field}_id`]: code ? idOfCode(list, code) : null },
    shown: { [`${field}_code`]: code },
  };
}

/** The format of a form, unless the product's own has that form. */
function productFormPart(
  written: RecordValues,
  { formatId }: Links,
  { format_id, product_form_id = null }: Entry,
): BodyPart {
  if (!("product_form" in written)) return NOTHING;
  const code = written.product_form as string | undefined;
  const form = code ? idOfCode("150", code) : null;
  const isKept = format_id && product_form_id === form;
  return {
    body: isKept ? {} : { format_id: formatId ?? null },
    shown: { product_form_id: form },
  };
}

function contributorsPart(
  written: RecordValues,
  { reader }: Reading,
  links: Links,
  tell: TellOfLinks,
): BodyPart {
  if (!("contributors" in written)) return NOTHING;
  const named = objectsIn(written.contributors) as unknown as ContributorRow[];
  const seen = new Set<string>();
  const rows = named.flatMap((person, i) => {
    const { row, warnings } = links.contributors[i]!;
    const element = reader.elementOf(person)!;
    element.id = row.id;
    const isNew = addTo(seen, `${row.id} ${person.role}`);
    tell(
      isNew ? warnings : [...warnings, REPEATED],
      (field) => elementOfPerson(element, field) ?? element,
    );
    if (!isNew) return [];
    return [{
      contributor_id: row.id,
      contributor_role_id: idOfCode("17", person.role),
      contributor_name: row.name,
      contributor_role_code: person.role,
    }];
  });
  return { body: { contributors: rows } };
}

function collectionsPart(
  written: RecordValues,
  { reader }: Reading,
  links: Links,
  { series_id }: Entry,
  tell: TellOfLinks,
): BodyPart {
  if (!("collections" in written)) return NOTHING;
  const seen = new Set<string>();
  const shown: LinkRow[] = [];
  const rows = objectsIn(written.collections).flatMap((collection, i) => {
    const { row, warnings } = links.collections[i]!;
    const element = reader.elementOf(collection)!;
    element.id = row.id;
    const isNew = addTo(seen, row.id);
    tell(
      isNew ? warnings : [...warnings, REPEATED],
      () => elementOfName(element) ?? element,
    );
    if (!isNew) return [];
    shown.push(row);
    const { part_number = null } = collection;
    return [{ collection_id: row.id, part_number }];
  });
  const isSeriesKept = !series_id || seen.has(series_id as string);
  return {
    body: {
      product_collections: rows,
      ...!isSeriesKept && { series_id: null },
    },
    shown: { collections: shown },
  };
}

const REPEATED: LinkWarning = {
  code: "duplicate",
  field: "name",
  message: "An earlier one is the same",
};

/** Adds a key to those that were seen, and says whether it is new. */
function addTo(seen: Set<string>, key: string): boolean {
  const isNew = !seen.has(key);
  seen.add(key);
  return isNew;
}
