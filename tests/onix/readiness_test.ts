import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  detailsOf,
  parseProfile,
  type Profile,
  profiles,
} from "../../features/readiness/schema/profiles.ts";
import { checkMessage } from "../../features/readiness/schema/readiness.ts";
import { isPartOf } from "../../features/onix/schema/rules/facts.ts";
import { COMMANDS } from "../../db/commands/commands.ts";
import { sessionOn } from "../support/client/transfer.ts";
import { idOfCode } from "../support/app/organization.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import { recordsOf } from "./support.ts";

const DETAIL = "/Product/DescriptiveDetail";
const SUPPLY = "/Product/ProductSupply";

const LANGUAGES =
  "<Language><LanguageRole>02</LanguageRole><LanguageCode>grc</LanguageCode></Language>";

/** A profile with one rule. */
function profileOf(rule: object, severity = "required"): Profile {
  return parseProfile("test", {
    title: "Test",
    release: "3.1",
    source: "https://example.org/rules",
    as_of: "2026-11-27",
    required: {},
    recommended: {},
    [severity]: { test: { message: "Mend it", ...rule } },
  });
}

/** The result of a rule for this record as it is. */
async function checkedBy(rule: object, xml: string, product = {}) {
  const { header, records } = await recordsOf(message(xml));
  return checkMessage(profileOf(rule), { header, record: records[0]!, product });
}

const PRICES = record().replace(
  "</Price>",
  "</Price><Price><PriceType>99</PriceType><PriceAmount>1</PriceAmount><CurrencyCode>EUR</CurrencyCode></Price>",
);

/** A rule, a record that it holds for, and where another one breaks it. `undefined`: it does not apply there. */
const RULES: [
  kind: string,
  rule: object,
  holds: string,
  broken: string,
  path: string,
  value?: string | null,
][] = [
  [
    "at least one",
    { path: `${DETAIL}/Language[LanguageRole=01]/LanguageCode` },
    record(),
    record().replace("<LanguageRole>01", "<LanguageRole>02"),
    `${DETAIL}/Language[2]/LanguageCode`,
  ],
  [
    "at least one, in a block that is missing",
    { path: "/Product/CollateralDetail/TextContent/Text" },
    record().replace(
      "<PublishingDetail>",
      "<CollateralDetail><TextContent><Text>x</Text></TextContent></CollateralDetail><PublishingDetail>",
    ),
    record(),
    "/Product/CollateralDetail/TextContent/Text",
  ],
  [
    "one of several",
    { path: [`${DETAIL}/Contributor`, `${DETAIL}/NoContributor`] },
    record({ contributors: [], more: "<NoContributor/>" }),
    record({ contributors: [] }),
    `${DETAIL}/Contributor`,
  ],
  [
    "each has",
    { each: `${SUPPLY}/SupplyDetail/Price`, path: "Tax" },
    record().replace("</PriceAmount>", "</PriceAmount><Tax/>"),
    record(),
    `${SUPPLY}/SupplyDetail/Price/Tax`,
  ],
  [
    "each has one of these codes",
    {
      each: `${SUPPLY}/SupplyDetail/Price`,
      path: "PriceType",
      one_of: ["02"],
    },
    record(),
    PRICES,
    `${SUPPLY}/SupplyDetail/Price[2]/PriceType`,
    "99",
  ],
  [
    "one of these codes where there is one",
    { path: `${DETAIL}/ProductForm`, one_of: ["ED"] },
    record({ form: "ED" }),
    record(),
    `${DETAIL}/ProductForm`,
    "BC",
  ],
  [
    "one of these codes where there may be several",
    { path: `${DETAIL}/Language/LanguageRole`, one_of: ["01"] },
    record({ more: LANGUAGES }),
    record().replace("<LanguageRole>01", "<LanguageRole>02"),
    `${DETAIL}/Language[2]/LanguageRole`,
  ],
  [
    "one of these codes in a list of them",
    { path: `${SUPPLY}/Market/Territory/CountriesIncluded`, one_of: ["GB"] },
    record().replace(
      "<ProductSupply>",
      "<ProductSupply><Market><Territory><CountriesIncluded>IE GB</CountriesIncluded></Territory></Market>",
    ),
    record(),
    `${SUPPLY}/Market/Territory/CountriesIncluded`,
  ],
  [
    "only these codes",
    { path: `${DETAIL}/Language/LanguageRole`, only: ["01"] },
    record(),
    record({ more: LANGUAGES }),
    `${DETAIL}/Language[2]/LanguageRole`,
    "02",
  ],
  [
    "at most so many",
    { path: `${DETAIL}/Contributor`, at_most: 1 },
    record(),
    record({ contributors: ["A", "B"] }),
    `${DETAIL}/Contributor[2]`,
  ],
  [
    "at most so many characters",
    { path: `${DETAIL}/Contributor/PersonName`, characters: 3 },
    record({ contributors: ["🐋🐋🐋"] }),
    record({ contributors: ["Anne"] }),
    `${DETAIL}/Contributor/PersonName`,
    "Anne",
  ],
  [
    "only where",
    {
      path: `${DETAIL}/ProductFormDetail`,
      where: [`${DETAIL}[ProductForm=ED]`],
    },
    record({ form: "BC" }),
    record({ form: "ED" }),
    `${DETAIL}/ProductFormDetail`,
  ],
  [
    "a date of no form",
    {
      path: "/Product/PublishingDetail/PublishingDate[PublishingDateRole=01]/Date",
    },
    record(),
    record().replace("20270131", "20270231"),
    "/Product/PublishingDetail/PublishingDate/Date",
    "20270231",
  ],
];

for (const [kind, rule, holds, broken, path, value = null] of RULES) {
  Deno.test(`A rule holds or is broken: ${kind}`, async () => {
    const { ready, score, missing } = await checkedBy(rule, holds);
    assertEquals({ ready, score, missing }, {
      ready: true,
      score: 100,
      missing: [],
    });

    const result = await checkedBy(rule, broken);

    assertEquals(result.ready, false);
    assertEquals(result.score, 0);
    const [first] = result.missing;
    assertEquals(first, {
      rule: "test",
      severity: "required",
      path,
      pointer: first!.pointer,
      value,
      message: "Mend it",
    });
  });
}

Deno.test("A rule that is recommended makes no product unready", async () => {
  const { header, records } = await recordsOf(message(record()));
  const rule = { path: `${DETAIL}/EditionNumber` };

  const { ready, score } = checkMessage(profileOf(rule, "recommended"), {
    header,
    record: records[0]!,
    product: {},
  });

  assertEquals([ready, score], [true, 0]);
});

Deno.test("A product has at most 100 messages", async () => {
  const contributors = Array.from({ length: 150 }, (_, i) => `Name ${i}`);
  const rule = { each: `${DETAIL}/Contributor`, path: "BiographicalNote" };

  const { missing } = await checkedBy(rule, record({ contributors }));

  assertEquals(missing.length, 100);
});

for (const [name, profile] of profiles()) {
  Deno.test(`The profile ${name} has rules of elements and fields`, () => {
    const paths = profile.rules.flatMap(({ each, path, where = [] }) => [
      ...(each ?? [[]]).flatMap((way) => path.map((on) => [...way, ...on])),
      ...where,
    ]);

    for (const steps of paths) {
      assert(["Header", "Product"].includes(steps[0]!.name));
      for (const [i, { name, codes }] of steps.entries()) {
        if (i > 0) assert(isPartOf(name, steps[i - 1]!.name), name);
        for (const [code] of codes) assert(isPartOf(code, name), code);
      }
    }
    const { rules } = detailsOf(profile);
    const lacking = rules.filter(({ pointer }) => pointer === null)
      .map(({ rule }) => rule);
    assertEquals(
      lacking,
      name === "vlb" ? ["customs_number", "country_of_manufacture"] : [],
    );
    for (const { path, message } of rules) {
      assertMatch(path, /^\/(Product|Header)\//);
      assertMatch(message, /: |JSON/);
    }
  });
}

const it = onixTestsOf("Readiness");

it("names the fields of JSON", async ({ org, onix }) => {
  const xml = record({
    contributors: ["Jane Austen", "Fay Weldon"],
    more:
      "<Extent><ExtentType>22</ExtentType><ExtentValue>4</ExtentValue><ExtentUnit>19</ExtentUnit></Extent>",
  }).replace(
    "<SupplyDetail>",
    "<Market><Territory><CountriesIncluded>GB</CountriesIncluded></Territory></Market><SupplyDetail>",
  );
  const { outcomes: [{ id }] } = await onix.report(message(xml));

  const pointersFor = async (profile: string) => {
    const { body } = await org.get(
      `/api/products/${id}/readiness?profile=${profile}`,
    );
    return Object.fromEntries(
      // deno-lint-ignore no-explicit-any
      body.data.missing.map(({ rule, pointer }: any) => [rule, pointer]),
    );
  };

  assertEquals(await pointersFor("vlb"), {
    publisher_identifier: "/publisher_id",
    warengruppe: "/subjects",
    price_tax: "/product_territories/0/supply_details/0/prices/0/taxes",
    price_territory:
      "/product_territories/0/supply_details/0/prices/0/territory/countries_included",
    contributor_identifier: "/contributors/1",
    cover: "/cover_image_url",
    keywords: "/subjects",
    description: "/collateral",
    thema: "/subjects",
    customs_number: null,
    country_of_manufacture: null,
  });
  const google = await pointersFor("google-play");
  assertEquals(google.product_form, "/product_form_id");
  assertEquals(google.contact_name, "/organization/contact_name");
  assertEquals(google.biography, "/contributors/1");
  assertEquals(google.sales_rights, "/product_sales_rights");
});

it("counts what only the schema demands as missing", async ({ org }) => {
  const { id } = await org.create({
    collateral: [{ collateral_type: "text_content", text: "A novel" }],
    product_prices: [{ currency_code: "GBP", retail_price: 7 }],
    publication_date: "2027-01-31",
  });
  const { text } = await org.get(`/api/onix/products/${id}?release=3.0`);
  for (
    const written of [
      "<ProductForm>00",
      "<TextType>01",
      "<ContentAudience>00",
      "<SupplierRole>00",
      "<ProductAvailability>99",
      "<SupplierName>Test",
      "<PublisherName>Test",
    ]
  ) assertStringIncludes(text, written);
  const missingFor = async (profile: string) => {
    const { body } = await org.get(
      `/api/products/${id}/readiness?profile=${profile}`,
    );
    // deno-lint-ignore no-explicit-any
    return new Map(body.data.missing.map(({ rule, pointer }: any) => [rule, pointer]));
  };

  const google = await missingFor("google-play");
  const bic = await missingFor("bic-basic");

  for (
    const rule of [
      "product_form",
      "description",
      "text_audience",
      "supplier",
      "supplier_role",
      "availability",
      "market",
      "publisher",
    ]
  ) assert(google.has(rule), rule);
  for (const rule of ["product_form", "publisher", "supplier"]) {
    assert(bic.has(rule), rule);
  }
  assert(!google.has("price") && !google.has("supply"));
  // Without supply details, the product itself has it.
  assertEquals(google.get("availability"), "/product_availability_id");
});

it("ignores the placeholders of a product that came back", async ({ org, another }) => {
  const { id } = await org.create({ isbn13: "9780141439587" });
  const { text } = await org.get(`/api/onix/products/${id}`);
  const other = await another();
  const { outcomes: [{ id: copy }] } = await other.onix.report(text);
  const rulesOf = async (client: typeof org, id: string) => {
    const { body } = await client.get(
      `/api/products/${id}/readiness?profile=bic-basic`,
    );
    // deno-lint-ignore no-explicit-any
    return body.data.missing.map(({ rule }: any) => rule);
  };

  const rules = await rulesOf(other.org, copy);

  assertEquals(rules, await rulesOf(org, id));
});

it("of many adds up to the catalogue once", async ({ org, onix }) => {
  const records = Array.from({ length: 23 }, (_, i) =>
    record({
      reference: `r${i}`,
      isbn: isbnOf(i),
      form: i % 3 === 0 ? "ED" : "BC",
    }));
  await onix.report(message(...records));
  const follow = async (query: string) => {
    const ids: string[] = [];
    const sum = { checked: 0, ready: 0, pages: 0 };
    let after = "";
    for (let more = true; more;) {
      const { body } = await org.get(
        `/api/products/readiness?profile=bic-basic&${query}${after}`,
      );
      const { data, meta } = body;
      // deno-lint-ignore no-explicit-any
      ids.push(...data.map(({ id }: any) => id));
      sum.checked += meta.checked;
      sum.ready += meta.ready;
      sum.pages++;
      more = meta.more;
      after = `&after=${meta.cursor}`;
    }
    return { ids, ...sum };
  };

  const all = await follow("limit=5");
  const unready = await follow("limit=4&ready=false");
  const ready = await follow("limit=4&ready=true");
  const active = await follow("limit=9&publishing_status_code=04");
  const none = await follow("publishing_status_code=08");

  assertEquals(all.pages, 5);
  assertEquals(all.ids, all.ids.toSorted());
  assertEquals(new Set(all.ids).size, 23);
  for (const one of [all, unready, ready]) {
    assertEquals([one.checked, one.ready], [23, 0]);
  }
  assertEquals([unready.ids, ready.ids], [all.ids, []]);
  assertEquals(active.ids, all.ids);
  assertEquals([none.ids, none.checked], [[], 0]);
});

it("of many looks at 500 products a page", async ({ org, sql }) => {
  await sql`
    insert into products (organization_id, id, title, product_code)
    select ${org.id}, gen_random_uuid(), 'Emma', 'P-' || i
    from generate_series(1, 512) i
  `;
  const path = "/api/products/readiness?profile=kobo&ready=true&limit=100";

  const { body: first } = await org.get(path);
  const { body: last } = await org.get(`${path}&after=${first.meta.cursor}`);

  assertEquals([first.data, last.data], [[], []]);
  assertEquals([first.meta.checked, first.meta.more], [500, true]);
  assertEquals([last.meta.checked, last.meta.more], [12, false]);
});

/** A query, and what its error says. */
const REFUSED: [path: string, status: number, parameter: string | null][] = [
  ["/products/readiness", 400, "profile"],
  ["/products/readiness?profile=", 400, "profile"],
  ["/products/readiness?profile=kindle", 400, "profile"],
  ["/products/readiness?profile=kobo&ready=yes", 400, "ready"],
  ["/products/readiness?profile=kobo&after=x", 400, "after"],
  ["/products/readiness?profile=kobo&limit=0", 400, "limit"],
  ["/products/readiness?profile=kobo&search=x", 400, "search"],
  ["/products/readiness?profile=kobo&imprint_id=x", 400, "imprint_id"],
  ["/products/{id}/readiness", 400, "profile"],
  ["/products/{id}/readiness?profile=kindle", 400, "profile"],
  ["/products/{deleted}/readiness?profile=kobo", 404, null],
  ["/recipient-profiles/kindle", 404, null],
];

it("refuses what is wrong", async ({ org }) => {
  const { id } = await org.create();
  const deleted = await org.create();
  await org.delete(deleted.path);

  for (const [path, status, parameter] of REFUSED) {
    const { status: actual, body } = await org.get(
      `/api${path.replace("{id}", id).replace("{deleted}", deleted.id)}`,
    );

    assertEquals(actual, status, path);
    const [detail] = body.error.details;
    assertEquals(detail?.parameter ?? null, parameter, path);
    if (parameter === "profile" || path.startsWith("/recipient")) {
      assertMatch(JSON.stringify(body.error), /bic-basic, google-play, kobo/);
    }
  }
});

it("may be asked by who may only read, and of no other organization", async ({ org, another }) => {
  const { id } = await org.create();
  const key = { "x-api-key": await org.issueKey("read") };
  const { org: other } = await another();

  const one = `/api/products/${id}/readiness?profile=kobo`;
  const many = "/api/products/readiness?profile=kobo";

  for (const path of [one, many, "/api/recipient-profiles/kobo"]) {
    assertEquals((await org.get(path, key)).status, 200);
  }
  assertEquals((await other.get(one)).status, 404);
  const { body } = await other.get(many);
  assertEquals(body.data, []);
  assertEquals(body.meta, { cursor: null, more: false, checked: 0, ready: 0 });
});

it("is a command, too", async ({ org, app }) => {
  await org.create({ title: "Emma", isbn13: "9780141439587" });
  await org.create({ title: "Lady Susan" });
  const run = async (...options: string[]) => {
    let written = "";
    const { write } = Deno.stdout;
    Deno.stdout.write = (bytes) => {
      written += new TextDecoder().decode(bytes);
      return Promise.resolve(bytes.length);
    };
    try {
      const work = COMMANDS.readiness!.parse([
        ...["--organization", org.id, "--profile", "vlb"],
        ...options,
      ]);
      const output = await work(sessionOn(app));
      return { output, lines: written.trimEnd().split("\n").sort() };
    } finally {
      Deno.stdout.write = write;
    }
  };

  const told = await run();
  const json = await run("--json");

  assertEquals(
    told.output,
    "0 of 2 products are ready for VLB (Verzeichnis Lieferbarer Bücher)",
  );
  assertEquals(told.lines.length, 2);
  assertMatch(told.lines.join(), /P-\w+ {2}no ISBN {2}Lady Susan {2}VLB knows/);
  assertMatch(told.lines.join(), / {2}9780141439587 {2}Emma {2}VLB wants/);
  assertEquals(json.output, "");
  assertEquals(
    json.lines.map((line) => JSON.parse(line).title).sort(),
    ["Emma", "Lady Susan"],
  );
});

/** What a person corrects, one request after the other, until a recipient may refuse nothing. */
it("of a book made by JSON alone, one request a missing thing", async ({ org, app }) => {
  const put = async (path: string, body: unknown) => {
    const reply = await org.put(`/api${path}`, body);
    assertEquals(reply.status, 200, reply.text);
  };
  const codeOf = (table: string, code: string) => idOfCode(app, table, code);
  const { id } = await org.create({ title: "The Left Hand of Darkness" });
  const product = `/products/${id}`;
  const world = { regions_included: ["WORLD"] };
  const price = {
    price_type: "04",
    price_amount: 12,
    currency_code: "EUR",
    territory: world,
    taxes: [{ tax_type: "01", tax_rate_percent: 7 }],
  };
  const change = (body: object) => () => put(product, body);
  const form = await codeOf("product_forms", "ED");
  const REPAIRS: Record<string, () => Promise<void>> = {
    isbn: change({ isbn13: "9780441007318" }),
    product_form: async () => {
      await put(`/formats/${org.format}`, { product_form_id: form });
      await put(product, { format_id: org.format });
    },
    file_format: change({ product_form_details: ["E101"] }),
    author: change({
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_id: await codeOf("contributor_roles", "A01"),
      }],
    }),
    publication_date: change({ publication_date: "2027-01-31" }),
    sales_rights: () =>
      put(`${product}/sales-rights`, [{
        sales_rights_type: "01",
        territory: world,
      }]),
    supply: () =>
      put(`${product}/territories`, [{
        markets: [{ territory: world }],
        supply_details: [{
          supplier: { supplier_role: "01", supplier_name: "Harbour Press" },
          product_availability: "20",
          prices: [price],
        }],
      }]),
    publisher: change({ publisher_id: org.publisher }),
    publisher_identifier: () =>
      put(`/publishers/${org.publisher}`, {
        identifiers: [{ name_id_type: "05", id_value: "12345" }],
      }),
    imprint: change({ imprint_id: org.imprint }),
    language: change({
      languages: [{ language_role: "01", language_code: "eng" }],
    }),
    subject: change({
      subjects: [
        { subject_scheme_identifier: "10", subject_code: "FIC028000" },
      ],
    }),
    warengruppe: change({
      subjects: [
        { subject_scheme_identifier: "10", subject_code: "FIC028000" },
        {
          main_subject: true,
          subject_scheme_identifier: "26",
          subject_code: "9132",
        },
      ],
    }),
    audience: change({
      audiences: [{ audience_code_type: "01", audience_code_value: "01" }],
    }),
    publishing_status: change({
      publishing_status_id: await codeOf("publishing_statuses", "04"),
    }),
    cover: change({ cover_image_url: "https://covers.example/left.jpg" }),
  };

  await put("/organization", { contact_name: "A. Smith" });
  const readinessFor = async (profile: string) =>
    (await org.get(`/api${product}/readiness?profile=${profile}`)).body.data;
  const repaired = new Set<string>();

  for (const name of profiles().keys()) {
    for (;;) {
      const { ready, missing } = await readinessFor(name);
      if (ready) break;
      const [{ rule, severity, pointer }] = missing;
      assertEquals(severity, "required");
      assert(pointer, rule);
      assert(!repaired.has(rule), `${rule} is repaired`);
      repaired.add(rule);
      await REPAIRS[rule]!();
    }
  }

  assertEquals([...repaired].sort(), Object.keys(REPAIRS).sort());
  for (const { name, release } of profiles().values()) {
    assertEquals((await readinessFor(name)).ready, true, name);
    const { text } = await org.get(`/api/onix${product}?release=${release}`);
    if (HAS_SCHEMAS) {
      assertEquals(await faultsOf(text, release, "reference"), "");
    }
  }
  const { missing } = await readinessFor("google-play");
  const rules = missing.map(({ rule }: { rule: string }) => rule);
  assert(!rules.includes("contact_name") && rules.includes("email_address"));
});
