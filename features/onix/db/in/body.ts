import type { Entry, ProductBody } from "../../../../schema/bodies.ts";
import { idOfCode } from "../../../../schema/code_ids.ts";
import { objectsIn } from "../../../../schema/objects.ts";
import { COLLATERAL_TYPES } from "../../schema/mapping/collateral.ts";
import { elementOfName } from "../../schema/mapping/collections.ts";
import type { ContributorRow } from "../../schema/mapping/contributors.ts";
import type { Book } from "../../schema/mapping/mapped.ts";
import { MAPPING } from "../../schema/mapping/mapping.ts";
import { elementOfPerson } from "../../schema/mapping/person.ts";
import { elementOfField, type Reading, type RecordValues } from "../../schema/mapping/reading.ts";
import type { Message } from "../../schema/report/message.ts";
import type { Element } from "../../schema/xml/element.ts";
import { FIELDS } from "../../../../schema/product.ts";
import type { Compared } from "./compare.ts";
import type { LinkRow } from "../links/link_tables.ts";
import type { Links } from "../links/links.ts";
import type { LinkedRecord, LinkWarning } from "../links/named_records.ts";
import { PARTIES } from "../links/party_identifiers.ts";

/*
 * Makes the body that a record writes to its product. In: a record compared with its product, and
 * the linked publishers, contributors and so on. Out: a body, and the product after it. Each
 * function writes some fields. It also gives the elements of publishers, contributors and
 * collections the ids of their rows.
 */

/** A part of the body. */
interface BodyPart {
  body: ProductBody;
  /** The names and codes that the product then shows of referenced records. */
  shown?: Entry;
}

/**
 * Reports warnings about links. `elementOf` returns the element of the field that a warning is
 * about.
 */
type ReportLinkWarnings = (
  warnings: readonly LinkWarning[],
  elementOf: (field: string) => Element,
) => void;

/** Returns the body that a record writes, the product after it, and the warnings about links. */
export function bodyOf(
  { one: { analysed }, book, incoming, merged: { written } }: Compared,
  links: Links,
): { body: ProductBody; after: Book; messages: Message[] } {
  const messages = new Map<string, Message>();
  // A contributor has a row for each role, but a fault of its element is reported once.
  const report: ReportLinkWarnings = (warnings, elementOf) => {
    for (const { code, field, message } of warnings) {
      const place = analysed.content.reader.messages.locationOf(elementOf(field));
      const reported: Message = { severity: "warning", code, ...place, message };
      messages.set(`${code} ${place.path}`, reported);
    }
  };
  const parts: BodyPart[] = [
    ownFieldsPart(written, incoming),
    collateralPart(written, book),
    ...PARTIES.map(([name, table]) => partyPart(name, links[table][0], written, incoming, report)),
    ...CODED.map(([name, list]) => codedPart(name, list, written)),
    productFormPart(written, links, book.product),
    contributorsPart(written, incoming, links, report),
    collectionsPart(written, incoming, links, book.product, report),
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
  // An ISBN-10 alone does not remove its ISBN-13 form.
  if (!values.isbn13 && values.isbn10) delete body.isbn13;
  return { body };
}

/** An array of products that ONIX divides into one element per type. */
function collateralPart(written: RecordValues, book: Book): BodyPart {
  if (!COLLATERAL_TYPES.some((type) => type in written)) return NOTHING;
  const all = COLLATERAL_TYPES.flatMap((type) =>
    objectsIn(type in written ? written[type] : MAPPING[type]!.valueIn(book))
  );
  return { body: { collateral: all } };
}

function partyPart(
  name: string,
  linked: LinkedRecord | undefined,
  written: RecordValues,
  { record }: Reading,
  report: ReportLinkWarnings,
): BodyPart {
  if (!(name in written)) return NOTHING;
  const found = elementOfField(record, name);
  if (linked && found) {
    found.id = linked.row.id;
    report(linked.warnings, () => found);
  }
  return {
    body: { [MAPPING[name]!.field]: linked?.row.id ?? null },
    shown: { [`${name}_name`]: linked?.row.name ?? null },
  };
}

/** The fields that refer to a code, with its list. */
const CODED = [
  ["publishing_status", "64"],
  ["product_availability", "65"],
] as const;

function codedPart(name: string, list: string, written: RecordValues): BodyPart {
  if (!(name in written)) return NOTHING;
  const code = written[name] as string | undefined;
  return {
    body: { [MAPPING[name]!.field]: code ? idOfCode(list, code) : null },
    shown: { [`${name}_code`]: code },
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
  report: ReportLinkWarnings,
): BodyPart {
  if (!("contributors" in written)) return NOTHING;
  const named = objectsIn(written.contributors) as unknown as ContributorRow[];
  const seen = new Set<string>();
  const rows = named.flatMap((person, i) => {
    const { row, warnings } = links.contributors[i]!;
    const element = reader.elementOf(person)!;
    element.id = row.id;
    const isNew = addTo(seen, `${row.id} ${person.role}`);
    report(
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
  report: ReportLinkWarnings,
): BodyPart {
  if (!("collections" in written)) return NOTHING;
  const seen = new Set<string>();
  const shown: LinkRow[] = [];
  const rows = objectsIn(written.collections).flatMap((collection, i) => {
    const { row, warnings } = links.collections[i]!;
    const element = reader.elementOf(collection)!;
    element.id = row.id;
    const isNew = addTo(seen, row.id);
    report(
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

/** Adds a key to a set. Returns whether it is new. */
function addTo(seen: Set<string>, key: string): boolean {
  const isNew = !seen.has(key);
  seen.add(key);
  return isNew;
}
