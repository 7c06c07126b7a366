import { issueKey, listKeys, revokeKey } from "../../db/api_keys.ts";
import {
  addMember,
  createOrganization,
  findRole,
  listMembers,
  removeMember,
} from "../../db/organizations.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { SORTS } from "../../schema/list_query.ts";
import { fullBody } from "../support/bodies.ts";
import { type App, type Organization, send } from "../support/harness.ts";
import { TREE, withoutIds } from "../support/rights_tree.ts";
import { askForRecords } from "./record_requests.ts";
import { recorded } from "./recording.ts";

/** Every statement of the service's requests and commands, as sent, by asking for all that there is. */
export async function everyStatement(app: App): Promise<Set<string>> {
  const database = recorded(app.database);
  const handler = app.variant({ database, replica: database });
  const org = await app.organization();
  const ask = (method: string, path: string, body?: unknown, headers = {}) =>
    send(handler, path, {
      method,
      headers: {
        "x-api-key": org.key,
        "content-type": "application/json",
        ...headers,
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });

  const full = await fullBody(app, org);
  const { body: { data } } = await ask("POST", "/api/products", full, {
    "idempotency-key": "all",
  });
  const path = `/api/products/${data.id}`;
  await ask("POST", "/api/products", { title: "Emma", license_id: uuidv7() });
  for (const body of changes(org, data)) await ask("PUT", path, body);
  await ask("PUT", path, { title: "Emma" }, { "if-match": "*" });
  for (const part of ["territories", "sales-rights"]) {
    const { body } = await ask("GET", `${path}/${part}`);
    await ask("PUT", `${path}/${part}`, body.data);
  }
  await ask("PUT", `${path}/territories`, TREE, { "if-match": "*" });
  await ask("PUT", `${path}/territories`, withoutIds(TREE));
  await ask("PUT", `${path}/sales-rights`, [
    { sales_rights_type: "01", is_rest_of_world: true },
  ]);
  const { path: other } = await org.create();
  await Promise.all(
    [path, other].map((path) => ask("PUT", path, { title: "Emma" })),
  );
  await ask("GET", path);
  await askForRecords(ask, org);
  for (const query of queries(org, data)) {
    await ask("GET", `/api/products?${query}`);
  }
  await ask("DELETE", path, undefined, { "if-match": "*" });
  await ask("GET", "/health/ready");

  const operations = database.until(performance.now() + 10_000);
  await findRole(operations, crypto.randomUUID(), "user");
  await operations.run(async (sql) => {
    const id = await createOrganization(sql, "Test");
    const key = await issueKey(sql, {
      organizationId: id,
      name: "Test",
      scope: "read",
    });
    await listKeys(sql, id);
    await revokeKey(sql, key.slice(4, 16));
    await revokeKey(sql, key.slice(4, 16), "2027-01-31");
    await addMember(sql, id, "user", "viewer");
    await listMembers(sql, id);
    await removeMember(sql, id, "user");
  });
  return database.statements();
}

/** Bodies for a product that was created with everything in it. */
function changes(
  org: Organization,
  // deno-lint-ignore no-explicit-any
  product: any,
): Record<string, unknown>[] {
  return [
    {},
    product,
    { publishing_status_id: null, product_form_id: null },
    { product_prices: [{ currency_code: "USD" }], collateral: [] },
    { product_prices: [{ id: uuidv7() }], license_id: uuidv7() },
    { packing_configurations: [], product_prices: [] },
    { series_id: null, product_collections: [] },
    { custom_fields: [{ field_id: org.customField, field_value: 1 }] },
  ];
}

/** The queries of lists, each in all its forms. */
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
    "isbn10=0306406152",
    "product_code=P-00000000",
    "updated_since=2026-01-01",
    "search=emma",
    "search=e",
    "search=978-0",
    "search=emma 978-0-306",
    "search=a%1fb",
    "include=product_territories,product_sales_rights",
    "include=product_prices,packing_configurations,contributors,custom_fields,collateral",
  ];
}
