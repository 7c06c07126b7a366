import { assertEquals } from "@std/assert";
import { type Organization, testsOf } from "../support/app/harness.ts";
import { eventually } from "../support/app/eventually.ts";

const it = testsOf("A shop");

const TERRITORIES = [{
  market_reference: "UK",
  markets: [{ territory: { countries_included: ["GB"] } }],
  supply_details: [{
    supplier: { supplier_name: "Harbour" },
    product_availability: "21",
    prices: [{ price_type: "02", price_amount: 9.99, currency_code: "GBP" }],
  }],
}];

it("gets the whole supply in lists and in the feed", async ({ org }) => {
  const { path } = await org.create({ title: "Emma" });
  await org.put(`${path}/territories`, TERRITORIES);
  await org.create({ title: "Persuasion" });
  const { body: { data } } = await org.get(path);
  const listed = async (include: string) => {
    const { body } = await org.get(`/api/products?include=${include}`);
    return body.data.map((product: Record<string, unknown>) =>
      product.product_territories
    );
  };

  const whole = [[], data.product_territories];
  const [{ id, market_reference, exclusivity, markets }] =
    data.product_territories;
  const shallow = [[], [{ id, market_reference, exclusivity, markets }]];

  assertEquals(await listed("supply_details"), whole);
  assertEquals(await listed("supply_details,product_territories"), whole);
  assertEquals(await listed("contributors,supply_details"), whole);
  assertEquals(await listed("product_territories"), shallow);
  await eventually(whole.toReversed(), async () => {
    const { body } = await org.get(
      "/api/products/changes?include=supply_details",
    );
    return body.data.map(({ product }: { product: Record<string, unknown> }) =>
      product.product_territories
    );
  });
});

/** The titles of a list, in their order. */
async function titles(org: Organization, query: string): Promise<string[]> {
  const { body } = await org.get(`/api/products?sort=title&${query}`);
  assertEquals(body.meta.total, body.data.length);
  return body.data.map(({ title }: { title: string }) => title);
}

it("filters by codes and by dates of publication", async ({ org }) => {
  await org.post("/api/formats", { name: "Paperback A" });
  await org.create({
    title: "A",
    publishing_status_code: "04",
    product_availability_code: "20",
    lifecycle_status_code: "active",
    format_name: "Paperback A",
    product_form_code: "BC",
    publication_date: "2026-01-31",
  });
  await org.create({
    title: "B",
    publishing_status_code: "02",
    publication_date: "2026-03-01",
  });
  await org.create({ title: "C" });
  const found: Record<string, string[]> = {
    "publishing_status_code=04": ["A"],
    "publishing_status_code=02,04": ["A", "B"],
    "publishing_status_code=04&publishing_status_code=02": ["A", "B"],
    "publishing_status_code=01": [],
    "product_availability_code=20": ["A"],
    "lifecycle_status_code=active,archived": ["A"],
    "product_form_code=BC": ["A"],
    "product_form_code=BB": [],
    "product_form_code=BC&publishing_status_code=02": [],
    "publication_date_from=2026-01-31": ["A", "B"],
    "publication_date_to=2026-01-31": ["A"],
    "publication_date_from=2026-02-01&publication_date_to=2026-03-01": ["B"],
    "publication_date_from=2027-01-01&publication_date_to=2026-01-01": [],
  };
  for (const [query, expected] of Object.entries(found)) {
    assertEquals(await titles(org, query), expected, query);
  }
  const { body } = await org.get("/api/products?publishing_status_code=04");
  assertEquals(body.meta.total, 1);
});

it("is told what was meant", async ({ org }) => {
  const queries: Record<string, string> = {
    "language_code=en":
      "invalid_code Expected a code of ONIX List 74, see /code-lists/74: did you mean eng?",
    "publishing_status_code=active":
      "invalid_code Expected a code of ONIX List 64, see /code-lists/64: did you mean 04?",
    "product_form_code=bc":
      "invalid_code Expected a code of ONIX List 150, see /code-lists/150: did you mean BC?",
    "lifecycle_status_code=activ":
      "invalid_code Expected a code of /lifecycle-statuses: did you mean active?",
    "publication_date_from=2026":
      "invalid_date Expected a calendar day as YYYY-MM-DD",
    "author=x":
      "unknown_parameter Unknown parameter: did you mean contributor_id?",
    "translator=x":
      "unknown_parameter Unknown parameter: did you mean contributor_id?",
    "query=x": "unknown_parameter Unknown parameter: did you mean q?",
  };
  for (const [query, message] of Object.entries(queries)) {
    const { status, body } = await org.get(`/api/products?${query}`);
    const [detail] = body.error.details;
    assertEquals([status, `${detail.code} ${detail.message}`], [400, message]);
  }
  const bodies: [object, string][] = [
    [
      { subjects: ["FBA"] },
      'Expected an object such as {"subject_scheme_identifier": "93", "subject_code": "FBA"}',
    ],
    [
      { contributors: ["Jane Austen"] },
      'Expected an object such as {"contributor_name": "Jane Austen", "contributor_role_code": "A01"}',
    ],
    [
      { publication_date: "1995" },
      "Expected a calendar day as YYYY-MM-DD: a year or month stands in publishing_dates, with role 01",
    ],
    [
      { rights: "UK" },
      "Unknown field: did you mean PUT /products/{id}/sales-rights?",
    ],
    [
      { supplier: "Harbour" },
      "Unknown field: did you mean PUT /products/{id}/territories?",
    ],
    [{ copyright: 1 }, "Unknown field: did you mean custom_fields?"],
    [{ translator: "X" }, "Unknown field: did you mean contributors?"],
  ];
  for (const [fields, message] of bodies) {
    const { body } = await org.post("/api/products", {
      title: "Emma",
      ...fields,
    });
    assertEquals(body.error.details[0].message, message);
  }
});
