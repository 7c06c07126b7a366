import type { Entry, ProductBody } from "../../schema/bodies.ts";
import type { Incoming } from "../../schema/onix/mapping/incoming.ts";
import type { ElementPlace } from "../../schema/onix/mapping/record_reader.ts";
import type { Message } from "../../schema/onix/report/report.ts";
import type { Links, Warn } from "./links.ts";

/* What a record writes to its product. */

/** The body that a record writes to its product, and the warnings about what it names. */
export function bodyOf(
  incoming: Incoming,
  links: Links,
  before: Entry | undefined,
): { body: ProductBody; messages: Message[] } {
  const { linked, product_territories, product_sales_rights } = incoming;
  const messages = new Map<string, Message>();
  // A contributor has a row for each role: what is wrong with its element is told once.
  const warn =
    (placeOf: (field: string) => ElementPlace): Warn =>
    (code, field, message) => {
      const place = placeOf(field);
      const told: Message = { severity: "warning", code, ...place, message };
      messages.set(`${code} ${place.path}`, told);
    };
  const body: ProductBody = { ...incoming.body };
  // An ISBN-10 alone says nothing against the ISBN-13 that it is.
  if (incoming.isbn13 === null && incoming.isbn10 !== null) delete body.isbn13;

  for (
    const [table, field] of [
      ["publishers", "publisher"],
      ["imprints", "imprint"],
    ] as const
  ) {
    const name = linked[field];
    if (name === undefined) continue;
    body[`${field}_id`] = name === null
      ? null
      : links.idOf(table, { name }, warn(() => incoming.placeOf(field)));
  }
  for (
    const [field, list, code] of [
      ["publishing_status_id", "publishing_statuses", linked.publishing_status],
      [
        "product_availability_id",
        "product_availabilities",
        linked.product_availability,
      ],
    ] as const
  ) {
    if (code === undefined) continue;
    body[field] = code === null ? null : links.codeId(list, code) ?? null;
  }
  if (linked.product_form !== undefined) {
    const format = formatFor(linked.product_form, links, before);
    if (format !== undefined) body.format_id = format;
  }
  if (linked.contributors) {
    const ids = links.contributors(
      linked.contributors.map((one) => ({
        role: one.role,
        named: { ...one.contributor },
        warn: warn(one.placeOf),
      })),
    );
    const seen = new Set<string>();
    body.contributors = linked.contributors.flatMap(({ role, placeOf }, i) => {
      const contributor_id = ids[i]!;
      const contributor_role_id = links.codeId("contributor_roles", role);
      if (!contributor_role_id) return [];
      const key = `${contributor_id} ${contributor_role_id}`;
      if (!seen.has(key)) {
        seen.add(key);
        return [{ contributor_id, contributor_role_id }];
      }
      warn(placeOf)("duplicate", "name", SAID_TWICE);
      return [];
    });
  }
  if (linked.collections) {
    const seen = new Set<string>();
    const collections = linked.collections.flatMap((collection) => {
      const { name, part_number } = collection;
      const collection_id = links.idOf(
        "collections",
        { name },
        warn(() => collection.place),
      );
      if (!seen.has(collection_id)) {
        seen.add(collection_id);
        return [{ collection_id, part_number }];
      }
      warn(() => collection.place)("duplicate", "name", SAID_TWICE);
      return [];
    });
    body.product_collections = collections;
    if (before?.series_id && !seen.has(before.series_id as string)) {
      body.series_id = null;
    }
  }
  if (product_territories) body.product_territories = product_territories;
  if (product_sales_rights) body.product_sales_rights = product_sales_rights;
  return { body, messages: [...messages.values()] };
}

const SAID_TWICE = "An earlier one is the same";

/** The format for a form: the product's own if it has that form. Undefined: it stays. */
function formatFor(
  form: string | null,
  links: Links,
  before: Entry | undefined,
): string | null | undefined {
  const formId = form === null
    ? null
    : links.codeId("product_forms", form) ?? null;
  if (before?.format_id && (before.product_form_id ?? null) === formId) return;
  return formId === null ? null : links.formatOf(formId);
}
