import { assertEquals } from "@std/assert";
import { ARRAYS } from "../../schema/product.ts";
import { WRITTEN } from "../support/data/written.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openApp } from "../support/app/harness.ts";
import { insertTree } from "../support/data/rights_tree.ts";

/*
 * Fields have the order of the specification (2.1), followed by arrays and trees: product.sql
 * has it in full. Every response has the same. Every test checks that the JSON is compact.
 */

Deno.test("The fields of a response", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const created = await org.post("/api/products", await fullBody(app, org));
  const { id } = created.body.data;
  const path = `/api/products/${id}`;

  await it("that a client writes have the order of the specification", () => {
    const specified = SPECIFIED.trim().split(/,\s+/);
    const isSpecified = (field: string) => specified.includes(field);

    assertEquals(WRITTEN.filter(isSpecified), specified);
    assertEquals(
      Object.keys(created.body.data).filter(isSpecified),
      specified,
    );
    assertEquals(
      Object.keys(created.body.data).slice(-Object.keys(ARRAYS).length),
      Object.keys(ARRAYS),
    );
  });

  await insertTree(app, org, id);
  await app.sql`
    insert into product_sales_rights (organization_id, product_id, sales_rights_type)
    values (${org.id}, ${id}, '01')
  `;

  await it("have one order, however the product is written or read", async () => {
    const names = (fields: object) => Object.keys(fields);
    const got = await org.get(path);
    const put = await org.put(path, { title: "Persuasion" });
    const [listed] = (await org.get("/api/products")).body.data;
    const include = "product_territories,sales_rights";
    const [whole] = (await org.get(`/api/products?include=${include}`)).body
      .data;

    const all = names(created.body.data);
    const summary = all.filter((name) => !(name in ARRAYS));
    assertEquals(order(put.body.data), order(got.body.data));
    assertEquals(names(got.body.data), all);
    assertEquals(names(listed), summary);
    assertEquals(names(whole), [
      ...summary,
      "product_territories",
      "product_sales_rights",
    ]);
    assertEquals(
      order(whole.product_sales_rights),
      order(got.body.data.product_sales_rights),
    );
  });

  await it("are absent if their reference is not set", async () => {
    const { product } = await org.create({ title: "Emma" });

    assertEquals(Object.keys(product), [
      ..."id organization_id product_code created_at updated_at".split(" "),
      ...WRITTEN,
      "license_name",
      "license_badge_colour",
      ...Object.keys(ARRAYS),
    ]);
  });
});

/** The names of the fields, including those of nested objects. */
function order(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(order);
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value).map(([name, value]) => [name, order(value)]);
}

const SPECIFIED = `
  title, subtitle, isbn13, isbn10, page_count, publication_date, format_id,
  title_id, publishing_status_id, product_availability_id,
  lifecycle_status_id, license_id, season_id, publisher_id, division_id,
  imprint_id, series_id, product_form_id, product_type, cover_image_url
`;
