import { assert } from "@std/assert";
import {
  addMember,
  createOrganization,
  endOfKey,
  listKeys,
  listMembers,
  listOrganizations,
  newKey,
  removeMember,
  revokeKey,
} from "../../db/access.ts";
import { roleOf } from "../../db/credentials.ts";
import { eraseContributor } from "../../features/history/db/erase.ts";
import { deleteDue, initialProgress } from "../../features/history/db/retention.ts";
import { deleteOldest } from "../../db/idempotency.ts";
import { hasRenames, propagateRenames } from "../../features/changes/db/renames.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { SORTS } from "../../schema/list_query.ts";
import { RECORD_SORTS } from "../../schema/record_query.ts";
import { fullBody } from "../support/data/bodies.ts";
import type { Reply } from "../support/client/envelope.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { deletionOf, isbnOf, message, record, sent } from "../support/data/onix.ts";
import { makeExamples, openDemo } from "../support/examples/record.ts";
import { recorded, textsInto } from "../support/app/recording.ts";
import { askForRecipients } from "./recipient_requests.ts";
import { askForWebhooks } from "./webhook_requests.ts";

/** Every statement of the service's requests and commands, as sent to the database. */
export async function everyStatement(app: App): Promise<Set<string>> {
  const statements = new Set<string>();
  await askAsInExamples(statements);
  const database = recorded(app.database, textsInto(statements));
  const org = await app.organization();
  const asking =
    (handler: App["handler"]) =>
    async (method: string, path: string, body?: unknown, headers = {}) => {
      const reply = await send(handler, path, {
        method,
        headers: {
          "x-api-key": org.key,
          "content-type": "application/json",
          ...headers,
        },
        ...body !== undefined && { body: JSON.stringify(body) },
      });
      assert(reply.status < 500, `${method} ${path}: ${reply.text}`);
      return reply;
    };
  const ask = asking(app.variant({ database }));
  const distributed = recorded(app.database, textsInto(statements), {
    isDistributed: true,
  });
  const askDistributed = asking(app.variant({ database: distributed }));

  const full = await fullBody(app, org);
  const once = { "idempotency-key": "all" };
  const { body: { data } } = await ask("POST", "/api/products", full, once);
  await ask("POST", "/api/products", full, once);
  const path = `/api/products/${data.id}`;
  await askDistributed("PUT", path, full);
  await askDistributed("POST", "/api/products", { title: "Emma" }, {
    "idempotency-key": "distributed",
  });
  for (const table of ["contributors", "publishers"]) {
    const [record] = (await ask("GET", `/api/${table}?limit=1`)).body.data;
    await askDistributed("PUT", `/api/${table}/${record.id}`, { name: "Renamed" });
  }
  await ask("POST", "/api/products", { title: "Emma", license_id: uuidv7() });
  await ask("POST", "/api/products/batch", {
    operations: [
      { method: "create", body: full },
      { method: "create", body: { title: "Emma", license_id: uuidv7() } },
      { method: "update", id: data.id, body: full, if_match: "*" },
      { method: "upsert", match: "isbn13", body: full },
    ],
    return: "minimal",
  }, { "idempotency-key": "batch" });
  for (const body of changes(org, data)) await ask("PUT", path, body);
  await ask("PUT", path, { title: "Emma" }, { "if-match": "*" });
  const { id: other } = await org.create();
  const program = `/api/publishing-programs/${org.program}/products/${other}`;
  await ask("PUT", program, {});
  await ask("POST", "/api/products/batch", {
    operations: [
      { method: "delete", id: other },
      { method: "upsert", match: "product_code", body: data },
    ],
  });
  await ask("DELETE", program);
  for (const sort of RECORD_SORTS) {
    await ask("GET", `/api/contributors?sort=${sort}`);
  }
  for (const records of ["contributors", "seasons"]) {
    await ask("GET", `/api/${records}?search=spring e&name=Emma&page=2`);
  }
  await ask("POST", "/api/seasons", { name: "Spring" }, once);
  await ask("GET", path);
  for (const query of queries(org, data)) {
    await ask("GET", `/api/products?${query}`);
  }
  await ask("PUT", "/api/organization", { name: "A" }, { "if-match": "*" });
  await askForHistory(ask, app, path, data.id);
  await ask("DELETE", path, undefined, { "if-match": "*" });
  await ask("GET", "/api/products/changes?include=sales_rights");
  for (const each of [database, distributed]) {
    await askInOnix(app.variant({ database: each }), org);
  }
  await askInSheets(app.variant({ database }), org);
  await askForRecipients(app, database, org);
  await askForWebhooks(app, database, org);
  await ask("GET", "/health/ready");

  const operations = database.for({
    deadline: performance.now() + 10_000,
    caller: { organizationId: org.id, name: "command" },
  });
  await operations.write(deleteOldest);
  await eraseContributor(operations, org.contributor);
  await deleteDue(database, 0, initialProgress());
  await hasRenames(database);
  await propagateRenames(database);
  const { key, statement } = newKey({
    organizationId: org.id,
    name: "Test",
    scope: "read",
  });
  const id = key.slice(4, 16);
  await operations.transaction((tx) =>
    tx.commit(
      createOrganization("Test"),
      listOrganizations,
      statement,
      listKeys,
      revokeKey(id),
      revokeKey(id, "2027-01-31"),
      endOfKey(id),
      addMember("user", "viewer"),
      roleOf("user"),
      listMembers,
      removeMember("user"),
    )
  );
  // SQL has invalidated the stored JSON of this product, so the service builds it.
  await app.sql`update products set title = 'Other' where id = ${other}`;
  await askDistributed("GET", `/api/products/${other}`);
  await app.sql`update products set title = 'Another' where id = ${other}`;
  await ask("GET", `/api/products/${other}`);
  await app.sql`update products set title = 'Emma' where id = ${other}`;
  await ask("GET", "/api/products");
  await eventually(0, () => database.load.used);
  return statements;
}

/** Sends the requests of the OpenAPI document's examples, which use every operation. */
async function askAsInExamples(statements: Set<string>): Promise<void> {
  await using demo = await openDemo();
  const database = recorded(demo.database, textsInto(statements));
  await makeExamples({
    ...demo,
    variant: (services) => demo.variant({ ...services, database }),
  });
}

/** Reads the history in all its forms, restores, and deletes what is due. */
async function askForHistory(
  ask: (method: string, path: string, body?: unknown) => Promise<Reply>,
  app: App,
  path: string,
  id: string,
): Promise<void> {
  // SQL has made a version that is not stored: a read of the past stores it, and so does a write.
  await app.sql`update products set title = 'By SQL' where id = ${id}`;
  await ask("GET", `${path}?at=2027-01-01`);
  await ask("GET", `${path}?at=2001-01-01`);
  await app.sql`update products set title = 'By SQL again' where id = ${id}`;
  await ask("PUT", path, { title: "By a request" });
  const { body } = await ask("GET", `${path}/history?limit=1`);
  const { version } = body.data[0];
  await ask("GET", `${path}/history?after=${version}&changed=title`);
  await ask("GET", `${path}?version=${version}`);
  const { body: page } = await ask("GET", "/api/history?limit=1");
  await ask(
    "GET",
    `/api/history?since=2026-01-01&until=2099-01-01&changed_by=a&operation=import&request_id=c&after=${page.meta.cursor}`,
  );
  await ask("POST", `${path}/restore`, { version });
  await ask("POST", `${path}/restore`, { at: "2001-01-01" });
  await ask("DELETE", path);
  await ask("POST", "/api/products/batch", {
    operations: [{ method: "restore", id }, {
      method: "restore",
      id: uuidv7(),
    }],
  });
  const { body: deleted } = await ask("GET", "/api/products/deleted?limit=1");
  await ask("GET", `/api/products/deleted?after=${deleted.meta.cursor}`);
}

/** Creates, changes and deletes products by messages, and reads them. */
async function askInOnix(
  handler: App["handler"],
  { key }: Organization,
): Promise<void> {
  const path = "/api/onix/products";
  const headers = { "x-api-key": key, "content-type": "application/xml" };
  const book = { collection: "Novels", contributors: ["New author"] };
  let id = "";
  // A record binds a product that is there already.
  const isbn13 = isbnOf(99);
  await send(handler, "/api/products", {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ title: "Unbound", isbn13 }),
  });
  await send(handler, path, {
    method: "POST",
    headers,
    body: message(record({ reference: "press.example.99", isbn: isbn13 })),
  });
  const identified =
    "<PublisherIdentifier><PublisherIDType>06</PublisherIDType><IDValue>5012345000015</IDValue></PublisherIdentifier><PublisherName>";
  const messages = [
    book,
    { ...book, title: "Changed", form: "BB" },
    { ...book, notification: "04", pages: 480 },
    { ...book, reference: "press.example.alias" },
  ].map((one) => message(record(one).replace("<PublisherName>", identified)));
  // Another sender describes the same book, and the first one again.
  messages.push(
    messages[0]!.replace("<SenderName>", "<SenderName>Not "),
    messages[1]!,
  );
  for (const text of messages) {
    const { body } = await send(handler, path, {
      method: "POST",
      headers,
      body: text,
    });
    // Without Citus, the statements for it fail.
    id = body.data?.outcomes[0]?.id ?? uuidv7();
  }
  // Two senders in turn.
  for (const [i, sender] of ["Shop", "Press", "Shop"].entries()) {
    const one = record({ ...book, title: `Title ${i}` });
    const body = sent("20261101", sender, one);
    await send(handler, path, { method: "POST", headers, body });
  }
  // The record of a sender who is not the last, again, under a header of which it takes nothing: what reading it finds out is noted.
  const again = sent("20261101", "Press", record({ ...book, title: "Title 1" }))
    .replace("</Header>", "<DefaultCurrencyCode>EUR</DefaultCurrencyCode></Header>");
  await send(handler, path, { method: "POST", headers, body: again });
  await send(handler, `${path}/${id}`, { headers });
  await send(handler, path, { headers });
  await send(handler, path, {
    method: "POST",
    headers,
    body: message(deletionOf("press.example.1")),
  });
}

/** Writes sheets, one of them with a new name in a row that is refused. */
async function askInSheets(handler: App["handler"], { key }: Organization): Promise<void> {
  const path = "/api/csv/products?create=true&create_names=true";
  const headers = { "x-api-key": key, "content-type": "text/csv" };
  for (
    const row of ["9780306406157,Emma,New press,", "9780306406164,Emma,Newer press,Nowhere"]
  ) {
    const body = `isbn13,title,publisher_name,season_name\n${row}\n`;
    await send(handler, path, { method: "POST", headers, body });
  }
}

/** Bodies for a complete product. */
function changes(
  org: Organization,
  // deno-lint-ignore no-explicit-any
  product: any,
): Record<string, unknown>[] {
  return [
    {},
    product,
    { publishing_status_id: null, product_form_id: null },
    { publication_date: "2027-03-05" },
    { product_form_id: uuidv7() },
    { product_prices: [{ currency_code: "USD" }], collateral: [] },
    { product_prices: [{ id: uuidv7() }], license_id: uuidv7() },
    { packing_configurations: [], product_prices: [] },
    { series_id: null, product_collections: [] },
    { custom_fields: [{ field_id: org.customField, field_value: 1 }] },
    { publisher_name: "Harbour Press", publishing_status_code: "04" },
    { publisher_name: "Nobody", lifecycle_status_code: "none" },
  ];
}

/** The queries of lists, in all their forms. */
// deno-lint-ignore no-explicit-any
function queries(org: Organization, product: any): string[] {
  return [
    "",
    "page=3&limit=1",
    ...SORTS.map((sort) => `sort=${sort}`),
    `format_id=${org.format}`,
    `format_id=${org.format},${org.id}`,
    `publishing_status_id=${product.publishing_status_id}&lifecycle_status_id=${product.lifecycle_status_id}`,
    `product_availability_id=${product.product_availability_id}`,
    `series_id=${org.series}&product_type=kit,normal`,
    `contributor_id=${org.contributor}`,
    `collection_id=${org.collection},${org.series}`,
    "isbn13=9780306406157",
    "shared_isbn=true",
    "isbn10=0306406152",
    "product_code=P-00000000",
    "publishing_status_code=04",
    "product_form_code=BC&lifecycle_status_code=active,archived",
    "publication_date_from=2026-01-01&publication_date_to=2026-12-31",
    "updated_since=2026-01-01",
    "updated_since=2026-01-01&sort=-updated_at",
    "q=e&updated_since=2026-01-01",
    "language_code=eng",
    "subject_code=FBC,FB*&language_code=eng,gsw",
    "subject_code=FB*",
    "id_value=10.1000/emma",
    "accessibility_code=14,15",
    "search=emma",
    "search=e",
    "search=978-0",
    "search=emma 978-0-306",
    "search=a%1fb",
    "q=emma austen 978-0",
    "q=978-0-306-40615-7",
    "q=e",
    "q=emma&sort=title",
    "q=9788000500003",
    "q=hemmingway",
    "q=hary potter",
    `program_id=${org.program}`,
    "include=product_territories,product_sales_rights",
    "include=product_prices,packing_configurations,contributors,custom_fields,collateral",
    "include=subjects",
    "include=supply_details",
  ];
}
