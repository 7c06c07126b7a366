import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { elementOfName } from "../../schema/onix/mapping/collections.ts";
import {
  type ContributorRow,
  elementOfPerson,
} from "../../schema/onix/mapping/contributors.ts";
import type { Incoming } from "../../schema/onix/mapping/incoming.ts";
import {
  type Book,
  COLLATERAL_TYPES,
  elementOfField,
  MAPPING,
  type Reading,
  type RecordValues,
} from "../../schema/onix/mapping/mapping.ts";
import type { Element } from "../../schema/onix/xml/element.ts";
import { FIELDS } from "../../schema/product.ts";
import type { LinkRow, Links, PartyIdentifiers, Warn } from "./links.ts";
import { objectsIn } from "../../schema/objects.ts";
import type { Message } from "../../schema/onix/xml/paths.ts";

/* What a record writes to its product. */

/**
 * The body that a record writes to its product, what that then is, and the warnings about
 * what the record names. Its elements get the ids of that.
 */
export function bodyOf(
  written: RecordValues,
  incoming: Incoming,
  now: Reading,
  links: Links,
  book: Book,
): { body: ProductBody; after: Book; messages: Message[] } {
  const before: Entry = book.product;
  const body: ProductBody = {};
  /** What the product then shows of records that it refers to. */
  const shown: Entry = {};
  const contributors = { ...book.contributors };
  const messages = new Map<string, Message>();
  // A contributor has a row for each role: what is wrong with its element is told once.
  const warn =
    (elementOf: (field: string) => Element): Warn => (code, field, message) => {
      const place = incoming.reader.placeOf(elementOf(field));
      const told: Message = { severity: "warning", code, ...place, message };
      messages.set(`${code} ${place.path}`, told);
    };

  for (const [name, value] of Object.entries(written)) {
    const field = FIELDS[name];
    if (!field || ["contributors", "collections"].includes(name)) continue;
    body[name] = value ?? (field.kind === "column" ? null : []);
  }
  // An ISBN-10 alone says nothing against the ISBN-13 that it is.
  if (!now.values.isbn13 && now.values.isbn10) delete body.isbn13;
  if (COLLATERAL_TYPES.some((type) => type in written)) {
    body.collateral = COLLATERAL_TYPES.flatMap((type) =>
      objectsIn(type in written ? written[type] : MAPPING[type]!.valueIn(book))
    );
  }
  for (const [field, table] of PARTIES) {
    if (!(field in written)) continue;
    const found = elementOfField(now.record, field);
    const name = written[field] as string | undefined;
    const row = name && found &&
      links.recordOf(table, { name }, warn(() => found));
    if (row) found.id = row.id;
    body[`${field}_id`] = row ? row.id : null;
    shown[`${field}_name`] = row ? row.name : null;
  }
  for (const [field, list] of CODED) {
    if (!(field in written)) continue;
    const code = written[field] as string | undefined;
    body[`${field}_id`] = code ? links.codeId(list, code) ?? null : null;
    shown[`${field}_code`] = code;
  }
  if ("product_form" in written) {
    const code = written.product_form as string | undefined;
    const form = code ? links.codeId("product_forms", code) ?? null : null;
    shown.product_form_id = form;
    // The product's own format stays if it has that form.
    if (!before.format_id || (before.product_form_id ?? null) !== form) {
      body.format_id = form && links.formatOf(form);
    }
  }
  if ("contributors" in written) {
    const all = objectsIn(written.contributors) as unknown as ContributorRow[];
    const named = all.map((row) => {
      const element = now.reader.elementOf(row)!;
      const { role, ...named } = row;
      const told = warn((field) => elementOfPerson(element, field) ?? element);
      return { role, named, element, warn: told };
    });
    const rows = links.contributors(named);
    const seen = new Set<string>();
    body.contributors = named.flatMap(({ role, element, warn }, i) => {
      const { id: contributor_id, name: contributor_name } = rows[i]!;
      const contributor_role_id = links.codeId("contributor_roles", role);
      if (!contributor_role_id) return [];
      element.id = contributor_id;
      contributors[contributor_id] = rows[i]!;
      if (isSeen(seen, `${contributor_id} ${role}`, warn)) return [];
      return [{
        contributor_id,
        contributor_role_id,
        contributor_name,
        contributor_role_code: role,
      }];
    });
  }
  if ("collections" in written) {
    const seen = new Set<string>();
    const named: LinkRow[] = [];
    shown.collections = named;
    body.product_collections = objectsIn(written.collections).flatMap((row) => {
      const element = now.reader.elementOf(row)!;
      const told = warn(() => elementOfName(element) ?? element);
      const name = String(row.name);
      const collection = links.recordOf("collections", { name }, told);
      element.id = collection.id;
      if (isSeen(seen, collection.id, told)) return [];
      named.push(collection);
      const { part_number = null } = row;
      return [{ collection_id: collection.id, part_number }];
    });
    if (before.series_id && !seen.has(before.series_id as string)) {
      body.series_id = null;
    }
  }
  const product = { ...before, ...body, ...shown };
  return {
    body,
    after: { ...book, product, contributors },
    messages: [...messages.values()],
  };
}

const PARTIES = [["publisher", "publishers"], ["imprint", "imprints"]] as const;

/** What a record says of the identifiers of its parties, unless the product's party has some. */
export function identifiersIn(
  { record, values }: Reading,
  book: Book,
): PartyIdentifiers[] {
  return PARTIES.flatMap(([field, table]) => {
    const identifiers = objectsIn(values[`${field}_identifiers`]);
    if (identifiers.length === 0) return [];
    const id = elementOfField(record, field)?.id;
    const isFilled = id === book.product[`${field}_id`] &&
      book.identifiers[field].length > 0;
    return id && !isFilled ? [{ table, id, identifiers }] : [];
  });
}

const CODED = [
  ["publishing_status", "publishing_statuses"],
  ["product_availability", "product_availabilities"],
] as const;

function isSeen(seen: Set<string>, key: string, warn: Warn): boolean {
  if (!seen.has(key)) return !seen.add(key);
  warn("duplicate", "name", "An earlier one is the same");
  return true;
}
