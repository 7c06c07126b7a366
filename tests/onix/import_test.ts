import { idOfCode } from "../../schema/code_ids.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, send } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { onixClient, onixTestsOf } from "../support/client/onix.ts";
import { gzip } from "../support/data/gzip.ts";
import { deletionOf, isbnOf, message, record } from "../support/data/onix.ts";

const it = onixTestsOf("POST /onix/products");

/** A client of a service that takes messages up to this size. */
const limited = (app: App, org: Organization, maxOnixBytes: number) =>
  onixClient({
    send: (path, init) => send(app.variant({ maxOnixBytes }), path, init),
  }, org);

const outcomes = (report: { outcomes: { outcome: string }[] }) =>
  report.outcomes.map(({ outcome }) => outcome);
const codes = (
  { messages }: { messages: { code: string }[] },
) => messages.map(({ code }) => code);

it("creates a product, and reports it", async ({ org, onix, product }) => {
  const report = await onix.report(message(record()));

  const { outcomes: [outcome], ...counts } = report;
  assertEquals(counts.records, 1);
  assertEquals(counts.created, 1);
  assertEquals(counts.dry_run, false);
  assertEquals(outcome.outcome, "created");
  assertEquals(outcome.record_reference, "press.example.1");
  assertEquals(outcome.line, 4);
  const stored = await product(outcome.id);
  assertEquals(stored.title, "Emma");
  assertEquals(stored.isbn13, "9780141439587");
  assertEquals(stored.page_count, 474);
  assertEquals(stored.publication_date, "2027-01-31");
  assertEquals(stored.publisher_id, org.publisher);
  assertEquals(stored.imprint_id, org.imprint);
  assertEquals(stored.publishing_status_code, "04");
  assertEquals(stored.product_availability_code, "20");
  assertEquals(stored.contributors[0].contributor_id, org.contributor);
  assertEquals(stored.contributors[0].contributor_role_code, "A01");
  const [territory] = stored.product_territories;
  const [supply] = territory.supply_details;
  assertEquals(supply.prices[0].price_amount, 7.99);
});

it("says that a book without a price that can be read is on sale nowhere", async ({ onix }) => {
  const currency = "<CurrencyCode>GBP</CurrencyCode>";
  const price = (currency: string) =>
    `<Price><PriceType>02</PriceType><PriceAmount>7.99</PriceAmount>${currency}</Price>`;
  const euro = "<CurrencyCode>EURO</CurrencyCode>";
  const cases: [prices: string, said: string[]][] = [
    [price(euro), ["invalid_code", "not_on_sale"]],
    [price(""), ["required", "not_on_sale"]],
    [price(euro) + price(""), ["invalid_code", "required", "not_on_sale"]],
    [price(euro) + price(currency), ["invalid_code"]],
    [price(currency).replace("7.99", "1,234"), ["invalid_number", "not_on_sale"]],
    [price(currency), []],
    ["", []],
  ];
  for (const [i, [prices, said]] of cases.entries()) {
    const text = record({ reference: `r${i}`, isbn: isbnOf(i) })
      .replace(price(currency), prices);
    for (const again of ["created", "updated"]) {
      const changed = text.replace("Emma", `${again} ${i}`);
      const { outcomes: [outcome] } = await onix.report(message(changed));
      assertEquals(outcome.outcome, again);
      assertEquals(codes(outcome), said);
    }
  }
});

it("finds a product by its reference, then by its ISBN", async ({ org, onix, product }) => {
  const { id } = await org.create({
    isbn13: "9780141439587",
    title: "Old",
  });

  const byIsbn = await onix.report(message(record({ title: "By ISBN" })));
  const byReference = await onix.report(
    message(record({ isbn: isbnOf(3), title: "By reference" })),
  );

  assertEquals(byIsbn.outcomes[0], {
    ...byIsbn.outcomes[0],
    id,
    outcome: "updated",
  });
  assertEquals(byReference.outcomes[0].id, id);
  const stored = await product(id);
  assertEquals([stored.title, stored.isbn13], ["By reference", isbnOf(3)]);
});

it("finds a product by the reference that it is exported under", async ({ org, onix, product }) => {
  const { id } = await org.create();

  const report = await onix.report(
    message(record({ reference: `urn:uuid:${id.toUpperCase()}` })),
  );

  assertEquals(report.outcomes[0].id, id);
  assertEquals((await product(id)).isbn13, "9780141439587");
});

it("links a record whose name has other white space", async ({ org, onix, product }) => {
  const name = " Thin\u2009 Spaces\u00a0Press";
  const { body: { data } } = await org.post("/api/imprints", { name });

  const { outcomes: [{ id, messages }] } = await onix.report(message(record({
    imprint: "Thin Spaces Press",
  })));

  assertEquals((await product(id)).imprint_id, data.id);
  assertEquals(messages, []);
});

it("links what exists, and creates what is missing", async ({ org, onix, product }) => {
  const { body: { data: oldest } } = await org.get(
    "/api/publishers?name=Harbour%20Press",
  );
  await org.post("/api/publishers", { name: "Harbour Press" });

  const report = await onix.report(message(record({
    imprint: "New imprint",
    contributors: ["Jane Austen", "New author"],
    collection: "New series",
  })));

  const [{ id, messages }] = report.outcomes;
  const stored = await product(id);
  assertEquals(stored.publisher_id, oldest[0].id);
  assert(
    messages.some(({ code }: { code: string }) => code === "ambiguous_name"),
  );
  assertEquals(stored.imprint_name, "New imprint");
  assertEquals(
    stored.contributors.map((one: { contributor_name: string }) => one.contributor_name),
    ["Jane Austen", "New author"],
  );
  assertEquals(stored.collections[0].name, "New series");
  assertEquals(stored.format_name, "Paperback / softback");
  const { body: { data: formats } } = await org.get("/api/formats");
  assertEquals(formats.length, 2);
  await onix.report(message(record({
    reference: "press.example.2",
    isbn: isbnOf(2),
    imprint: "New imprint",
  })));
  const { body: { data: imprints } } = await org.get("/api/imprints");
  assertEquals(imprints.length, 2);
});

it("leaves a product its own format of the form that a record says", async ({ org, onix, product }) => {
  const formats: string[] = [];
  for (const name of ["Hardback", "Hardback with a ribbon"]) {
    const { body } = await org.post("/api/formats", {
      name,
      product_form_id: idOfCode("150", "BB"),
    });
    formats.push(body.data.id);
  }
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  await org.put(`/api/products/${id}`, { format_id: formats[1] });

  await onix.report(message(record({ form: "BB" })));

  assertEquals((await product(id)).format_id, formats[1]);
});

it("touches nothing that ONIX does not say", async ({ org, onix, product }) => {
  const { id } = await org.create({
    isbn13: "9780141439587",
    license_id: org.license,
    season_id: org.season,
    division_id: org.division,
    title_id: org.title,
    product_type: "kit",
    product_collections: [{ collection_id: org.series }],
    series_id: org.series,
    product_prices: [{ currency_code: "GBP", retail_price: 1 }],
    packing_configurations: [{ unit_of_measure: "inner" }],
    custom_fields: [{ field_id: org.customField, field_value: "A1" }],
  });
  const before = await product(id);

  await onix.report(message(record()));

  const after = await product(id);
  for (
    const name of [
      "license_id",
      "season_id",
      "division_id",
      "title_id",
      "product_type",
      "product_prices",
      "packing_configurations",
      "custom_fields",
      "lifecycle_status_id",
    ]
  ) assertEquals(after[name], before[name], name);
  assertEquals(after.product_collections, []);
  assertEquals(after.series_id, null);
});

it("deletes by reference alone", async ({ org, onix, products }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));

  const report = await onix.report(
    message(deletionOf("press.example.1"), deletionOf("unknown.example")),
  );

  assertEquals(report.deleted, 1);
  assertEquals(report.unchanged, 1);
  assertEquals(report.outcomes[0].id, id);
  assertEquals(report.outcomes[1].messages[0].severity, "warning");
  assertEquals(await products(), []);
  const { outcomes: [{ id: used }] } = await onix.report(message(record()));
  await org.put(
    `/api/publishing-programs/${org.program}/products/${used}`,
    undefined,
  );
  const refused = await onix.report(message(deletionOf("press.example.1")));
  assertEquals(codes(refused.outcomes[0]), ["in_use"]);
  assertEquals((await products()).length, 1);
});

it("replaces the blocks of a partial update", async ({ onix, product }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  const partial = message(
    `<Product><RecordReference>press.example.1</RecordReference><NotificationType>04</NotificationType>
    <ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780141439587</IDValue></ProductIdentifier>
    <PublishingDetail><Imprint><ImprintName>Beacon</ImprintName></Imprint>
    <PublishingStatus>07</PublishingStatus></PublishingDetail></Product>`,
  );

  const report = await onix.report(partial);
  const again = await onix.report(partial);
  const unknown = await onix.report(
    partial.replace("press.example.1", "unknown").replace(
      "9780141439587",
      isbnOf(9),
    ),
  );

  assertEquals(report.updated, 1);
  assertEquals(again.unchanged, 1);
  assertEquals(codes(unknown.outcomes[0]), ["not_found"]);
  const stored = await product(id);
  assertEquals(stored.imprint_name, "Beacon");
  assertEquals(stored.publishing_status_code, "07");
  assertEquals(stored.publication_date, null);
  assertEquals([stored.title, stored.page_count], ["Emma", 474]);
  assertMatch(await onix.xml(`/${id}`), /<NotificationType>03</);
});

it("replaces the blocks of a product without a record", async ({ org, onix, product }) => {
  const { id } = await org.create({
    isbn13: "9780141439587",
    page_count: 474,
    imprint_id: org.imprint,
  });

  const report = await onix.report(message(
    `<Product><RecordReference>press.example.1</RecordReference><NotificationType>04</NotificationType>
  <ProductIdentifier><ProductIDType>15</ProductIDType><IDValue>9780141439587</IDValue></ProductIdentifier>
  <PublishingDetail><Imprint><ImprintName>Beacon</ImprintName></Imprint><CityOfPublication>Bath</CityOfPublication>
  <PublishingStatus>07</PublishingStatus></PublishingDetail></Product>`,
  ));

  assertEquals([report.updated, report.outcomes[0].id], [1, id]);
  const stored = await product(id);
  assertEquals(
    [stored.title, stored.page_count, stored.imprint_name],
    ["Emma", 474, "Beacon"],
  );
  const xml = await onix.xml(`/${id}`);
  assertMatch(xml, /<TitleText>Emma</);
  assertMatch(xml, /<ExtentValue>474</);
  assertMatch(xml, /<CityOfPublication>Bath</);
});

it("takes a record with a test's type as a dry run", async ({ onix, products }) => {
  const report = await onix.report(
    message(record({ notification: "88" }), record({ notification: "12" })),
  );

  assertEquals(outcomes(report), ["created", "rejected"]);
  assertEquals(await products(), []);
});

it("counts the later of two records of a product", async ({ onix, products }) => {
  const report = await onix.report(message(
    record({ title: "First" }),
    record({ reference: "press.example.2", isbn: isbnOf(2), title: "Other" }),
    record({ title: "Last" }),
  ));

  assertEquals(outcomes(report), ["unchanged", "created", "created"]);
  assertEquals(codes(report.outcomes[0]), ["superseded"]);
  const again = await onix.report(message(
    record({ title: "Last" }),
    record({ title: "Last" }),
  ));
  assertEquals([again.unchanged, again.warnings], [2, 1]);
  assertEquals(
    (await products()).map(({ title }: { title: string }) => title),
    ["Last", "Other"],
  );
});

it("rejects alone a record that would make its product too large", async ({ org, onix, product, sql }) => {
  const { id } = await org.create({ isbn13: isbnOf(5) });
  // 3 MB of what ONIX does not say.
  await sql.begin(async (sql) => {
    await sql`
      insert into custom_fields (organization_id, name)
      select ${org.id}, 'Field ' || i from generate_series(1, 499) i
    `;
    await sql`
      insert into custom_field_values (organization_id, product_id, field_id, position, field_value)
      select organization_id, ${id}, id, row_number() over (), to_jsonb(repeat('€', 2000))
      from custom_fields
      where organization_id = ${org.id} and name like 'Field %'
    `;
  });
  const text = `<TextContent><TextType>03</TextType><ContentAudience>00</ContentAudience><Text>${
    "€".repeat(99_000)
  }</Text></TextContent>`;
  const before = await product(id);

  const report = await onix.report(message(
    record(),
    record({ reference: "large", isbn: isbnOf(5) }).replace(
      "<PublishingDetail>",
      `<CollateralDetail>${text.repeat(5)}</CollateralDetail>$&`,
    ),
    record({ reference: "press.example.6", isbn: isbnOf(6) }),
  ));

  assertEquals(outcomes(report), ["created", "rejected", "created"]);
  assertEquals(codes(report.outcomes[1]).at(-1), "too_large");
  assertEquals(await product(id), before);
});

it("gives the same report in a dry run, and writes nothing", async ({ org, onix, products }) => {
  await onix.report(message(
    record({ reference: "known", isbn: isbnOf(1), title: "Known" }),
    record({ reference: "gone", isbn: isbnOf(2), title: "Gone" }),
    record({ reference: "same", isbn: isbnOf(3), title: "Same" }),
  ));
  const text = message(
    record({ reference: "known", isbn: isbnOf(1), title: "Changed" }),
    deletionOf("gone"),
    record({ reference: "same", isbn: isbnOf(3), title: "Same" }),
    record({
      reference: "new",
      isbn: isbnOf(4),
      contributors: ["New author"],
    }),
    record({ reference: "twice", isbn: isbnOf(5), title: "First" }),
    record({ reference: "twice", isbn: isbnOf(5), title: "Second" }),
    record({ reference: "bad", isbn: "9780141439588" }),
    record({ reference: "test", isbn: isbnOf(6), notification: "89" }),
    deletionOf("unknown"),
  );
  const before = await products();
  const authors = async () => (await org.get("/api/contributors")).body.meta.total;
  const feed = await onix.feed(3);

  const dry = await onix.report(text, "?dry_run=true");

  assertEquals(dry.dry_run, true);
  assertEquals(await products(), before);
  assertEquals(await authors(), 1);
  assertEquals(await onix.feed(3), feed);
  const real = await onix.report(text);
  const withoutNewIds = (report: typeof real) => ({
    ...report,
    dry_run: undefined,
    // What a dry run would create has no id.
    outcomes: report.outcomes.map((one: { outcome: string }) =>
      one.outcome === "created" ? { ...one, id: null } : one
    ),
  });
  assertEquals(withoutNewIds(dry), withoutNewIds(real));
});

for (const edits of ["keep", "protect"]) {
  it(`takes them back if the same record left them with edits=${edits}`, async ({ org, onix, product }) => {
    const { outcomes: [{ id }] } = await onix.report(message(record()));
    await org.put(`/api/products/${id}`, { title: "Changed here" });
    const next = message(record({ pages: 480 }));
    await onix.report(next, `?edits=${edits}`);
    assertEquals((await product(id)).title, "Changed here");

    const report = await onix.report(next, "?edits=overwrite");
    const again = await onix.report(next, "?edits=overwrite");

    assertEquals([report.updated, again.unchanged], [1, 1]);
    assertEquals((await product(id)).title, "Emma");
  });
}

it("does not count what ONIX does not say as a change", async ({ org, onix, product }) => {
  const { outcomes: [{ id }] } = await onix.report(message(record()));
  await org.put(`/api/products/${id}`, { license_id: org.license });
  const before = await product(id);

  const report = await onix.report(message(record()));

  assertEquals(report.unchanged, 1);
  assertEquals(await product(id), before);
});

it("tells the feed of a change in what the record alone keeps", async ({ onix }) => {
  await onix.report(message(record({ more: "" })));

  const report = await onix.report(message(
    record({ more: "<Illustrated>01</Illustrated>" }),
  ));

  assertEquals(report.updated, 1);
  const [changed] = await onix.feed(1);
  assertMatch(changed!, /<Illustrated>01</);
});

it("lets one of two concurrent imports of a record create its product", async ({ onix, products }) => {
  const text = message(
    ...Array.from({ length: 50 }, (_, i) =>
      record({
        reference: `r${i}`,
        isbn: isbnOf(i),
        contributors: [`Author ${i % 7}`],
      })),
  );

  const reports = await Promise.all([1, 2, 3].map(() => onix.report(text)));

  assertEquals(
    reports.map((
      { created, unchanged, records },
    ) => [created + unchanged, records]),
    [[50, 50], [50, 50], [50, 50]],
  );
  assertEquals(reports.reduce((sum, { created }) => sum + created, 0), 50);
  assertEquals((await products()).length, 50);
});

it("creates one product for an import and an upsert at once", async ({ org, onix, products }) => {
  await Promise.all([
    onix.report(message(record())),
    org.post("/api/products/batch", {
      operations: [{
        method: "upsert",
        match: "isbn13",
        body: { title: "Emma", isbn13: "9780141439587" },
      }],
    }),
  ]);

  assertEquals((await products()).length, 1);
});

it("writes beside API requests for the same products", async ({ org, onix, products }) => {
  const text = (edition: number) =>
    message(
      ...Array.from({ length: 30 }, (_, i) =>
        record({ reference: `r${i}`, isbn: isbnOf(i), pages: edition })),
    );
  await onix.report(text(1));
  const ids = (await products()).map(({ id }: { id: string }) => id);

  const [, ...replies] = await Promise.all([
    (async () => {
      for (let edition = 2; edition < 6; edition++) {
        await onix.report(text(edition));
      }
    })(),
    ...ids.slice(0, 20).map((id: string) =>
      org.put(`/api/products/${id}`, { subtitle: "Changed" })
    ),
    ...ids.slice(20).map((id: string) => org.delete(`/api/products/${id}`)),
  ]);

  assert(replies.every(({ status }) => status === 200 || status === 503));
  const report = await onix.report(text(6));
  assertEquals(report.rejected, 0);
  assertEquals((await products()).length, 30);
});

it("lets requests of other organizations pass", async ({ onix, another }) => {
  const other = await another();
  let hasEnded = false;
  const text = message(
    ...Array.from(
      { length: 1_000 },
      (_, i) => record({ reference: `r${i}`, isbn: isbnOf(i) }),
    ),
  );

  const importing = onix.report(text).then((report) => {
    hasEnded = true;
    return report;
  });
  for (let i = 0; i < 3; i++) {
    await other.org.create();
    await other.products();
  }

  assertEquals(hasEnded, false);
  assertEquals((await importing).created, 1_000);
});

it("responds after a body that took longer than a request may", async ({ org, app }) => {
  const deadlineMs = 60_000;
  let ahead: Disposable | undefined;
  const records = Array.from(
    { length: 250 },
    (_, i) =>
      record({
        reference: `slow.example.${i}`.padEnd(450, "."),
        isbn: isbnOf(i),
      }),
  );
  const [start = "", end = ""] = message("\0").split("\0");
  const parts = [start, ...records, end];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = parts.shift();
      if (part === undefined) return controller.close();
      // Before the first record, no statement is under way, which would miss its own deadline.
      if (part === records[0]) {
        await eventually(0, () => app.database.load.used);
        ahead = clockAhead(deadlineMs);
      }
      controller.enqueue(new TextEncoder().encode(part));
    },
  }, { highWaterMark: 0 });

  const { status, text, body: { data } } = await send(
    app.variant({ deadlineMs }),
    "/api/onix/products",
    {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "text/xml" },
      body,
    },
  );

  ahead?.[Symbol.dispose]();
  assertEquals([status, data?.created], [200, 250]);
  // Longer responses wait for memory.
  assert(text.length > 131_072);
});

it("acknowledges in XML", async ({ onix }) => {
  const { status, headers, text } = await onix.post(
    message(record(), record({ reference: "bad", isbn: "9780141439588" })),
    "",
    { accept: "application/xml, application/json;q=0.5" },
  );

  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "application/xml; charset=utf-8");
  assertMatch(text, /<MessageStatus>02</);
  assertMatch(text, /<RecordStatus>03</);
});

it("is refused for other media types and long messages", async ({ app, onix, org, products }) => {
  const json = await onix.post("{}", "", {
    "content-type": "application/json",
  });
  const compressed = await onix.post("x", "", {
    "content-encoding": "br",
  });
  const long = await limited(app, org, 2_000).post(
    message(record(), record()),
  );

  assertEquals([json.status, compressed.status, long.status], [
    415,
    415,
    413,
  ]);
  assertEquals(compressed.headers.get("accept-encoding"), "gzip");
  assertEquals(await products(), []);
});

it("may be compressed", async ({ onix, products }) => {
  const send = (body: Uint8Array<ArrayBuffer>, encoding = "gzip") =>
    onix.post(body, "", { "content-encoding": encoding });
  const first = await gzip(message(record()).slice(0, 400));
  const rest = await gzip(message(record()).slice(400));

  const whole = await send(await gzip(message(record())));
  const members = await send(new Uint8Array([...first, ...rest]), "X-GZIP");

  assertEquals([whole.body.data.created, members.body.data.unchanged], [
    1,
    1,
  ]);
  assertEquals((await products()).length, 1);
  for (
    const bad of [
      rest.slice(0, -1),
      rest.slice(0, 20),
      new TextEncoder().encode(message(record({ reference: "2" }))),
      new Uint8Array([...rest, 1, 2, 3]),
    ]
  ) {
    const { status, body: { error } } = await send(bad);
    assertEquals([status, error.code], [400, "INVALID_XML"]);
    assertEquals(error.details.length, 1);
  }
  const cut = await send((await gzip(message(record()))).slice(0, -20));
  const [{ code, pointer, line, column }] = cut.body.error.details;
  assertEquals([code, pointer], ["invalid_gzip", ""]);
  assert(line >= 1 && column >= 1);
});

it("may be as large as its limit when unpacked", async ({ app, org }) => {
  // Packed, it is far below the limit.
  const text = message(record()).replace("<Product>", `${" ".repeat(2e6)}$&`);
  const packed = await gzip(text);
  const size = new TextEncoder().encode(text).length;

  for (const [limit, expected] of [[size - 1, 413], [size, 200]] as const) {
    const { status, body } = await limited(app, org, limit).post(packed, "", {
      "content-encoding": "gzip",
    });
    assertEquals(status, expected);
    if (status === 413) assertEquals(body.error.code, "PAYLOAD_TOO_LARGE");
  }
});

it("sees nothing of another organization", async ({ another, app }) => {
  const one = await another();
  const other = await another();
  const { outcomes: [{ id }] } = await one.onix.report(message(record()));

  const report = await other.onix.report(message(
    record({ reference: `urn:uuid:${id}` }),
    deletionOf("press.example.1"),
  ));

  assertEquals(outcomes(report), ["created", "unchanged"]);
  assertEquals((await one.products()).length, 1);
  const missing = await app.send(`/api/onix/products/${id}`, {
    headers: { "x-api-key": other.org.key },
  });
  assertEquals(missing.status, 404);
});
