import { assert, assertEquals } from "@std/assert";
import { OPERATIONS } from "../../routes/operations.ts";
import { expandTables } from "../../routes/openapi/tables.ts";
import { isList } from "../../schema/parameters.ts";
import type { Entry } from "../../schema/bodies.ts";
import type { Rows } from "../../schema/fields.ts";
import { FIELDS } from "../../schema/product.ts";
import { LEFT_OUT } from "../../schema/view.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { bound } from "../support/app/bound.ts";
import { testsOf } from "../support/app/harness.ts";
import type { App } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import type { Reply } from "../support/client/envelope.ts";
import { pathWith } from "../support/client/every_operation.ts";
import { message, record } from "../support/data/onix.ts";

/*
 * What a recipient does not see bears a marker. Every operation is asked with a key of the recipient,
 * with every parameter: no response has a marker, and what is hidden is as if it did not exist. A new
 * operation, parameter or field fails these tests until it says what it is to recipients.
 */

const it = testsOf("A recipient");

const MARKER = "zqhidden";
const LEFT = "zqleftout";

/** The fields that a recipient always sees: they identify, name or limit a product. */
const ALWAYS_SEEN =
  /^(id|organization_id|product_code|isbn1[03]|(created|updated)_at|title|subtitle|page_count|title_(id|name)|(publisher|imprint|series|format|product_form|publishing_status|product_availability)_(id|name|code)|publication_date|product_type|edition_(number|statement|types)|product_form_(description|details)|primary_content_type|country_of_publication|city_of_publication|contributors|product_collections|collections|languages|extents|audiences|audience_ranges|publishing_dates|epub_technical_protections|product_territories|product_sales_rights)$/;

/** A seen product, whose values that are left out bear a marker, and a hidden one that bears another. */
async function scene(app: App, org: Organization) {
  const ids = await Promise.all(
    (["imprints", "publishers", "seasons", "divisions", "licenses", "titles", "formats"] as const)
      .map(
        async (records) => {
          const { body } = await org.post(`/api/${records}`, { name: `${MARKER} ${records}` });
          return [`${records.slice(0, -1)}_id`, body.data.id] as const;
        },
      ),
  );
  const own = Object.fromEntries(ids);
  const field = await org.post("/api/custom-fields", { name: `${MARKER} field` });
  const contributor = await org.post("/api/contributors", { name: `${MARKER} person` });
  const collection = await org.post("/api/collections", { name: `${MARKER} series` });
  const season = await org.post("/api/seasons", { name: `${LEFT} season` });
  const leftField = await org.post("/api/custom-fields", { name: `${LEFT} field` });
  const marked = (marker: string) => ({
    cover_image_url: `https://img.example.org/${marker}.jpg`,
    product_identifiers: [{ product_id_type: "01", id_type_name: marker, id_value: `${marker}-1` }],
    collateral: [{
      collateral_type: "text_content",
      text_type: "03",
      text: marker,
      content_audience: ["00"],
    }],
    related_works: [{
      work_relation_code: "01",
      work_identifiers: [{ work_id_type: "01", id_type_name: marker, id_value: marker }],
    }],
    related_products: [{
      product_relation_codes: ["06"],
      product_identifiers: [{ product_id_type: "01", id_type_name: marker, id_value: marker }],
    }],
    product_form_features: [
      { product_form_feature_type: "07", product_form_feature_value: marker },
      { product_form_feature_type: "09", product_form_feature_value: "14" },
    ],
    subjects: [{
      subject_scheme_identifier: "20",
      subject_heading_text: marker,
      subject_code: marker,
    }],
  });
  const hidden = await org.create({
    ...own,
    ...marked(MARKER),
    title: `${MARKER} novel`,
    subtitle: MARKER,
    isbn13: "9780306406157",
    series_id: collection.body.data.id,
    product_collections: [{ collection_id: collection.body.data.id, part_number: MARKER }],
    contributors: [{ contributor_id: contributor.body.data.id, contributor_role_code: "A01" }],
    custom_fields: [{ field_id: field.body.data.id, field_value: MARKER }],
    publishing_status_code: "02",
    product_type: "kit",
    publication_date: "1999-01-01",
    languages: [{ language_role: "01", language_code: "gla" }],
    product_prices: [{ currency_code: "ISK", retail_price: 4711.25 }],
  });
  const seen = await org.create({
    ...marked(LEFT),
    title: "Seen",
    isbn13: "9780140449112",
    imprint_id: org.imprint,
    season_id: season.body.data.id,
    custom_fields: [{ field_id: leftField.body.data.id, field_value: LEFT }],
    product_prices: [{ currency_code: "CHF", retail_price: 4712.25 }],
  });
  const reader = await bound(app, org, {
    selection: { imprint_id: [org.imprint] },
    leave_out: Object.keys(LEFT_OUT).filter((name) => name !== "product_prices"),
    currencies: ["EUR"],
  });
  return { own, hidden, seen, reader, season: season.body.data.id };
}

/** No part of a response has a marker, or another value that only what is hidden has. */
function assertUnmarked(reply: Reply, what: string, asked?: string): void {
  // A link, and the error of a value, repeat what was asked.
  const headers = JSON.stringify([...reply.headers].filter(([name]) => name !== "link"));
  const isError = reply.status >= 400;
  const all = headers + (isError && asked ? reply.text.replaceAll(asked, "") : reply.text);
  const isShared = what.startsWith("GET /code-lists/");
  for (const marker of [MARKER, LEFT, "4711.25", "4712.25", ...isShared ? [] : ["ISK", "CHF"]]) {
    assert(!all.includes(marker), `${what} has ${marker}: ${excerptAt(all, marker)}`);
  }
}

function excerptAt(text: string, marker: string): string {
  const at = text.indexOf(marker);
  return text.slice(Math.max(0, at - 80), at + 80);
}

/** What a response says, whatever the id and the request. */
function said({ status, body, text }: Reply, id: string): string {
  const { code, message, details } = body?.error ?? {};
  const own = body?.error ? JSON.stringify([code, message, details]) : text;
  return `${status} ${own.replaceAll(id, "ID")}`;
}

it("sees no marker in any operation, and a hidden product as none", async ({ org, app }) => {
  const { hidden, reader } = await scene(app, org);
  const nobody = uuidv7();
  for (const operation of expandTables(OPERATIONS)) {
    if (operation.permission === "none") continue;
    const [method, template] = operation.key.split(" ") as [string, string];
    const ask = (id: string) =>
      app.send(pathWith(id, { template }), {
        method,
        headers: { "x-api-key": reader.key, "content-type": "application/json" },
        ...method === "POST" && { body: "{}" },
      });
    const reply = await ask(hidden.id);
    if (operation.permission !== "view") {
      assertEquals(reply.status, 403, operation.key);
      continue;
    }
    assertUnmarked(reply, operation.key);
    if (template.includes("{id}")) {
      assertEquals(said(reply, hidden.id), said(await ask(nobody), nobody), operation.key);
    }
  }
});

it("learns nothing by any parameter", async ({ org, app }) => {
  const { own, hidden, seen, reader, season } = await scene(app, org);
  const { product } = hidden;
  /** For each parameter values that only hidden products have, or none of what they show. */
  const values: Record<string, string[]> = {
    ...Object.fromEntries(Object.entries(own).map(([name, id]) => [name, [id]])),
    season_id: [own.season_id, season],
    contributor_id: [product.contributors[0].contributor_id],
    collection_id: [product.series_id],
    series_id: [product.series_id],
    publishing_status_id: [product.publishing_status_id],
    publishing_status_code: ["02"],
    product_availability_id: [uuidv7()],
    product_availability_code: ["21"],
    lifecycle_status_id: [uuidv7()],
    lifecycle_status_code: ["active"],
    product_form_code: ["BC"],
    program_id: [org.program],
    isbn13: ["9780306406157"],
    isbn10: ["0306406152"],
    product_code: [product.product_code],
    shared_isbn: ["true"],
    language_code: ["gla"],
    subject_code: [MARKER, LEFT, "zq*"],
    accessibility_code: ["14"],
    id_value: [`${MARKER}-1`, `${LEFT}-1`],
    product_type: ["kit"],
    publication_date_from: ["1998-01-01"],
    publication_date_to: ["2000-01-01"],
    updated_since: ["2020-01-01"],
    search: [MARKER, LEFT, "novel", "9780306406157"],
    q: [MARKER, LEFT, `${LEFT}-1`, "zqhiden", "zqleftot", "novle", "9780306406157"],
    sort: ["title", "-publication_date", "updated_at"],
    include: ["subjects", "custom_fields", "supply_details", "contributors,product_prices"],
    page: ["1", "2"],
    limit: ["1"],
    after: [],
    recipient: [reader.id, uuidv7()],
    version: ["1"],
    at: ["2027-01-01"],
    release: ["3.0"],
    tags: ["short"],
    columns: [
      "season_name",
      `custom_fields[${MARKER} field].field_value`,
      `custom_fields[${MARKER} feild].field_value`,
      `custom_fields[${LEFT} feild].field_value`,
      "custom_fields",
      "product_prices[ISK].retail_price",
      "id,title",
    ],
    delimiter: ["tab"],
    decimal: ["comma"],
    code: ["04"],
  };
  for (const { key, permission, query } of expandTables(OPERATIONS)) {
    if (permission !== "view" || !query) continue;
    const path = pathWith(seen.id, { template: key.split(" ")[1]! });
    for (const [name, schema] of Object.entries(query.entries)) {
      assert(name in values, `${key} has the new parameter ${name}`);
      for (const value of values[name]!) {
        const reply = await reader.get(`${path}?${name}=${encodeURIComponent(value)}`);
        const what = `${key} ${name}=${value}`;
        assertUnmarked(reply, what, value);
        const total = reply.body?.meta?.total;
        if (key === "GET /products" && total !== undefined) {
          assert(total <= 1, `${what} finds ${total}`);
          const isHit = reply.body.data.some(({ id }: { id: string }) => id !== seen.id);
          assert(!isHit, what);
          assert(reply.body.meta.nearest !== true || total === 1, what);
        }
        if (isList(schema) && reply.status === 200) {
          const absent = await reader.get(`${path}?${name}=${encodeURIComponent(value)}&limit=1`);
          assertUnmarked(absent, what, value);
        }
      }
    }
  }
  // A custom field that the recipient does not get answers as one that does not exist.
  const columnReply = async (field: string) => {
    const name = encodeURIComponent(`custom_fields[${field}].field_value`);
    return said(await reader.get(`/api/csv/products?columns=${name}`), field);
  };
  assertEquals(await columnReply(`${LEFT} field`), await columnReply("none"));
  // A link has the parameters that were sent: nothing else.
  for (const q of [MARKER, `${LEFT}-1`, "9780306406157"]) {
    assertEquals((await reader.get(`/api/products?q=${q}`)).body.meta.total, 0, q);
  }
});

it("has columns of the prices that it sees, and is led to no other", async ({ org, app }) => {
  const amounts = { retail_price: 4711.25, retail_price_inc_tax: 9.5, list_price: 4712.25 };
  await org.create({
    product_prices: [{ currency_code: "EUR", ...amounts }, { currency_code: "CHF", ...amounts }],
  });
  const reader = await bound(app, org, { currencies: ["EUR"], price_types: ["02"] });
  const header = (await reader.get("/api/csv/products")).text.split("\r\n")[0]!;
  assertEquals(header.match(/product_prices[^,]+/g), ["product_prices[EUR].retail_price_inc_tax"]);
  for (const name of ["EUR].retail_price", "EUR].list_price", "CHF].retail_price_inc_tax"]) {
    const { status, text } = await reader.get(`/api/csv/products?columns=product_prices[${name}`);
    assertEquals([status, /left_out/.test(text)], [400, true], text);
  }
  const { text } = await reader.get("/api/csv/products?columns=product_pricess[EUR].list_price");
  assert(/unknown_column/.test(text) && !/did you mean/.test(text), text);
});

it("sees no entry whose element of ONIX is left out, of which an array has several", async ({ org, app }) => {
  const marked: Record<string, object> = {
    text_content: { text_type: "03", text: LEFT, text_author: LEFT },
    cited_content: { source_title: LEFT, citation_note: LEFT },
    award: { prize_name: LEFT },
  };
  const { types = {} } = FIELDS.collateral as Rows;
  for (const [type, { element }] of Object.entries(types)) {
    const others = Object.keys(types).filter((other) => other !== type);
    const seen = (other: string) => JSON.parse(JSON.stringify(marked[other]).replaceAll(LEFT, "x"));
    const { id } = await org.create({
      collateral: [
        { collateral_type: type, ...marked[type] },
        ...others.map((other) => ({ collateral_type: other, ...seen(other) })),
      ],
    });
    const reader = await bound(app, org, { name: element, leave_out: [element] });
    const { body } = await reader.get(`/api/products/${id}`);
    const shown = body.data.collateral.map((one: Entry) => one.collateral_type);
    assertEquals(shown, others, element);
    for (
      const path of [
        `/api/products/${id}`,
        `/api/onix/products/${id}`,
        "/api/products?include=collateral",
        "/api/products/changes?include=collateral",
        "/api/csv/products",
      ]
    ) {
      const { text } = await reader.get(path);
      assert(!text.includes(LEFT), `${element}: ${path}`);
    }
    const { status } = await reader.get("/api/csv/products?columns=collateral[03].source_title");
    assertEquals(status, type === "text_content" ? 400 : 200, element);
    await org.delete(`/api/products/${id}`);
  }
});

it("sees no subject of which nothing is left", async ({ org, app }) => {
  const subjects = [
    { subject_scheme_identifier: "93", subject_code: "FBA", subject_heading_text: LEFT },
    { subject_scheme_identifier: "20", subject_heading_text: LEFT },
  ];
  const { id } = await org.create({ subjects });
  const reader = await bound(app, org, { leave_out: ["SubjectHeadingText"] });
  const { body } = await reader.get(`/api/products/${id}`);
  assertEquals(body.data.subjects.map((one: Entry) => one.subject_code), ["FBA"]);
  const { text } = await reader.get("/api/csv/products?columns=id,subjects");
  assertEquals(text.split("\r\n")[1], `${id},93:FBA`);
});

Deno.test("Views have a word for every field", () => {
  const known = new Set(Object.values(LEFT_OUT).flat());
  const reference = (name: string) => {
    const field = FIELDS[name]!;
    return field.kind === "shown" ? field.reference : name;
  };
  const unknown = Object.keys(FIELDS).filter((name) =>
    !known.has(name) && !known.has(reference(name)) && !ALWAYS_SEEN.test(name)
  );
  assertEquals(unknown, []);
});

it("sees nothing of what only a stored record has", async ({ org, app }) => {
  const text = message(
    record({ reference: "press.example.1", isbn: "9780306406157", title: "Stocked" }).replace(
      "</Product>",
      `<ProductSupply><SupplyDetail><Supplier><SupplierRole>01</SupplierRole><SupplierName>S</SupplierName></Supplier>
        <ProductAvailability>20</ProductAvailability>
        <Stock><OnHand>4711847118</OnHand></Stock>
        <Price><PriceType>02</PriceType><PriceAmount>10.00</PriceAmount><CurrencyCode>GBP</CurrencyCode>
          <ComparisonProductPrice><ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780140449112</IDValue></ProductIdentifier>
            <PriceType>02</PriceType><PriceAmount>4711.25</PriceAmount><CurrencyCode>ISK</CurrencyCode></ComparisonProductPrice></Price>
        <Price><PriceType>02</PriceType><PriceAmount>4711.25</PriceAmount><CurrencyCode>ISK</CurrencyCode></Price>
      </SupplyDetail></ProductSupply></Product>`,
    ),
  );
  const { body } = await org.post("/api/onix/products", text, {
    "content-type": "application/xml",
  });
  const { id } = body.data.outcomes[0];
  const reader = await bound(app, org, { leave_out: ["Stock"], currencies: ["GBP"] });
  for (
    const path of [
      `/api/onix/products/${id}`,
      "/api/onix/products?tags=short",
      `/api/products/${id}`,
    ]
  ) {
    const reply = await reader.get(path);
    assertEquals(reply.status, 200);
    assert(!/4711847118|4711\.25|ISK/.test(reply.text), path);
  }
  const other = await bound(app, org, { name: "None", currencies: [] });
  const { text: unpriced } = await other.get(`/api/onix/products/${id}?release=3.0`);
  assert(unpriced.includes("<UnpricedItemType>04</UnpricedItemType>"));
  assert(!unpriced.includes("<Price>"));
});
