import { assertEquals } from "@std/assert";
import { newKey } from "../../../db/access.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import type { Scope } from "../../../schema/api_key.ts";
import type { Reply } from "../client/envelope.ts";
import type { Session } from "../sql/script.ts";
import { SECRETS } from "./secrets.ts";

/** The ids of the records that a new organization has. */
type References = Record<
  | "license"
  | "season"
  | "publisher"
  | "division"
  | "imprint"
  | "collection"
  | "series"
  | "format"
  | "title"
  | "contributor"
  | "customField"
  | "program",
  string
>;

/** An organization and its client. */
export interface Organization extends References {
  id: string;
  key: string;
  get(path: string, headers?: HeadersInit): Promise<Reply>;
  post(path: string, body: unknown, headers?: HeadersInit): Promise<Reply>;
  put(path: string, body: unknown, headers?: HeadersInit): Promise<Reply>;
  delete(path: string, headers?: HeadersInit): Promise<Reply>;
  /** Writes a batch of products, with the options beside its operations. */
  batch(operations: readonly object[], options?: object): Promise<Reply>;
  /** Creates a product. Throws if the service fails. */
  create(
    body?: object,
  ): Promise<{ id: string; path: string; product: Reply["body"] }>;
  /** Creates another key. */
  issueKey(scope: Scope): Promise<string>;
}

/** The ways to a service and its database. */
interface Ways {
  send(path: string, init?: RequestInit): Promise<Reply>;
  sql: Session;
}

/** A new organization for the service behind `send`, in the database behind `sql`. */
export async function createOrganization(
  app: Ways,
): Promise<Organization> {
  const id = uuidv7();
  const names: (keyof References)[] = [
    "license",
    "season",
    "publisher",
    "division",
    "imprint",
    "collection",
    "series",
    "format",
    "title",
    "contributor",
    "customField",
    "program",
  ];
  const references = Object.fromEntries(
    names.map((name) => [name, uuidv7()]),
  ) as References;
  const key = await app.sql.begin(async (sql) => {
    await sql`insert into organizations (id, name) values (${id}, 'Test')`;
    await sql`insert into licenses (organization_id, id, name, badge_colour) values (${id}, ${references.license}, 'World English', '#336699')`;
    await sql`insert into seasons (organization_id, id, name) values (${id}, ${references.season}, 'Spring')`;
    await sql`insert into publishers (organization_id, id, name) values (${id}, ${references.publisher}, 'Harbour Press')`;
    await sql`insert into divisions (organization_id, id, name) values (${id}, ${references.division}, 'Adult')`;
    await sql`insert into imprints (organization_id, id, name) values (${id}, ${references.imprint}, 'Lantern')`;
    await sql`insert into collections (organization_id, id, name, collection_type) values (${id}, ${references.collection}, 'Classics', 'theme'), (${id}, ${references.series}, 'Novels', 'series')`;
    await sql`insert into formats (organization_id, id, name) values (${id}, ${references.format}, 'Paperback')`;
    await sql`insert into titles (organization_id, id, name) values (${id}, ${references.title}, 'Emma')`;
    await sql`insert into contributors (organization_id, id, name) values (${id}, ${references.contributor}, 'Jane Austen')`;
    await sql`insert into custom_fields (organization_id, id, name) values (${id}, ${references.customField}, 'Shelf')`;
    await sql`insert into publishing_programs (organization_id, id, name) values (${id}, ${references.program}, 'Autumn list')`;
    const { key, statement } = newKey({
      organizationId: id,
      name: "Test",
      scope: "write",
    });
    await sql`${statement}`;
    return key;
  });
  SECRETS.addCredential(key);

  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers?: HeadersInit,
  ) =>
    app.send(path, {
      method,
      headers: {
        "x-api-key": key,
        ...body !== undefined && { "content-type": "application/json" },
        ...Object.fromEntries(new Headers(headers)),
      },
      ...body !== undefined &&
        { body: typeof body === "string" ? body : JSON.stringify(body) },
    });

  const organization: Organization = {
    ...references,
    id,
    key,
    get: (path, headers) => call("GET", path, undefined, headers),
    post: (path, body, headers) => call("POST", path, body, headers),
    put: (path, body, headers) => call("PUT", path, body, headers),
    delete: (path, headers) => call("DELETE", path, undefined, headers),
    batch: (operations, options) => call("POST", "/api/products/batch", { operations, ...options }),
    async create(body = {}) {
      const { status, body: answer } = await organization.post(
        "/api/products",
        { title: "Emma", ...body },
      );
      assertEquals(status, 201, JSON.stringify(answer));
      const { data } = answer;
      return { id: data.id, path: `/api/products/${data.id}`, product: data };
    },
    issueKey: (scope) =>
      app.sql.begin(async (sql) => {
        const { key, statement } = newKey({
          organizationId: id,
          name: scope,
          scope,
        });
        await sql`${statement}`;
        return key;
      }),
  };
  return organization;
}

/** The id of a code in a shared list, such as `("publishing_statuses", "04")`. */
export async function idOfCode(
  app: Pick<Ways, "sql">,
  table: string,
  code: string,
): Promise<string> {
  const [row] = await app.sql<{ id: string }[]>`select id from ${
    app.sql(table)
  } where code = ${code}`;
  return row!.id;
}
