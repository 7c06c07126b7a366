import {
  type Catalogue,
  COLLATERAL,
  type Entry,
  type Product,
  type World,
} from "./catalogue.ts";

/** The table that each reference field refers to. */
const TABLES: Record<string, string> = {
  format_id: "formats",
  title_id: "titles",
  publishing_status_id: "publishing_statuses",
  product_availability_id: "product_availabilities",
  lifecycle_status_id: "lifecycle_statuses",
  license_id: "licenses",
  season_id: "seasons",
  publisher_id: "publishers",
  division_id: "divisions",
  imprint_id: "imprints",
  product_form_id: "product_forms",
  contributor_id: "contributors",
  contributor_role_id: "contributor_roles",
  collection_id: "collections",
  field_id: "custom_fields",
};

/** The fields that identify the entries of an array. */
const KEYS: Record<string, string[]> = {
  product_prices: ["id"],
  packing_configurations: ["id"],
  collateral: ["id"],
  contributors: ["contributor_id", "contributor_role_id"],
  product_collections: ["collection_id"],
  custom_fields: ["field_id"],
};

/** Whether the fields of a body contradict each other, whatever is stored. */
export function isMalformed(body: Entry, creating: boolean): boolean {
  if (creating && !("title" in body)) return true;
  return Object.entries(KEYS).some(([array, keys]) => {
    const entries = (body[array] ?? []) as Entry[];
    const identities = entries.filter((entry) => keys[0]! in entry)
      .map((entry) => keys.map((key) => entry[key]).join());
    if (new Set(identities).size < identities.length) return true;
    return entries.some((entry) =>
      creating && "id" in entry || isMalformedEntry(array, entry)
    );
  });
}

function isMalformedEntry(array: string, entry: Entry): boolean {
  switch (array) {
    case "product_prices":
      return !("id" in entry || "currency_code" in entry) || endsEarly(entry);
    case "packing_configurations":
      return !("id" in entry || "unit_of_measure" in entry);
    case "collateral": {
      const { id: _, collateral_type: type, ...fields } = entry;
      if (!("id" in entry)) {
        if (!type || !(subjectOf(type) in fields)) return true;
      }
      const types = type ? [type] : Object.keys(COLLATERAL);
      return types.every((type) => misfits(fields, type).length > 0);
    }
    default:
      return false;
  }
}

/** The pointers of all errors in a body that depend on stored rows. */
export function errorsOf(
  body: Entry,
  product: Product,
  catalogue: Catalogue,
  world: World,
): [pointer: string, code: string][] {
  return [
    ...unknownReferences("", body, catalogue, world),
    ...Object.keys(KEYS).flatMap((array) =>
      ((body[array] ?? []) as Entry[]).flatMap((entry, i) => {
        const at = `/${array}/${i}`;
        if (KEYS[array]![0] !== "id") {
          return unknownReferences(at, entry, catalogue, world);
        }
        if (!entry.id) return [];
        const row = product.arrays[array]!.find(({ id }) => id === entry.id);
        return row
          ? misfitsOfRow(array, at, entry, row)
          : [[`${at}/id`, "unknown_reference"] as [string, string]];
      })
    ),
    ...unattachedSeries(body, product),
  ];
}

function unknownReferences(
  at: string,
  entry: Entry,
  { organization }: Catalogue,
  world: World,
): [string, string][] {
  return Object.entries(entry).flatMap(([field, id]) => {
    const table = TABLES[field];
    if (!table || id === null) return [];
    const found = world.get(String(id));
    const known = found?.table === table &&
      (found.organization ?? organization) === organization;
    return known ? [] : [[`${at}/${field}`, "unknown_reference"]];
  });
}

function unattachedSeries(body: Entry, product: Product): [string, string][] {
  const { series_id, product_collections } = {
    ...product.core,
    ...product.arrays,
    ...body,
  } as Entry;
  const attached = (product_collections as Entry[])
    .some(({ collection_id }) => collection_id === series_id);
  if (!series_id || attached) return [];
  const pointer = body.series_id ? "/series_id" : "/product_collections";
  return [[pointer, "series_not_attached"]];
}

function misfitsOfRow(
  array: string,
  at: string,
  entry: Entry,
  row: Entry,
): [string, string][] {
  if (array === "product_prices" && endsEarly({ ...row, ...entry })) {
    const field = "valid_to" in entry ? "valid_to" : "valid_from";
    return [[`${at}/${field}`, "invalid_date"]];
  }
  if (array !== "collateral") return [];
  const { id: _, collateral_type, ...fields } = entry;
  if (collateral_type && collateral_type !== row.collateral_type) {
    return [[`${at}/collateral_type`, "immutable"]];
  }
  return misfits(fields, row.collateral_type)
    .map(([field, code]) => [`${at}/${field}`, code]);
}

/** The fields that collateral of the type does not have or cannot clear. */
function misfits(fields: Entry, type: unknown): [string, string][] {
  return Object.entries(fields).flatMap(([field, value]) => {
    if (!COLLATERAL[String(type)]!.includes(field)) {
      return [[field, "unknown_field"]];
    }
    if (field !== subjectOf(type)) return [];
    if (value === null) return [[field, "invalid_type"]];
    return value === "" ? [[field, "blank"]] : [];
  });
}

function subjectOf(type: unknown): string {
  return COLLATERAL[String(type)]![0]!;
}

function endsEarly({ valid_from, valid_to }: Entry): boolean {
  return Boolean(valid_from && valid_to) &&
    String(valid_from) > String(valid_to);
}
