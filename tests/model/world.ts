import { uuidv7 } from "../../db/uuid.ts";
import type { App, Organization } from "../support/app/harness.ts";
import type { Entry, Reference, World } from "./catalogue.ts";

/** The code lists, with the fields that responses show of each code. */
const LISTS: Record<string, (name: string, code: string) => Entry> = {
  publishing_statuses: (name, code) => ({
    publishing_status_name: name,
    publishing_status_code: code,
  }),
  product_availabilities: (name, code) => ({
    product_availability_name: name,
    product_availability_code: code,
  }),
  lifecycle_statuses: (name, code) => ({
    lifecycle_status_name: name,
    lifecycle_status_code: code,
  }),
  contributor_roles: (name, code) => ({
    contributor_role_name: name,
    contributor_role_code: code,
  }),
  product_forms: (_, code) => ({ product_form_code: code }),
};

/** The records that the harness creates per organization, with the fields that responses show. */
const RECORDS = {
  license: ["licenses", {
    license_name: "World English",
    license_badge_colour: "#336699",
  }],
  season: ["seasons", { season_name: "Spring" }],
  publisher: ["publishers", { publisher_name: "Harbour Press" }],
  division: ["divisions", { division_name: "Adult" }],
  imprint: ["imprints", { imprint_name: "Lantern" }],
  collection: ["collections", { name: "Classics", collection_type: "theme" }],
  series: ["collections", { name: "Novels", collection_type: "series" }],
  format: ["formats", { format_name: "Paperback" }],
  title: ["titles", { title_name: "Emma" }],
  contributor: ["contributors", { contributor_name: "Jane Austen" }],
  customField: ["custom_fields", { field_name: "Shelf" }],
  program: ["publishing_programs", {}],
} as const;

/** Additional records of some kinds. */
const MORE = {
  format2: ["formats", { format_name: "Ebook" }],
  contributor2: ["contributors", { contributor_name: "Another" }],
  customField2: ["custom_fields", { field_name: "Weight" }],
} as const;

/** The records by the names that steps use. */
export interface Names {
  ids: Record<string, string>;
  world: World;
}

/** Three codes per list, such as "contributor_roles.2". */
export async function codes(app: App): Promise<Names> {
  const ids: Record<string, string> = {};
  const world = new Map<string, Reference>();
  for (const [table, shown] of Object.entries(LISTS)) {
    const rows = await app.sql<{ id: string; code: string; name: string }[]>`
      select id, code, name from ${app.sql(table)} order by code limit 3
    `;
    for (const [i, { id, code, name }] of rows.entries()) {
      ids[`${table}.${i}`] = id;
      world.set(id, { table, shown: shown(name, code) });
    }
  }
  return { ids, world };
}

/** The records of an organization, such as "license". */
export async function recordsOf(
  app: App,
  org: Organization,
): Promise<Names> {
  const ids: Record<string, string> = {};
  const world = new Map<string, Reference>();
  for (const [name, [table, shown]] of Object.entries(MORE)) {
    const id = ids[name] = uuidv7();
    const [label] = Object.values(shown);
    await app.sql`insert into ${
      app.sql(table)
    } (organization_id, id, name) values (${org.id}, ${id}, ${label})`;
  }
  for (const name of Object.keys(RECORDS)) {
    ids[name] = org[name as keyof typeof RECORDS];
  }
  for (
    const [name, [table, shown]] of Object.entries({ ...RECORDS, ...MORE })
  ) {
    world.set(ids[name]!, { table, organization: org.id, shown });
  }
  return { ids, world };
}
