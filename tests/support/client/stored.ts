import { assert, assertEquals } from "@std/assert";
import { allOrganizations, miscounted, misindexed } from "../../../db/doctor/recount.ts";
import { selectBuilt } from "../../../db/products/read.ts";
import { storeDocuments } from "../../../db/products/documents/external_changes.ts";
import type { App } from "../app/harness.ts";
import type { Organization } from "../app/organization.ts";
import { operationsOf } from "../app/own_app.ts";

/** The values of `include` that the lists are read with. */
const INCLUDES = ["", "languages", "product_territories,sales_rights"];

/** Stores the documents of these products, as the service does in the background after reads. */
export async function store(
  app: App,
  org: Organization,
  ...ids: string[]
): Promise<void> {
  await operationsOf(app, org).transaction((tx) => tx.commit(...storeDocuments(tx, ids)));
}

interface Read {
  status: number;
  etag: string | null;
  text: string;
  // deno-lint-ignore no-explicit-any
  data: any;
}

/** Reads without validating the response: SQL may write values that bodies may not have. */
export async function read(
  app: App,
  org: Organization,
  path: string,
): Promise<Read> {
  const response = await app.handler(
    new Request(`http://catalogue.test${path}`, {
      headers: { "x-api-key": org.key },
    }),
  );
  const text = await response.text();
  const { status, headers } = response;
  const { data } = JSON.parse(text) as Pick<Read, "data">;
  return { status, etag: headers.get("etag"), text, data };
}

/** Every list of the organization. */
async function lists(app: App, org: Organization): Promise<Read[]> {
  const all = INCLUDES.map(async (include) => {
    const path = `/api/products?limit=100&include=${include}`;
    return await read(app, org, path);
  });
  return await Promise.all(all);
}

/** Expects GET and every list to match the tables, whatever documents are stored. */
export async function assertBuilt(
  app: App,
  org: Organization,
  message = "",
): Promise<void> {
  const stored = await lists(app, org);
  for (const { id } of stored[0]!.data) {
    const { text } = await read(app, org, `/api/products/${id}`);
    const [built] = await operationsOf(app, org).lookUp(selectBuilt(id));
    assertEquals(
      text,
      `{"success":true,"data":${built!.product},"error":null}`,
      `GET: ${message}`,
    );
  }
  await app
    .sql`delete from product_documents where organization_id = ${org.id}`;
  assertEquals(stored, await lists(app, org), `LIST: ${message}`);
}

/** Expects what derives from products, of one organization or of all, to be that of the tables: counts, terms, texts. */
export async function assertCounted(
  app: App,
  message = "",
  org?: Organization,
): Promise<void> {
  const isOf = (row: { organization_id: string }) => !org || row.organization_id === org.id;
  const wrong = (await app.sql<{ organization_id: string }[]>`${miscounted}`).filter(isOf);
  const all = org ? [org] : await app.sql<{ id: string }[]>`${allOrganizations}`;
  for (const { id } of all) wrong.push(...await app.sql<typeof wrong>`${misindexed(id)}`);
  assertEquals(wrong, [], message);
}

/** A product, and the expected effects of a change. */
export interface Showing {
  app: App;
  org: Organization;
  id: string;
  /** Whether it changes the product's own rows, and so its `updated_at`. */
  isOwn?: boolean;
  /** Whether it changes anything else in the response. */
  isShown?: boolean;
}

/** Runs an SQL change while the document is stored, and expects GET and every list to show it. */
export async function assertShows(
  { app, org, id, isOwn = true, isShown = true }: Showing,
  change: () => PromiseLike<unknown>,
  message: string,
): Promise<void> {
  const path = `/api/products/${id}`;
  await store(app, org, id);
  const before = await read(app, org, path);

  await change();

  const after = await read(app, org, path);
  assertEquals(after.status, 200, message);
  if (isShown) assert(withoutTime(after) !== withoutTime(before), message);
  if (isShown || isOwn) assert(after.etag !== before.etag, message);
  if (isOwn) {
    const [from, to] = [before.data.updated_at, after.data.updated_at];
    assert(to > from, `updated_at moves from ${from} to ${to}: ${message}`);
  }
  await assertBuilt(app, org, message);
}

function withoutTime({ data }: Read) {
  return JSON.stringify({ ...data, updated_at: null });
}
