import { idOfCode as idOfListedCode } from "../../../schema/code_ids.ts";
import { OWN_TABLES, type OwnTable, pathOfTable, RECORDS } from "../../../schema/records.ts";
import { REFERENCES } from "../../../schema/references.ts";
import { assertEquals } from "@std/assert";
import type { App } from "../app/harness.ts";
import { idOfCode, type Organization } from "../app/organization.ts";

/** A value for each field of records. */
export const RECORD_VALUES: Record<string, unknown> = {
  name: "Renamed",
  badge_colour: "#1d4eD8",
  collection_type: "renamed",
  product_form_id: idOfListedCode("150", "BB"),
  names_before_key: "Ursula K.",
  key_names: "Le Guin",
  person_name_inverted: "Le Guin, Ursula K.",
  is_organization: true,
  isni: "0000000121032683",
  orcid: "0000000218250097",
  biographical_note: "x".repeat(100_000),
  identifiers: [
    { name_id_type: "06", id_type_name: null, id_value: "5012345000015" },
    { name_id_type: "01", id_type_name: "Ours", id_value: "17" },
  ],
};

/** The fields of a table's records that a client writes. */
export function writtenFields(table: OwnTable): string[] {
  return Object.entries(RECORDS[table].fields).flatMap(([name, field]) =>
    field.kind === "values" || field.kind === "column" && field.body ? [name] : []
  );
}

/** The tables of records that products show. */
const SHOWN_TABLES = OWN_TABLES.filter((table) =>
  REFERENCES.some((reference) => reference.table === table)
);

/** The tables of records that products use: those that they show, and programs. */
export const USED_TABLES: readonly OwnTable[] = [
  ...SHOWN_TABLES,
  "publishing_programs",
];

/** The path of a table's records. */
export function pathOfRecords(table: OwnTable): string {
  return `/api${pathOfTable(table)}`;
}

/** Creates a record. Throws if the service fails. */
export async function createRecord(
  org: Organization,
  table: OwnTable,
  name = "Harbour",
): Promise<{ id: string; path: string }> {
  const path = pathOfRecords(table);
  const { status, body } = await org.post(path, { name });
  assertEquals(status, 201);
  return { id: body.data.id, path: `${path}/${body.data.id}` };
}

/** A product body that refers to the record, twice if possible. Publishing programs have no reference. */
export async function bodyUsing(
  app: App,
  table: OwnTable,
  id: string,
): Promise<Record<string, unknown>> {
  const reference = REFERENCES.find((reference) =>
    reference.table === table && !reference.isSeries
  );
  if (!reference) return {};
  const { field, array } = reference;
  switch (array?.name) {
    case undefined:
      return { [field]: id };
    case "contributors": {
      const roles = ["A01", "E07"].map((code) => idOfCode(app, "contributor_roles", code));
      return {
        contributors: (await Promise.all(roles)).map((contributor_role_id) => ({
          contributor_id: id,
          contributor_role_id,
        })),
      };
    }
    case "custom_fields":
      return { custom_fields: [{ field_id: id, field_value: "x" }] };
    case "product_collections":
      return { series_id: id, product_collections: [{ collection_id: id }] };
    default:
      throw new Error(`A body using ${field} is missing here`);
  }
}

/** A product that refers to the record. */
export async function createUse(
  app: App,
  org: Organization,
  table: OwnTable,
  { id, path }: { id: string; path: string },
): Promise<{ id: string; path: string }> {
  const product = await org.create(await bodyUsing(app, table, id));
  if (table === "publishing_programs") {
    const { status } = await org.put(`${path}/products/${product.id}`, {});
    assertEquals(status, 204);
  }
  return product;
}
