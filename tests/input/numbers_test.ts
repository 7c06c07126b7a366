import { assertEquals, assertStringIncludes } from "@std/assert";
import { openApp } from "../support/app/harness.ts";

/** JSON numbers, with their expected digits in responses. */
const KEPT = {
  "0": "0",
  "0e0": "0",
  "-0": "0",
  "-0.0": "0",
  "-0e5": "0",
  [`-0.${"0".repeat(200)}`]: "0",
  "1.50": "1.5",
  "1e5": "100000",
  "1E+2": "100",
  "1e21": "1000000000000000000000",
  "1e18": "1000000000000000000",
  "0.1": "0.1",
  "0.30000000000000004": "0.30000000000000004",
  "9007199254740993": "9007199254740993",
  "-9007199254740993": "-9007199254740993",
  "123456789012345678901234567890": "123456789012345678901234567890",
  "-0.1000000000000000055511151231257827": "-0.1000000000000000055511151231257827",
  "5e-324": `0.${"0".repeat(323)}5`,
  [`1${"0".repeat(99)}`]: `1${"0".repeat(99)}`,
  [`0.${"0".repeat(98)}12`]: `0.${"0".repeat(98)}12`,
};

Deno.test("Numbers", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();

  const withField = (number: string) =>
    `{"title":"Emma","custom_fields":[{"field_id":"${org.customField}","field_value":${number}}]}`;
  const withPrice = (field: string, number: string) =>
    `{"title":"Emma","product_prices":[{"currency_code":"GBP","${field}":${number}}]}`;

  await it("come back from a custom field as sent", async () => {
    for (const [sent, shown] of Object.entries(KEPT)) {
      const { status, text } = await org.post("/api/products", withField(sent));

      assertEquals(status, 201, sent);
      assertStringIncludes(text, `"field_value":${shown},`);
    }
  });

  await it("keep their digits through a PUT", async () => {
    const long = "3.14159265358979323846264338327950288";
    const { path } = await org.create();

    const { status, text } = await org.put(path, withField(long));

    assertEquals(status, 200);
    assertStringIncludes(text, `"field_value":${long},`);
    assertStringIncludes((await org.get(path)).text, `:${long},`);
  });

  await it("are exact as amounts, with up to 16 digits", async () => {
    const amounts = {
      "0": "0",
      "0.1": "0.1",
      "1e-4": "0.0001",
      "1e11": "100000000000",
      "999999999999.9999": "999999999999.9999",
      "900719925474.0993": "900719925474.0993",
      "1.0000000000000000000": "1",
      '"123456789012.3456"': "123456789012.3456",
      '"0.5000"': "0.5",
      "-0": "0",
      "-0.000e7": "0",
      '"-0.00"': "0",
    };
    for (const [sent, shown] of Object.entries(amounts)) {
      for (const field of ["retail_price", "retail_price_inc_tax"]) {
        const { status, text } = await org.post(
          "/api/products",
          withPrice(field, sent),
        );

        assertEquals(status, 201, sent);
        assertStringIncludes(text, `"${field}":${shown},`);
      }
    }
  });

  await it("are parsed in linear time", async () => {
    const zeros = "0".repeat(1_000_000);
    // Quadratic time would take minutes.
    for (const number of [`1${zeros}1`, `0.${zeros}1`, `1${zeros}e-9`]) {
      const { status, body } = await org.post(
        "/api/products",
        `{"title":"Emma","page_count":${number}}`,
      );

      assertEquals(status, 400);
      assertEquals(body.error.details[0].pointer, "/page_count");
    }
  });
});
