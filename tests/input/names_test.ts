import { assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { commandsOn, imported, withHeader } from "../support/client/transfer.ts";

const it = testsOf("Names and codes stand for ids");

const PATHS = {
  publisher: "publishers",
  imprint: "imprints",
  season: "seasons",
  division: "divisions",
  license: "licenses",
  format: "formats",
  title: "titles",
  collection: "collections",
  contributor: "contributors",
  field: "custom-fields",
};

/** Creates a record of each kind, named after it. Returns their ids. */
async function shelf(org: Organization): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [kind, path] of Object.entries(PATHS)) {
    const { body } = await org.post(`/api/${path}`, { name: `My ${kind}` });
    ids[kind] = body.data.id;
  }
  return ids;
}

/** A body of names and codes alone. */
const NAMED = {
  title: "Emma",
  publisher_name: "My publisher",
  imprint_name: "My imprint",
  season_name: "My season",
  division_name: "My division",
  license_name: "My license",
  format_name: "My format",
  title_name: "My title",
  series_name: "My collection",
  publishing_status_code: "04",
  product_availability_code: "20",
  product_form_code: "BC",
  lifecycle_status_code: "active",
  contributors: [
    { contributor_name: "My contributor", contributor_role_code: "A01" },
  ],
  product_collections: [{ collection_name: "My collection", part_number: "2" }],
  custom_fields: [{ field_name: "My field", field_value: 1 }],
};

it("in POST and PUT, and responses show them", async ({ org }) => {
  const ids = await shelf(org);

  const created = await org.post("/api/products", NAMED);

  assertEquals(created.status, 201);
  assertEquals(created.headers.get("ignored-fields"), null);
  const { data } = created.body;
  for (const [name, value] of Object.entries(NAMED)) {
    if (!Array.isArray(value)) assertEquals(data[name], value, name);
  }
  assertEquals(data.publisher_id, ids.publisher);
  assertEquals(data.series_id, ids.collection);
  const [contributor] = data.contributors;
  assertEquals(contributor.contributor_id, ids.contributor);
  assertEquals(contributor.contributor_role_code, "A01");
  assertEquals(data.product_collections, [{
    collection_id: ids.collection,
    part_number: "2",
    collection_name: "My collection",
  }]);
  assertEquals(data.custom_fields[0].field_id, ids.field);
  const { body: { data: [listed] } } = await org.get("/api/products");
  assertEquals(
    [listed.product_form_code, listed.lifecycle_status_code],
    ["BC", "active"],
  );

  const path = `/api/products/${data.id}`;
  const put = await org.put(path, { publishing_status_name: "Cancelled" });
  assertEquals(put.body.data.publishing_status_code, "01");
  const again = await org.put(path, put.body.data);
  assertEquals(again.status, 200);
  assertEquals(again.body.data.publishing_status_code, "01");
});

it("only where the id is absent, and not as null", async ({ org }) => {
  const { publisher } = await shelf(org);
  const nobody = { title: "Emma", publisher_name: "Nobody" };
  const bodies: [object, string | null][] = [
    [{ ...nobody, publisher_id: publisher }, publisher!],
    [{ ...nobody, publisher_id: null }, null],
    [{ title: "Emma", publisher_name: null }, null],
    [{ ...nobody, publisher_id: null, publisher_name: null }, null],
    [{ title: "Emma", publisher_name: "  My\u00a0  publisher " }, publisher!],
  ];
  for (const [body, id] of bodies) {
    const { status, body: { data } } = await org.post("/api/products", body);

    assertEquals([status, data.publisher_id], [201, id], JSON.stringify(body));
  }
});

it("and clear the reference where they are null", async ({ org }) => {
  await shelf(org);
  const nulls = Object.fromEntries(
    Object.entries(NAMED)
      .filter(([name, value]) => typeof value === "string" && name !== "title")
      .map(([name]) => [name, null]),
  );
  const created = await org.post("/api/products", NAMED);
  const path = `/api/products/${created.body.data.id}`;

  const cleared = await org.put(path, { ...nulls, format_name: undefined });
  await org.put(path, { format_name: null });

  assertEquals([cleared.status, cleared.headers.get("ignored-fields")], [
    200,
    null,
  ]);
  const { body: { data } } = await org.get(path);
  const ids = Object.entries(data).filter(([name]) => name.endsWith("_id"));
  assertEquals(
    ids.filter(([name, id]) => name !== "organization_id" && id !== null),
    [],
  );
  const nobody = [{ contributor_name: null, contributor_role_code: "A01" }];
  const refused = await org.put(path, { contributors: nobody });
  assertEquals(refused.body.error.details.map(shown), [
    "/contributors/0/contributor_name invalid_type Expected a string",
  ]);
});

it("or are refused at their own field", async ({ org }) => {
  await shelf(org);
  await org.post("/api/seasons", { name: "My  season" });
  const refused: [object, string][] = [
    [
      { publisher_name: "My publishr" },
      '/publisher_name unknown_reference There is no publisher with this name: did you mean "My publisher"?',
    ],
    [
      { publisher_name: "Qqq" },
      "/publisher_name unknown_reference There is no publisher with this name: create it with POST /publishers",
    ],
    [
      { season_name: "My season" },
      "/season_name ambiguous 2 records of /seasons have this name: send season_id instead",
    ],
    [
      { publisher_name: 1 },
      "/publisher_name invalid_type Expected a string",
    ],
    [
      { publishing_status_code: "Active" },
      "/publishing_status_code invalid_code Expected a code of ONIX List 64, see /code-lists/64: did you mean 04?",
    ],
    [
      { product_form_code: "bc" },
      "/product_form_code invalid_code Expected a code of ONIX List 150, see /code-lists/150: did you mean BC?",
    ],
    [
      { lifecycle_status_code: "actve" },
      "/lifecycle_status_code invalid_code Expected a code of /lifecycle-statuses: did you mean active?",
    ],
    [
      { publishing_status_name: "Qqq" },
      "/publishing_status_name unknown_reference There is no publishing status with this name: see /publishing-statuses",
    ],
  ];
  for (const [fields, message] of refused) {
    const { status, body } = await org.post("/api/products", {
      title: "Emma",
      ...fields,
    });

    assertEquals(status, 400, message);
    assertEquals(body.error.details.map(shown), [message]);
  }
});

function shown({ pointer, code, message }: Record<string, string>): string {
  return `${pointer} ${code} ${message}`;
}

it("with every other fault of the body", async ({ org }) => {
  const { publisher, collection, contributor } = await shelf(org);
  const { path, id } = await org.create({ title: "Emma" });
  const role = idOfCode("17", "A01");
  const links = [{ collection_id: collection }];
  const faulty: [object, string[]][] = [
    [
      {
        season_id: uuidv7(),
        publisher_name: "Qqq",
        contributors: [
          { contributor_name: "Qqq", contributor_role_id: uuidv7() },
          { contributor_role_code: "A01" },
        ],
      },
      [
        "/contributors/1/contributor_id",
        "/publisher_name",
        "/contributors/0/contributor_name",
        "/season_id",
        "/contributors/0/contributor_role_id",
      ],
    ],
    [
      { page_count: 0, imprint_name: "Qqq", publisher_id: publisher },
      ["/page_count", "/imprint_name"],
    ],
    [{ page_count: 0, publisher_id: uuidv7() }, [
      "/page_count",
      "/publisher_id",
    ]],
    [{ pages: 1, publisher_name: 1, publishing_status_code: "99" }, [
      "/pages",
      "/publisher_name",
      "/publishing_status_code",
    ]],
    // Nothing else is known to be wrong.
    [{ page_count: 0, publisher_name: "My publisher" }, ["/page_count"]],
    [
      { page_count: 0, series_id: collection, product_collections: links },
      ["/page_count"],
    ],
    [
      { series_id: collection, product_collections: [{ collection_id: "x" }] },
      ["/product_collections/0/collection_id"],
    ],
    [{ series_id: collection, product_collections: {} }, [
      "/product_collections",
    ]],
    [{ series_id: "x", product_collections: links }, ["/series_id"]],
    [{ page_count: 0, contributors: [1, null] }, [
      "/page_count",
      "/contributors/0",
      "/contributors/1",
    ]],
    // What can be known is told.
    [{ page_count: 0, series_id: uuidv7(), product_collections: links }, [
      "/page_count",
      "/series_id",
    ]],
    [
      {
        page_count: 0,
        contributors: [
          { contributor_name: "My contributor", contributor_role_id: role },
          { contributor_id: contributor, contributor_role_code: "A01" },
        ],
      },
      ["/page_count", "/contributors/1/contributor_id"],
    ],
  ];
  const match = { method: "upsert", match: "isbn13" };
  for (const [fields, pointers] of faulty) {
    const body = { title: "Emma", ...fields };
    const { body: { data } } = await org.batch([
      { method: "create", body },
      { method: "update", id, body },
      { ...match, body: { ...body, isbn13: "9780141439587" } },
    ]);
    const errors = [
      (await org.post("/api/products", body)).body.error,
      (await org.put(path, body)).body.error,
      (await org.put(`/api/products/${uuidv7()}`, body)).body.error,
      ...data.map(({ error }: { error: unknown }) => error),
    ];
    for (const { code, message, details } of errors) {
      const count = pointers.length === 1 ? "1 error" : `${pointers.length} errors`;
      assertEquals([code, message], [
        "VALIDATION_ERROR",
        `The body has ${count}`,
      ]);
      const told = details.map(({ pointer }: { pointer: string }) => pointer);
      assertEquals(told, pointers);
    }
  }
  assertEquals((await org.get("/api/products")).body.meta.total, 1);
});

it("with the series of a new product, which alone has none of its collections yet", async ({ org }) => {
  const { collection } = await shelf(org);
  const { id } = await org.create({ product_collections: [{ collection_id: collection }] });
  const body = { title: "Emma", publisher_name: "Qqq", series_id: collection };

  const { body: { data } } = await org.batch([
    { method: "create", body },
    { method: "update", id, body },
    { method: "upsert", match: "isbn13", body: { ...body, isbn13: "9780141439587" } },
  ]);

  const created = (await org.post("/api/products", body)).body.error;
  const told = [created, ...data.map(({ error }: { error: unknown }) => error)]
    .map(({ details }) => details.map(({ pointer }: { pointer: string }) => pointer));
  const name = "/publisher_name";
  assertEquals(told, [[name, "/series_id"], [name, "/series_id"], [name], [name]]);
});

it("with every fault of an upsert, whether it finds a product or not", async ({ org }) => {
  const [known, unknown] = ["9780141439587", "9780441007318"];
  await org.post("/api/products", { title: "Emma", isbn13: known });
  const date = { publishing_date_role: "01", date: "2027" };
  const dates = { publication_date: "2027-01-01", publishing_dates: [date] };
  const contradiction = ["/page_count", "/publishing_dates/0/date"];
  /** What is told where a product is found, where none is, and without an ISBN to find it by. */
  // deno-fmt-ignore
  const faulty: [fields: object, found: string[], none: string[], without: string[]][] = [
    [{ publisher_name: "Qqq" }, ["/publisher_name"], ["/title", "/publisher_name"], ["/isbn13", "/publisher_name"]],
    [{ publisher_id: uuidv7() }, ["/publisher_id"], ["/title", "/publisher_id"], ["/isbn13", "/publisher_id"]],
    [{ page_count: 0 }, ["/page_count"], ["/title", "/page_count"], ["/page_count", "/isbn13"]],
    [{ page_count: 0, colour: 1, publisher_name: "Qqq" },
      ["/page_count", "/colour", "/publisher_name"],
      ["/title", "/page_count", "/colour", "/publisher_name"],
      ["/page_count", "/colour", "/isbn13", "/publisher_name"]],
    [{ title: "Emma", page_count: 0, ...dates }, contradiction, contradiction, contradiction.toSpliced(1, 0, "/isbn13")],
  ];
  const match = { method: "upsert", match: "isbn13" };
  for (const [fields, ...expected] of faulty) {
    const { body: { data } } = await org.batch([
      { ...match, body: { ...fields, isbn13: known } },
      { ...match, body: { ...fields, isbn13: unknown } },
      { ...match, body: fields },
    ]);
    const told = data.map(({ error }: { error: { details: Record<string, string>[] } }) =>
      error.details.map(({ pointer }) => pointer)
    );
    assertEquals(told, expected);
  }
  const codes = [{ title: "Emma" }, { page_count: 0 }, { publisher_name: "Qqq" }].map((fields) => ({
    method: "upsert",
    match: "product_code",
    body: { ...fields, product_code: "P-UNKNOWN" },
  }));
  const { body: { data } } = await org.batch(codes);
  assertEquals(data.map(({ status }: { status: number }) => status), [404, 400, 400]);
});

it("but not for one that an earlier entry has", async ({ org, app }) => {
  const { contributor, collection, field } = await shelf(org);
  const role = idOfCode("17", "A01");
  const named = { contributor_name: "My contributor" };
  const shelved = { collection_name: "My collection" };
  const filled = { field_name: "My field", field_value: 1 };
  const twice: [object, string][] = [
    [{
      contributors: [
        { ...named, contributor_role_code: "A01" },
        { contributor_id: contributor, contributor_role_id: role },
      ],
    }, "/contributors/1/contributor_id"],
    [{
      contributors: [
        { contributor_id: contributor, contributor_role_code: "B06" },
        { contributor_id: contributor, contributor_role_code: "A01" },
        { ...named, contributor_role_id: role },
      ],
    }, "/contributors/2/contributor_name"],
    [
      { product_collections: [shelved, shelved] },
      "/product_collections/1/collection_name",
    ],
    [
      { product_collections: [{ collection_id: collection }, shelved] },
      "/product_collections/1/collection_name",
    ],
    [
      { custom_fields: [filled, { field_id: field, field_value: null }] },
      "/custom_fields/1/field_id",
    ],
  ];
  const { path, id } = await org.create({ title: "Emma" });
  const isbn13 = "9780141439587";
  for (const [fields, pointer] of twice) {
    const body = { title: "Emma", ...fields };
    const match = { method: "upsert", match: "isbn13" };
    const { body: { data } } = await org.batch([
      { method: "create", body },
      { method: "update", id, body },
      { ...match, body: { ...body, isbn13 } },
    ]);
    const errors = [
      (await org.post("/api/products", body)).body.error,
      (await org.put(path, body)).body.error,
      ...data.map(({ error }: { error: unknown }) => error),
    ];
    const line = { kind: "product", id: uuidv7(), ...body };

    const refused = await imported(
      commandsOn(app)(org.id),
      withHeader(JSON.stringify(line)),
    );

    const message = "An earlier entry has the same value";
    for (const { details } of errors) {
      assertEquals(details, [{ pointer, code: "duplicate", message }]);
    }
    assertEquals(refused, [`2: ${pointer}: ${message}`]);
  }
  assertEquals((await org.get("/api/products")).body.meta.total, 1);
});

it("in a batch, in an upsert and in a line of a file", async ({ org, app }) => {
  await shelf(org);
  const isbn13 = "9780141439587";
  const upsert = (body: object) => ({
    method: "upsert",
    match: "isbn13",
    body: { ...NAMED, isbn13, ...body },
  });

  const { body } = await org.batch([
    upsert({}),
    { method: "create", body: { title: "A", publisher_name: "Qqq" } },
    upsert({}),
    { method: "create", body: { title: "B", product_form_code: "BC" } },
  ]);
  assertEquals(body.data.map(({ status }: { status: number }) => status), [
    201,
    400,
    200,
    201,
  ]);
  assertEquals(body.data[1].error.details[0].pointer, "/publisher_name");
  assertEquals(body.data[2].data, body.data[0].data);

  const line = { kind: "product", id: uuidv7(), ...NAMED };
  const wrong = { ...line, id: uuidv7(), publisher_name: "Qqq" };
  const refused = await imported(
    commandsOn(app)(org.id),
    withHeader([line, wrong].map((one) => JSON.stringify(one)).join("\n")),
  );
  assertEquals(refused, [
    "3: /publisher_name: There is no publisher with this name: create it with POST /publishers",
  ]);
  const { data } = (await org.get(`/api/products/${line.id}`)).body;
  assertEquals(data.publisher_name, NAMED.publisher_name);
});

it("and are named where they have no effect", async ({ org }) => {
  const body = { title: "Emma", product_form_code: "BC" };

  const { headers } = await org.post("/api/products", body);
  const batch = await org.batch([{ method: "create", body }]);

  assertEquals(headers.get("ignored-fields"), "product_form_code");
  assertEquals(batch.headers.get("ignored-fields"), "product_form_code");
});
