import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { openApp } from "../support/app/harness.ts";
import {
  AMOUNT,
  DAY,
  each,
  nullable,
  oneOf,
  PERCENT,
  required,
  rounds,
  same,
  text,
  UUID,
  type Values,
} from "../support/data/values.ts";

const CURRENCY: Values = {
  takes: same("GBP", "EUR", "JPY"),
  refuses: each("invalid_code", "usd", "US", "USDX", "XXX", "", 840, [], {}),
};

const FLAG: Values = {
  takes: [...same(true, false), [null, false]],
  refuses: each("invalid_type", "true", 1, [], {}),
};

const SCALAR: Values = {
  takes: [
    ...text(2000).takes,
    ...same(true, false, null),
    ...same(0, -1, 0.1, -12.5, 1e-7, 1e21, 2 ** 53),
    [JSON.rawJSON("-0.0"), 0],
  ],
  refuses: [
    ...each("invalid_type", [], {}, ["x"]),
    ...text(2000).refuses.filter(([sent]) => typeof sent === "string"),
    ...each(
      "inexact_number",
      ...["1e400", "1e-400", "1.0000000000000000001e1"]
        .map(JSON.rawJSON),
    ),
  ],
};

const ID = crypto.randomUUID();

/** For each array, an entry with the valid and invalid values of its fields. */
const ARRAYS = {
  product_prices: {
    entry: { currency_code: "GBP" },
    fields: {
      currency_code: required(CURRENCY, "invalid_code"),
      retail_price: nullable(AMOUNT),
      retail_price_inc_tax: nullable(AMOUNT),
      list_price: nullable(AMOUNT),
      tax_rate: nullable(PERCENT),
      is_default: FLAG,
      valid_from: nullable(DAY),
      valid_to: nullable(DAY),
    },
  },
  packing_configurations: {
    entry: { unit_of_measure: "inner" },
    fields: {
      unit_of_measure: required(
        oneOf("inner", "outer", "pallet"),
        "invalid_value",
      ),
    },
  },
  contributors: {
    entry: { contributor_id: ID, contributor_role_id: ID },
    fields: {
      contributor_id: required(UUID),
      contributor_role_id: required(UUID),
    },
  },
  product_collections: {
    entry: { collection_id: ID },
    fields: { collection_id: required(UUID) },
  },
  custom_fields: {
    entry: { field_id: ID, field_value: null },
    fields: { field_id: required(UUID), field_value: SCALAR },
  },
};

Deno.test("The entries of a product's arrays", async (t) => {
  await using app = await openApp();
  const org = await app.organization();

  await t.step("come back as sent", async () => {
    for (const array of ["product_prices", "packing_configurations"] as const) {
      const { entry, fields } = ARRAYS[array];
      const all = [...rounds(fields, "takes")];
      const sent = all.map(({ sent }) => ({ ...entry, ...sent }));
      const stored = all.map(({ outcome }) => ({ ...entry, ...outcome }));

      const { path, product } = await org.create({ [array]: sent });
      const ids = product[array].map(({ id }: { id: string }) => ({ id }));
      const { status, body: { data } } = await org.put(path, {
        [array]: sent.toReversed().map((entry, i) => ({ ...entry, ...ids[i] })),
      });

      assertEquals(status, 200);
      assertHas(product[array], stored);
      assertHas(data[array], stored.toReversed());
    }
  });

  await t.step("keep a custom value of every type", async () => {
    const { path } = await org.create();

    for (const [field_value, stored] of SCALAR.takes) {
      const { status, body: { data } } = await org.put(path, {
        custom_fields: [{ field_id: org.customField, field_value }],
      });

      assertEquals(status, 200);
      assertEquals(data.custom_fields[0].field_value, stored);
    }
  });

  await t.step("keep every digit of a custom number", async () => {
    for (
      const number of [
        "12345678901234567890",
        "-0.1234567890123456789",
        "1234567890.12345678901234567890",
        "9".repeat(100),
      ]
    ) {
      const { status, text } = await org.post(
        "/api/products",
        `{"title":"x","custom_fields":[{"field_id":"${org.customField}","field_value":${number}}]}`,
      );

      assertEquals(status, 201);
      assertMatch(text, new RegExp(`"field_value":${number},`));
    }
  });

  await t.step("refuse every other value with its pointer", async () => {
    const { path, product } = await org.create();

    for (const [array, { entry, fields }] of Object.entries(ARRAYS)) {
      for (const { sent, outcome } of rounds(fields, "refuses")) {
        const body = { title: "x", [array]: [{ ...entry, ...sent }] };
        const replies = [
          await org.post("/api/products", body),
          await org.put(path, body),
        ];

        const errors = Object.entries(outcome)
          .map(([field, code]) => [`/${array}/0/${field}`, code] as const);
        for (const reply of replies) assertDetails(reply, ...errors);
      }
    }
    assertEquals((await org.get(path)).body.data, product);
  });

  await t.step("require their fields, and allow no others", async () => {
    for (const [array, { entry }] of Object.entries(ARRAYS)) {
      const reply = await org.post(
        "/api/products",
        `{"title":"x","${array}":[{},{"__proto__":1,"toString":1,"title":1,${
          JSON.stringify(entry).slice(1)
        }]}`,
      );

      assertDetails(
        reply,
        ...Object.keys(entry)
          .map((field) => [`/${array}/0/${field}`, "required"] as const),
        [`/${array}/1/__proto__`, "unknown_field"],
        [`/${array}/1/toString`, "unknown_field"],
        [`/${array}/1/title`, "unknown_field"],
      );
    }
  });

  await t.step("are at most 500 objects", async () => {
    for (const [array, { entry }] of Object.entries(ARRAYS)) {
      for (const wrong of [null, {}, "x", 1]) {
        const reply = await org.post("/api/products", {
          title: "x",
          [array]: wrong,
        });

        assertDetails(reply, [`/${array}`, "invalid_type"]);
      }
      const entries = await org.post("/api/products", {
        title: "x",
        [array]: [null, [], "x", 1],
      });
      const tooMany = await org.post("/api/products", {
        title: "x",
        [array]: Array(501).fill(entry),
      });

      assertDetails(
        entries,
        ...[0, 1, 2, 3]
          .map((i) => [`/${array}/${i}`, "invalid_type"] as const),
      );
      assertDetails(tooMany, [`/${array}`, "too_many"]);
    }
  });

  await t.step("return at most a hundred details", async () => {
    const secret = "x".repeat(200);
    const malformed = Array(500).fill({ currency_code: secret });
    const unknown = Array.from({ length: 500 }, () => ({
      contributor_id: crypto.randomUUID(),
      contributor_role_id: org.id,
    }));

    for (
      const [body, count] of [
        [{ product_prices: malformed }, 500],
        [{ contributors: unknown }, 1000],
      ] as const
    ) {
      const { status, body: { error }, text } = await org.post(
        "/api/products",
        { title: "x", ...body },
      );

      assertEquals(status, 400);
      assertEquals(error.details.length, 100);
      assertEquals(
        error.message,
        `The body has ${count} errors; the first 100 are listed`,
      );
      assert(!text.includes(secret));
    }
  });

  await t.step("stops counting after 1,000 errors", async () => {
    const countries_included = Array(490).fill("XX");
    const market = { territory: { countries_included } };
    const { path } = await org.create();

    const { status, body: { error } } = await org.put(`${path}/territories`, [
      { markets: Array(50).fill(market) },
    ]);

    assertEquals(status, 400);
    assertEquals(error.details.length, 100);
    assertEquals(
      error.message,
      "The body has more than 1000 errors; the first 100 are listed",
    );
  });
});
