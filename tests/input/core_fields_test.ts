import { assertEquals } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { openApp } from "../support/app/harness.ts";
import {
  DAY,
  each,
  heading,
  HTTP_URL,
  nullable,
  oneOf,
  rounds,
  same,
  text,
  UUID,
  type Values,
} from "../support/data/values.ts";

const ISBN13: Values = {
  takes: [
    ["9780306406157", "9780306406157"],
    ["978-0-306-40615-7", "9780306406157"],
    [" 979 10 90636 07 1 ", "9791090636071"],
  ],
  refuses: [
    ...each("invalid_type", 9780306406157, [], {}),
    ...each(
      "invalid_isbn13",
      "",
      "9780306406158",
      "978030640615",
      "97803064061577",
      "9790306406156",
      "9770306406150",
      "978030640615X",
      "978–0–306–40615–7",
      "0306406152",
      "९780306406157",
    ),
  ],
};

const ISBN10: Values = {
  takes: [
    ["0306406152", "0306406152"],
    ["0-306-40615-2", "0306406152"],
    ["0 8044 2957 x", "080442957X"],
  ],
  refuses: [
    ...each("invalid_type", 306406152, [], {}),
    ...each(
      "invalid_isbn10",
      "",
      "0306406153",
      "030640615",
      "03064061522",
      "X306406152",
      "08044X957X",
      "9780306406157",
    ),
  ],
};

const PAGE_COUNT: Values = {
  takes: [
    ...same(1, 2_147_483_647),
    [JSON.rawJSON("1.2e1"), 12],
    [JSON.rawJSON("12.00000000000000000"), 12],
  ],
  refuses: [
    ...each("invalid_type", "12", true, [], {}),
    ...each("out_of_range", 0, -1, 1.5, 2_147_483_648, 1e18),
    ...each("out_of_range", JSON.rawJSON("-0")),
    ...each(
      "invalid_type",
      ...["1e400", "1.00000000000000000001"].map(JSON.rawJSON),
    ),
  ],
};

const FIELDS: Record<string, Values> = {
  title: heading(500),
  subtitle: nullable(text(2000)),
  isbn13: nullable(ISBN13),
  isbn10: nullable(ISBN10),
  page_count: nullable(PAGE_COUNT),
  publication_date: nullable(DAY),
  format_id: nullable(UUID),
  title_id: nullable(UUID),
  publishing_status_id: nullable(UUID),
  product_availability_id: nullable(UUID),
  lifecycle_status_id: nullable(UUID),
  license_id: nullable(UUID),
  season_id: nullable(UUID),
  publisher_id: nullable(UUID),
  division_id: nullable(UUID),
  imprint_id: nullable(UUID),
  series_id: nullable(UUID),
  product_form_id: nullable(UUID),
  product_type: nullable(oneOf(
    "normal",
    "kit",
    "kit_part",
    "indent",
    "charge",
    "special",
    "trade_only",
  )),
  cover_image_url: nullable(HTTP_URL),
};

Deno.test("The fields of a product", async (t) => {
  await using app = await openApp();
  const org = await app.organization();

  await t.step("come back as sent", async () => {
    const { path } = await org.create();

    for (const { sent, outcome } of rounds(FIELDS, "takes")) {
      const created = await org.post("/api/products", { title: "x", ...sent });
      const updated = await org.put(path, sent);

      assertEquals([created.status, updated.status], [201, 200]);
      assertHas(created.body.data, outcome);
      assertHas(updated.body.data, outcome);
    }
  });

  await t.step("refuse every other value with its pointer", async () => {
    const { path, product } = await org.create();

    for (const { sent, outcome } of rounds(FIELDS, "refuses")) {
      const created = await org.post("/api/products", { title: "x", ...sent });
      const updated = await org.put(path, sent);

      const errors = Object.entries(outcome)
        .map(([field, code]) => [`/${field}`, code] as const);
      assertDetails(created, ...errors);
      assertDetails(updated, ...errors);
    }
    assertEquals((await org.get(path)).body.data, product);
  });

  await t.step("are the only ones", async () => {
    const names = [
      ...["__proto__", "constructor", "prototype", "toString"],
      ...["hasOwnProperty", "Title", "title ", "", "product_code/~"],
    ];
    const fields = names.map((name) =>
      `${JSON.stringify(name)}:{"polluted":1}`
    );

    const reply = await org.post(
      "/api/products",
      `{"title":"x",${fields.join()}}`,
    );

    assertDetails(
      reply,
      ...names.map((name) =>
        [
          `/${name.replace("~", "~0").replace("/", "~1")}`,
          "unknown_field",
        ] as const
      ),
    );
    assertEquals(Reflect.get({}, "polluted"), undefined);
  });

  await t.step("use the last of equal names", async () => {
    const other = await app.organization();

    const { status, body } = await org.post(
      "/api/products",
      `{"title":"","license_id":"${other.license}","license_id":"${org.license}","title":"Emma"}`,
    );

    assertEquals(status, 201);
    assertHas(body.data, { title: "Emma", license_id: org.license });
  });
});
