import { issuesAs } from "../schema/collateral.ts";
import { ApiError, type Fault, invalid } from "../schema/error.ts";
import { toFaults } from "../schema/fault.ts";
import type { ProductBody } from "../schema/product.ts";
import { unavailable } from "./admission.ts";
import type { Operations } from "./database.ts";
import type { Sql } from "./sql.ts";
import { brokenConstraint, RowsMissing } from "./fault.ts";

/** The constraints that a body can break, and what it has done then. */
const RULES: Record<string, Fault> = {
  products_publishing_status: unknown("/publishing_status_id"),
  products_availability: unknown("/product_availability_id"),
  products_lifecycle_status: unknown("/lifecycle_status_id"),
  products_format: unknown("/format_id"),
  products_parent_title: unknown("/title_id"),
  products_license: unknown("/license_id"),
  products_season: unknown("/season_id"),
  products_publisher: unknown("/publisher_id"),
  products_division: unknown("/division_id"),
  products_imprint: unknown("/imprint_id"),
  products_series: notAttached("/series_id"),
  formats_product_form: unknown("/product_form_id"),
  product_contributors_contributor: unknown("/contributors"),
  product_contributors_role: unknown("/contributors"),
  product_collections_collection: unknown("/product_collections"),
  custom_field_values_field: unknown("/custom_fields"),
  product_prices_validity: endsTooEarly("/product_prices"),
};

/**
 * Runs the write. The database keeps the rules and stops at the first that is
 * broken; the client is told of all: every reference of the body that is not
 * the organization's, with its pointer (`VALIDATION_ERROR`), or `NOT_FOUND` for
 * a product that is not there. `id` is absent for a product that is created.
 */
export async function explained<T>(
  database: Operations,
  { organizationId, id, body }: {
    organizationId: string;
    id?: string;
    body: ProductBody;
  },
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const rule = RULES[brokenConstraint(error) ?? ""];
    if (!rule && !(error instanceof RowsMissing)) throw error;
    const faults = await database.read((sql) =>
      findFaults(sql, organizationId, id, body)
    );
    if (faults.length > 0) throw invalid("The body", faults);
    // What was missing has come since, or the other way round.
    if (rule) throw invalid("The body", [rule]);
    throw unavailable("The product is being changed by another request", error);
  }
}

async function findFaults(
  sql: Sql,
  organizationId: string,
  id: string | undefined,
  body: ProductBody,
): Promise<Fault[]> {
  const stored = id === undefined
    ? NOTHING
    : await storedRows(sql, organizationId, id);
  if (!stored) throw new ApiError("NOT_FOUND", `No product with id "${id}"`);
  return [
    ...await unknownReferences(sql, organizationId, body),
    ...unattachedSeries(body, stored),
    ...wrongRows(body, stored),
  ];
}

/** The references of a body, each with the field that says what it refers to. */
function referencesOf(body: ProductBody) {
  const references: {
    position: number;
    pointer: string;
    field: string;
    id: string;
  }[] = [];
  const collect = (at: string, entry: object) => {
    for (const [field, id] of Object.entries(entry)) {
      if (field.endsWith("_id") && field !== "series_id" && id) {
        const position = references.length;
        references.push({ position, pointer: `${at}/${field}`, field, id });
      }
    }
  };
  collect("", body);
  for (
    const key of [
      "contributors",
      "product_collections",
      "custom_fields",
    ] as const
  ) {
    body[key]?.forEach((entry, i) => collect(`/${key}/${i}`, entry));
  }
  return references;
}

async function unknownReferences(
  sql: Sql,
  organizationId: string,
  body: ProductBody,
): Promise<Fault[]> {
  const rows = await sql<{ pointer: string }[]>`
    select r.pointer
    from jsonb_to_recordset(${sql.json(referencesOf(body))})
      r (position int, pointer text, field text, id uuid)
    where not case r.field
      when 'publishing_status_id' then exists (select from publishing_statuses x where x.id = r.id)
      when 'product_availability_id' then exists (select from product_availabilities x where x.id = r.id)
      when 'lifecycle_status_id' then exists (select from lifecycle_statuses x where x.id = r.id)
      when 'product_form_id' then exists (select from product_forms x where x.id = r.id)
      when 'contributor_role_id' then exists (select from contributor_roles x where x.id = r.id)
      when 'format_id' then exists (
        select from formats x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'title_id' then exists (
        select from titles x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'license_id' then exists (
        select from licenses x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'season_id' then exists (
        select from seasons x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'publisher_id' then exists (
        select from publishers x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'division_id' then exists (
        select from divisions x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'imprint_id' then exists (
        select from imprints x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'contributor_id' then exists (
        select from contributors x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'collection_id' then exists (
        select from collections x where x.organization_id = ${organizationId} and x.id = r.id
      )
      when 'field_id' then exists (
        select from custom_fields x where x.organization_id = ${organizationId} and x.id = r.id
      )
    end
    order by r.position
  `;
  return rows.map(({ pointer }) => unknown(pointer));
}

/** What is stored of a product and bears on the rules of a body. */
interface Stored {
  series_id: string | null;
  collections: string[];
  product_prices: {
    id: string;
    valid_from: string | null;
    valid_to: string | null;
  }[];
  packing_configurations: { id: string }[];
  collateral: {
    id: string;
    collateral_type: "text_content" | "cited_content" | "award";
  }[];
}

const NOTHING: Stored = {
  series_id: null,
  collections: [],
  product_prices: [],
  packing_configurations: [],
  collateral: [],
};

async function storedRows(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<Stored | undefined> {
  const [stored] = await sql<Stored[]>`
    select
      p.series_id,
      coalesce((
        select json_agg(x.collection_id)
        from product_collections x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]') as collections,
      coalesce((
        select json_agg(json_build_object('id', x.id, 'valid_from', x.valid_from, 'valid_to', x.valid_to))
        from product_prices x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]') as product_prices,
      coalesce((
        select json_agg(json_build_object('id', x.id))
        from packing_configurations x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]') as packing_configurations,
      coalesce((
        select json_agg(json_build_object('id', x.id, 'collateral_type', x.collateral_type))
        from collateral x
        where x.organization_id = $1 and x.product_id = $2
      ), '[]') as collateral
    from products p
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
  return stored;
}

/** Whether the series is among the collections as both are after the request. */
function unattachedSeries(body: ProductBody, stored: Stored): Fault[] {
  const series = body.series_id === undefined
    ? stored.series_id
    : body.series_id;
  const collections = body.product_collections
    ?.map(({ collection_id }) => collection_id) ?? stored.collections;
  if (!series || collections.includes(series)) return [];
  return [notAttached(body.series_id ? "/series_id" : "/product_collections")];
}

/** Entries whose `id` is no row of the product, or that do not fit the row they change. */
function wrongRows(body: ProductBody, stored: Stored): Fault[] {
  const faults: Fault[] = [];
  const match = <
    E extends { id?: string | undefined },
    R extends { id: string },
  >(
    key: string,
    entries: readonly E[] | undefined,
    rows: R[],
    compare: (at: string, entry: E, row: R) => void = () => {},
  ) =>
    entries?.forEach((entry, i) => {
      if (!entry.id) return;
      const row = rows.find(({ id }) => id === entry.id);
      if (row) compare(`/${key}/${i}`, entry, row);
      else faults.push(unknown(`/${key}/${i}/id`));
    });

  match(
    "packing_configurations",
    body.packing_configurations,
    stored.packing_configurations,
  );
  match(
    "product_prices",
    body.product_prices,
    stored.product_prices,
    (at, entry, row) => {
      const { valid_from, valid_to } = { ...row, ...entry };
      if (!valid_from || !valid_to || valid_from <= valid_to) return;
      faults.push(
        endsTooEarly(
          `${at}/${"valid_to" in entry ? "valid_to" : "valid_from"}`,
        ),
      );
    },
  );
  match("collateral", body.collateral, stored.collateral, (at, entry, row) => {
    if (
      entry.collateral_type && entry.collateral_type !== row.collateral_type
    ) {
      faults.push({
        pointer: `${at}/collateral_type`,
        code: "immutable",
        message: `This row is ${row.collateral_type} and stays so`,
      });
    } else {
      faults.push(
        ...toFaults(issuesAs(row.collateral_type, entry) ?? [], at),
      );
    }
  });
  return faults;
}

function unknown(pointer: string): Fault {
  return {
    pointer,
    code: "unknown_reference",
    message: "There is no such record in this organization",
  };
}

function notAttached(pointer: string): Fault {
  return {
    pointer,
    code: "series_not_attached",
    message: "The series is not one of the product's collections",
  };
}

function endsTooEarly(pointer: string): Fault {
  return {
    pointer,
    code: "invalid_date",
    message: "A price ends on the day it begins, or later",
  };
}
