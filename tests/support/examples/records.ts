import { pascal } from "../../../schema/fields.ts";
import {
  nounOf,
  OWN_TABLES,
  type OwnTable,
  pathOfTable,
  RECORDS as TABLES,
  SHARED_TABLES,
  type SharedTable,
} from "../../../schema/records.ts";
import type { ExampleRequest } from "./request.ts";

type Requests = Record<string, ExampleRequest>;

const DEMO_PUBLISHER = "30000000-0000-4000-8000-000000000001";

const DEMO_PROGRAM = "b0000000-0000-4000-8000-000000000001";

/** For each table, the bodies that create and update a record. */
const BODIES: Record<OwnTable, [created: object, changed: object]> = {
  licenses: [
    { name: "Audio licence", badge_colour: "#0f766e" },
    { badge_colour: null },
  ],
  seasons: [{ name: "Autumn 2027" }, { name: "Winter 2027" }],
  publishers: [{ name: "Éditions du Phare" }, { name: "Lighthouse France" }],
  divisions: [{ name: "Education" }, { name: "Schools" }],
  imprints: [{ name: "Beacon" }, { name: "Beacon Paperbacks" }],
  collections: [
    { name: "Summer Reading", collection_type: "promotion" },
    { collection_type: "reading_list" },
  ],
  formats: [
    {
      name: "Board book",
      product_form_id: "821ad328-fc3e-511f-b58e-0fb766c9c21b",
    },
    { product_form_id: null },
  ],
  titles: [{ name: "Emma" }, { name: "Emma: A Novel" }],
  contributors: [
    {
      name: "J. R. R. Tolkin",
      names_before_key: "J. R. R.",
      key_names: "Tolkien",
      person_name_inverted: "Tolkien, J. R. R.",
      is_organization: false,
      isni: "0000 0001 2144 1970",
      orcid: null,
      biographical_note: "J. R. R. Tolkien (1892–1973) wrote of Middle-earth.",
    },
    { name: "J. R. R. Tolkien" },
  ],
  custom_fields: [{ name: "Printed by" }, { name: "Printer" }],
  publishing_programs: [
    { name: "Lighthouse Poets 2027" },
    { name: "Lighthouse Poets 2028" },
  ],
};

/** A code of each list. */
const CODES: Record<SharedTable, string> = {
  publishing_statuses: "04",
  product_availabilities: "21",
  product_forms: "BC",
  contributor_roles: "A01",
  lifecycle_statuses: "active",
};

/** The requests for records and for the service's own endpoints. */
export const RECORDS: Requests = {
  ...Object.assign({}, ...OWN_TABLES.map(ownRequests)) as Requests,
  deletePublisherInUse: {
    summary: "A publisher that products refer to",
    operation: "DELETE /publishers/{id}",
    path: `/publishers/${DEMO_PUBLISHER}`,
  },
  listProgramProducts: {
    summary: "The products of a program",
    operation: "GET /publishing-programs/{id}/products",
    path: `/publishing-programs/${DEMO_PROGRAM}/products?limit=2`,
  },
  ...Object.assign({}, ...SHARED_TABLES.map(sharedRequests)) as Requests,
  listCodeLists: {
    summary: "All lists",
    operation: "GET /code-lists",
    path: "/code-lists",
  },
  getCodeList: {
    summary: "Price statuses",
    operation: "GET /code-lists/{number}",
    path: "/code-lists/61",
  },
  getLiveness: {
    summary: "The service is running",
    operation: "GET /health/live",
    path: "/health/live",
    caller: "nobody",
  },
  getReadiness: {
    summary: "The database responds",
    operation: "GET /health/ready",
    path: "/health/ready",
    caller: "nobody",
  },
};

/** The requests for API keys. They come before any use of the demo key, because responses show its last use. */
export const KEYS: Requests = {
  createApiKey: {
    summary: "A read-only key",
    operation: "POST /api-keys",
    path: "/api-keys",
    body: { name: "Web shop", scope: "read" },
    caller: "owner",
  },
  listApiKeys: {
    summary: "All keys",
    operation: "GET /api-keys",
    path: "/api-keys",
    caller: "owner",
  },
  getOrganization: {
    summary: "The organization of the key",
    operation: "GET /organization",
    path: "/organization",
  },
  updateOrganization: {
    summary: "Who sends messages",
    operation: "PUT /organization",
    path: "/organization",
    body: {
      sender_identifiers: [
        { sender_id_type: "06", id_value: "5012345000015" },
      ],
      contact_name: "Metadata desk",
      email_address: "metadata@lighthouse.example",
    },
  },
  getApiKey: {
    summary: "A key without its secret",
    operation: "GET /api-keys/{key_id}",
    path: ({ createApiKey }) => `/api-keys/${createApiKey.data.id}`,
    caller: "owner",
  },
  revokeApiKey: {
    summary: "Revoke a key",
    operation: "DELETE /api-keys/{key_id}",
    path: ({ createApiKey }) => `/api-keys/${createApiKey.data.id}`,
    caller: "owner",
  },
};

function ownRequests(table: OwnTable): Requests {
  const { type } = TABLES[table];
  const [created, changed] = BODIES[table];
  const path = pathOfTable(table);
  const noun = nounOf(table);
  const one: ExampleRequest["path"] = (responses) =>
    `${path}/${responses[`create${type}`].data.id}`;
  return {
    [`create${type}`]: {
      summary: `A new ${noun}`,
      operation: `POST ${path}`,
      path,
      body: created,
    },
    [`list${pascal(table)}`]: {
      summary: "The first that were created",
      operation: `GET ${path}`,
      path: `${path}?limit=2&sort=created_at`,
    },
    [`update${type}`]: {
      summary: "Change one field",
      operation: `PUT ${path}/{id}`,
      path: one,
      body: changed,
    },
    [`get${type}`]: {
      summary: "With the number of products that refer to it",
      operation: `GET ${path}/{id}`,
      path: (responses) => `${path}/${responses[`list${pascal(table)}`].data[0].id}`,
    },
    [`delete${type}`]: {
      summary: `An existing ${noun}`,
      operation: `DELETE ${path}/{id}`,
      path: one,
    },
  };
}

function sharedRequests(table: SharedTable): Requests {
  const { type } = TABLES[table];
  const path = pathOfTable(table);
  return {
    [`list${type}`]: {
      summary: "One code",
      operation: `GET ${path}`,
      path: `${path}?code=${CODES[table]}`,
    },
    [`get${type}`]: {
      summary: "A code by its id",
      operation: `GET ${path}/{id}`,
      path: (responses) => `${path}/${responses[`list${type}`].data[0].id}`,
    },
  };
}
