import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { OWN_TABLES, type OwnTable, RECORDS } from "../../schema/records.ts";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { testsOf } from "../support/app/harness.ts";
import { sampleOf } from "../support/app/sample.ts";
import {
  createRecord,
  pathOfRecords,
  RECORD_VALUES,
  writtenFields,
} from "../support/data/records.ts";

/** What columns without a value show, if not null. */
const EMPTY: Record<string, unknown> = {
  is_organization: false,
  identifiers: [],
};

// Those with fields of their own differ; the others have a name alone.
const fieldsOf = (table: OwnTable) => Object.keys(RECORDS[table].fields);
for (const table of sampleOf(OWN_TABLES, (table) => `${fieldsOf(table)}`)) {
  const path = pathOfRecords(table);

  const it = testsOf(path);

  const others = writtenFields(table).filter((name) => name !== "name");
  const values = Object.fromEntries(
    others.map((column) => [column, RECORD_VALUES[column]]),
  );

  it("POST creates a record with every field", async ({ org }) => {
    const created = await org.post(path, { name: " Émile ", ...values });

    assertEquals(created.status, 201);
    const { id, created_at, updated_at, ...fields } = created.body.data;
    assertEquals(fields, { name: " Émile ", ...values });
    assertEquals(updated_at, created_at);
    assertEquals(created.headers.get("location"), `${path}/${id}`);
    const { status, body, headers } = await org.get(`${path}/${id}`);
    assertEquals(status, 200);
    assertEquals(body.data, { ...created.body.data, products: 0 });
    assertEquals(headers.get("etag"), created.headers.get("etag"));
  });

  it("POST and PUT warn of another record with the name", async ({ org }) => {
    const create = async (name: string, headers = {}) =>
      (await org.post(path, { name }, headers)).body;
    const first = await create("Penguin Café");
    const second = await create("Penguin  Café", { "idempotency-key": "penguin" });
    const repeated = await create("Penguin  Café", { "idempotency-key": "penguin" });
    const third = await create("penguin café");
    const itself = await org.put(`${path}/${third.data.id}`, { name: "penguin café" });
    const renamed = await org.put(`${path}/${third.data.id}`, { name: "Penguin Café" });

    for (const { warnings } of [first, third, itself.body]) assertEquals(warnings, undefined);
    assertEquals(repeated.warnings, second.warnings);
    const [{ pointer, code, message }] = second.warnings;
    assertEquals([pointer, code], ["/name", "duplicate"]);
    assert(message.includes(first.data.id), message);
    assert(renamed.body.warnings[0].message.includes(`${first.data.id}, ${second.data.id}`));
  });

  it("POST accepts duplicate names of 500 characters, and nulls", async ({ org }) => {
    const replies = [
      await org.post(path, { name: LONGEST }),
      await org.post(path, { name: LONGEST }),
    ];

    for (const { status, body: { data } } of replies) {
      assertEquals(status, 201);
      assertHas(data, {
        name: LONGEST,
        ...Object.fromEntries(
          others.map((column) => [column, EMPTY[column] ?? null]),
        ),
      });
    }
    assertNotEquals(replies[0]!.body.data.id, replies[1]!.body.data.id);
  });

  it("POST and PUT return every error with its pointer", async ({ org }) => {
    const { path: record } = await createRecord(org, table);
    const { total } = (await org.get(path)).body.meta;
    for (const [name, code] of NAMES) {
      assertDetails(await org.post(path, { name }), ["/name", code]);
      assertDetails(await org.put(record, { name }), ["/name", code]);
    }
    assertDetails(await org.post(path, {}), ["/name", "required"]);
    assertDetails(
      await org.post(path, { name: "", naem: "x" }),
      ["/name", "blank"],
      ["/naem", "unknown_field"],
    );
    assertEquals((await org.get(path)).body.meta.total, total);
  });

  it("PUT changes only the fields in the body, and null clears a field", async ({ org }) => {
    const { body: { data } } = await org.post(path, { name: "A", ...values });
    const record = `${path}/${data.id}`;

    const renamed = await org.put(record, { name: "B" });
    const cleared = await org.put(
      record,
      Object.fromEntries(
        others.map((column) => [
          column,
          column === "identifiers" ? [] : null,
        ]),
      ),
    );
    const empty = await org.put(record, {});

    assertHas(renamed.body.data, { ...values, name: "B" });
    assert(renamed.body.data.updated_at > data.updated_at);
    assertEquals(renamed.body.data.created_at, data.created_at);
    for (const column of others) {
      assertEquals(cleared.body.data[column], EMPTY[column] ?? null);
    }
    assertEquals(empty.body.data, cleared.body.data);
    assertDetails(await org.put(record, { name: null }), [
      "/name",
      "invalid_type",
    ]);
  });

  it("PUT accepts a response as body, and lists the Ignored-Fields", async ({ org }) => {
    const { path: record } = await createRecord(org, table);
    const { body: { data } } = await org.get(record);

    const { status, headers } = await org.put(record, data);

    assertEquals(status, 200);
    assertEquals(
      headers.get("ignored-fields"),
      "id, created_at, updated_at, products",
    );
  });

  it("PUT and DELETE honour If-Match (RFC 9110, 13.1.1)", async ({ org }) => {
    const { id, path: record } = await createRecord(org, table);
    const etag = (await org.get(record)).headers.get("etag")!;
    const current = await org.get(record, { "if-none-match": etag });

    const changed = await org.put(record, { name: "B" }, { "if-match": etag });
    const late = await org.put(record, { name: "C" }, { "if-match": etag });
    const lateDelete = await org.delete(record, { "if-match": etag });
    const now = changed.headers.get("etag")!;
    const deleted = await org.delete(record, { "if-match": now });
    const gone = await org.delete(record, { "if-match": now });
    const unknown = await org.put(record, { name: "D" }, { "if-match": now });
    const again = await org.delete(record);

    assertEquals(current.status, 304);
    assertEquals(
      [changed, late, lateDelete, deleted, gone, unknown, again]
        .map(({ status }) => status),
      [200, 412, 412, 200, 412, 404, 200],
    );
    assertEquals(deleted.body.data, { id, deleted: true });
    assertEquals(again.body.data, { id, deleted: false });
    assertEquals((await org.get(record)).status, 404);
  });

  it("If-Match lets one of many writers succeed", async ({ org }) => {
    for (let round = 0; round < 3; round++) {
      const { path: record } = await createRecord(org, table);
      const headers = {
        "if-match": (await org.get(record)).headers.get("etag")!,
      };

      const replies = await Promise.all(
        Array.from(
          { length: 8 },
          (_, i) =>
            i % 2 ? org.put(record, { name: `${i}` }, headers) : org.delete(record, headers),
        ),
      );

      const statuses = replies.map(({ status }) => status);
      assertEquals(statuses.filter((status) => status === 200).length, 1);
    }
  });

  it("POST creates one record per Idempotency-Key", async ({ org }) => {
    const headers = { "idempotency-key": "order-1" };

    const first = await org.post(path, { name: "A" }, headers);
    const again = await org.post(path, { name: "A" }, headers);
    const other = await org.post(path, { name: "B" }, headers);

    assertEquals([first.status, again.status, other.status], [201, 201, 422]);
    assertEquals(again.text, first.text);
    assertEquals(again.headers.get("idempotent-replayed"), "true");
    for (const header of ["location", "etag"]) {
      assertEquals(again.headers.get(header), first.headers.get(header));
    }
    const { body } = await org.get(`${path}?name=A`);
    assertEquals(body.meta.total, 1);
  });
}

const LONGEST = "𝒜".repeat(500);

const NAMES: [unknown, string][] = [
  ["", "blank"],
  [" \n", "blank"],
  ["x".repeat(501), "too_long"],
  ["a\0b", "invalid_character"],
  ["\ud800", "invalid_character"],
  [7, "invalid_type"],
];

const it = testsOf("The fields of a kind of record");

it("are validated", async ({ org }) => {
  const wrong = [
    ["licenses", "badge_colour", "red", "invalid_colour"],
    ["licenses", "badge_colour", "#12345g", "invalid_colour"],
    ["licenses", "badge_colour", 1, "invalid_type"],
    ["collections", "collection_type", "x".repeat(2001), "too_long"],
    ["formats", "product_form_id", "BC", "invalid_uuid"],
    ["formats", "product_form_id", uuidv7(), "unknown_reference"],
  ] as const;
  for (const [table, field, value, code] of wrong) {
    const path = pathOfRecords(table);
    const { path: record } = await createRecord(org, table);

    const fault = [`/${field}`, code] as const;
    assertDetails(await org.post(path, { name: "A", [field]: value }), fault);
    assertDetails(await org.put(record, { [field]: value }), fault);
  }
});

it("are refused for other kinds", async ({ org }) => {
  assertDetails(
    await org.post("/api/seasons", { name: "A", badge_colour: null }),
    ["/badge_colour", "unknown_field"],
  );
});
