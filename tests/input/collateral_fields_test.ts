import { assertEquals } from "@std/assert";
import { assertDetails, assertHas } from "../support/client/expect.ts";
import { openApp, type Organization } from "../support/app/harness.ts";
import {
  DAY,
  each,
  heading,
  HTTP_URL,
  nullable,
  rounds,
  same,
  text,
  type Values,
} from "../support/data/values.ts";

const TYPES: Record<string, { entry: object; fields: Record<string, Values> }> =
  {
    text_content: {
      entry: { text: "Handsome, clever, and rich" },
      fields: {
        text: heading(100_000),
        text_type: code("03", "39"),
        content_audience: audiences(),
        text_format: code("06", "15"),
        text_author: nullable(text(2000)),
        source_title: nullable(text(2000)),
        language: nullable(text(2000)),
      },
    },
    cited_content: {
      entry: { source_title: "The Times" },
      fields: {
        source_title: heading(2000),
        cited_content_type: code("01", "07"),
        citation_note: nullable(text(100_000)),
        resource_link: nullable(HTTP_URL),
        publication_date: nullable(DAY),
        content_audience: audiences(),
      },
    },
    award: {
      entry: { prize_name: "A prize" },
      fields: {
        prize_name: heading(2000),
        prize_year: nullable({
          takes: same("0000", "1816", "9999"),
          refuses: [
            ...each("invalid_type", 1816, [], {}),
            ...each("invalid_year", "", "816", "18160", "1816\n", "१८१६"),
          ],
        }),
        prize_country: code("GB", "ROW"),
        prize_code: code("01", "07"),
        prize_statement: nullable(text(100_000)),
        prize_jury: nullable(text(100_000)),
      },
    },
  };

function code(...codes: string[]): Values {
  return nullable({
    takes: same(...codes),
    refuses: each("invalid_code", "", "ZZ", "3", `${codes[0]} `, 3, [], {}),
  });
}

function audiences(): Values {
  return nullable({
    takes: same([], ["00"], ["02", "10", "02"]),
    refuses: each("invalid_type", "00", 0, {}),
  });
}

Deno.test("The fields of collateral", async (t) => {
  await using app = await openApp();

  await t.step("come back as sent", async () => {
    const org = await app.organization();

    for (const [collateral_type, { entry, fields }] of Object.entries(TYPES)) {
      const all = [...rounds(fields, "takes")];
      const sent = all.map(({ sent }) => ({ ...entry, ...sent }));
      const stored = all.map(({ outcome }) => ({
        collateral_type,
        ...entry,
        ...outcome,
      }));

      const { path, product } = await org.create({
        collateral: sent.map((entry) => ({ collateral_type, ...entry })),
      });
      const ids = product.collateral.map(({ id }: { id: string }) => ({ id }));
      const { status, body: { data } } = await org.put(path, {
        collateral: sent.toReversed()
          .map((entry, i) => ({ ...ids[i], ...entry })),
      });

      assertEquals(status, 200);
      assertHas(product.collateral, stored);
      assertHas(data.collateral, stored.toReversed());
      for (const row of product.collateral) {
        assertEquals(
          new Set(Object.keys(row)),
          new Set(["id", "collateral_type", ...Object.keys(fields)]),
        );
      }
    }
  });

  await t.step("refuse every other value with its pointer", async () => {
    const org = await app.organization();

    for (const [collateral_type, { entry, fields }] of Object.entries(TYPES)) {
      const { path, product } = await org.create({
        collateral: [{ collateral_type, ...entry }],
      });
      const [{ id }] = product.collateral;
      for (const { sent, outcome } of rounds(fields, "refuses")) {
        const replies = [
          await post(org, { collateral_type, ...entry, ...sent }),
          await org.put(path, { collateral: [{ id, ...sent }] }),
          await org.put(path, {
            collateral: [{ id, collateral_type, ...sent }],
          }),
        ];

        for (const reply of replies) {
          assertDetails(
            reply,
            ...Object.entries(outcome)
              .map(([field, code]) =>
                [`/collateral/0/${field}`, code] as const
              ),
          );
        }
      }
    }
  });

  await t.step("refuse audience codes with their pointers", async () => {
    const org = await app.organization();

    const reply = await post(org, {
      collateral_type: "text_content",
      text: "x",
      content_audience: ["00", "99", null],
    });
    const tooMany = await post(org, {
      collateral_type: "text_content",
      text: "x",
      content_audience: Array(51).fill("00"),
    });

    assertDetails(
      reply,
      ["/collateral/0/content_audience/1", "invalid_code"],
      ["/collateral/0/content_audience/2", "invalid_code"],
    );
    assertDetails(tooMany, ["/collateral/0/content_audience", "too_many"]);
  });

  await t.step(
    "require a type and its main field",
    async () => {
      const org = await app.organization();
      const { path } = await org.create();
      const collateral = [
        { text: "x" },
        { collateral_type: null, text: "x" },
        { collateral_type: "toString" },
        ...Object.keys(TYPES).map((collateral_type) => ({ collateral_type })),
      ];

      for (
        const reply of [
          await org.post("/api/products", { title: "x", collateral }),
          await org.put(path, { collateral }),
        ]
      ) {
        assertDetails(
          reply,
          ["/collateral/0/collateral_type", "required"],
          ["/collateral/1/collateral_type", "invalid_value"],
          ["/collateral/2/collateral_type", "invalid_value"],
          ["/collateral/3/text", "required"],
          ["/collateral/4/source_title", "required"],
          ["/collateral/5/prize_name", "required"],
        );
      }
    },
  );
});

function post(org: Organization, entry: object) {
  return org.post("/api/products", { title: "x", collateral: [entry] });
}
