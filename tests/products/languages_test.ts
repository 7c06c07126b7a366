import { assert, assertEquals, assertRejects } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { eventually } from "../support/app/eventually.ts";
import { openApp } from "../support/app/harness.ts";
import { assertDetails } from "../support/client/expect.ts";
import { assertShows, read } from "../support/client/stored.ts";
import { commandsOn, exported, imported } from "../support/client/transfer.ts";

/*
 * Languages stand for all arrays of values: entries without identity, which a body
 * replaces as a whole.
 */

const ENGLISH = {
  language_role: "01",
  language_code: "eng",
  country_code: "GB",
  script_code: "Latn",
};

const FROM_SERBIAN = {
  language_role: "02",
  language_code: "srp",
  country_code: null,
  script_code: "Cyrl",
};

/** An entry with its required fields alone, as sent and as shown. */
const LEAST = { language_role: "01", language_code: "gsw" };
const LEAST_SHOWN = { ...LEAST, country_code: null, script_code: null };

Deno.test("The languages of a product", async (t) => {
  await using app = await openApp();

  await t.step("are empty by default", async () => {
    const org = await app.organization();

    const { path, product } = await org.create();

    assertEquals(product.languages, []);
    assertEquals((await org.get(path)).body.data.languages, []);
  });

  await t.step("are created in the order given", async () => {
    const org = await app.organization();

    const { path, product } = await org.create({
      languages: [FROM_SERBIAN, LEAST, ENGLISH, LEAST],
    });

    const shown = [FROM_SERBIAN, LEAST_SHOWN, ENGLISH, LEAST_SHOWN];
    assertEquals(product.languages, shown);
    assertEquals((await org.get(path)).body.data.languages, shown);
  });

  await t.step("are replaced as a whole by PUT", async () => {
    const org = await app.organization();
    const { path } = await org.create({ languages: [ENGLISH, FROM_SERBIAN] });
    const put = async (body: object) =>
      (await org.put(path, body)).body.data.languages;

    const kept = await put({ title: "Persuasion" });
    const replaced = await put({ languages: [LEAST] });
    const emptied = await put({ languages: [] });
    const again = await put({ languages: [ENGLISH] });

    assertEquals(kept, [ENGLISH, FROM_SERBIAN]);
    assertEquals(replaced, [LEAST_SHOWN]);
    assertEquals(emptied, []);
    assertEquals(again, [ENGLISH]);
    assertEquals((await org.get(path)).body.data.languages, [ENGLISH]);
  });

  await t.step("are written in a batch", async () => {
    const org = await app.organization();
    const { id } = await org.create({ languages: [ENGLISH] });

    const { body } = await org.post("/api/products/batch", {
      operations: [
        { method: "create", body: { title: "Emma", languages: [ENGLISH] } },
        { method: "update", id, body: { languages: [FROM_SERBIAN] } },
        { method: "update", id, body: { title: "Persuasion" } },
        { method: "update", id, body: { languages: [{}] } },
      ],
    });

    const [created, replaced, kept, refused] = body.data;
    assertEquals(created.data.languages, [ENGLISH]);
    assertEquals(replaced.data.languages, [FROM_SERBIAN]);
    assertEquals(kept.data.languages, [FROM_SERBIAN]);
    assertEquals(refused.status, 400);
    const { body: { data } } = await org.get(`/api/products/${id}`);
    assertEquals(data.languages, [FROM_SERBIAN]);
  });

  await t.step("are refused with every error at once", async () => {
    const org = await app.organization();
    const { path } = await org.create({ languages: [ENGLISH] });
    const body = {
      title: "Emma",
      languages: [
        ENGLISH,
        null,
        [],
        "eng",
        {},
        { ...LEAST, language_role: "ZZ", language_code: "ENG" },
        { ...LEAST, country_code: "gb", script_code: 7 },
        { language_role: null, language_code: null },
        { ...LEAST, id: uuidv7() },
      ],
    };

    const created = await org.post("/api/products", body);
    const updated = await org.put(path, body);

    for (const reply of [created, updated]) {
      assertDetails(
        reply,
        ["/languages/1", "invalid_type"],
        ["/languages/2", "invalid_type"],
        ["/languages/3", "invalid_type"],
        ["/languages/4/language_role", "required"],
        ["/languages/4/language_code", "required"],
        ["/languages/5/language_role", "invalid_code"],
        ["/languages/5/language_code", "invalid_code"],
        ["/languages/6/country_code", "invalid_code"],
        ["/languages/6/script_code", "invalid_code"],
        ["/languages/7/language_role", "invalid_code"],
        ["/languages/7/language_code", "invalid_code"],
        ["/languages/8/id", "unknown_field"],
      );
    }
    assertEquals((await org.get(path)).body.data.languages, [ENGLISH]);
  });

  await t.step("are refused unless they are an array", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    for (const languages of [null, {}, "eng", 1]) {
      const body = { title: "Emma", languages };

      for (
        const reply of [
          await org.post("/api/products", body),
          await org.put(path, body),
        ]
      ) assertDetails(reply, ["/languages", "invalid_type"]);
    }
  });

  await t.step("are at most 500", async () => {
    const org = await app.organization();

    const { path, product } = await org.create({
      languages: Array(500).fill(LEAST),
    });
    const reply = await org.put(path, { languages: Array(501).fill(LEAST) });

    assertEquals(product.languages, Array(500).fill(LEAST_SHOWN));
    assertDetails(reply, ["/languages", "too_many"]);
  });

  await t.step("are in lists that include them", async () => {
    const org = await app.organization();
    await org.create({ title: "Emma", languages: [ENGLISH, LEAST] });
    await org.create({ title: "Persuasion" });
    const list = async (include: string) => {
      const path = `/api/products?sort=title&include=${include}`;
      return (await org.get(path)).body.data;
    };

    for (const include of ["languages", "product_prices,languages"]) {
      const [emma, persuasion] = await list(include);

      assertEquals(emma.languages, [ENGLISH, LEAST_SHOWN]);
      assertEquals(persuasion.languages, []);
    }
    for (const product of await list("product_prices")) {
      assert(!("languages" in product));
    }
  });

  await t.step("are in changes that include them", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    await org.put(path, { languages: [ENGLISH, LEAST] });

    // The feed waits for older transactions of all organizations.
    await eventually([ENGLISH, LEAST_SHOWN], async () => {
      const { body } = await org.get("/api/products/changes?include=languages");
      return body.data[0]?.product.languages;
    });
  });

  await t.step("are exported and imported", async () => {
    const org = await app.organization();
    await org.create({ languages: [ENGLISH, LEAST] });
    const commands = commandsOn(app);
    const original = await exported(commands(org.id));
    const other = commands(uuidv7());

    assertEquals(await imported(other, original), []);
    const refused = await imported(
      other,
      original.replace(/"eng"/, '"ENG"').replace(/"gsw"/, "null"),
    );

    assertEquals(await exported(other), original);
    const line = original.split("\n")
      .findIndex((text) => text.includes('"languages":[{')) + 1;
    assertEquals(refused, [
      `${line}: /languages/0/language_code: Expected a code of ONIX List 74, see /code-lists/74: did you mean eng?; ` +
      "/languages/1/language_code: Expected a code of ONIX List 74, see /code-lists/74",
    ]);
  });

  await t.step({
    name: "show what SQL writes, and its time",
    ignore: app.isDistributed,
    async fn() {
      const org = await app.organization();
      const { id, path } = await org.create({ languages: [ENGLISH] });
      const write = (languages: string | null) =>
        app.sql((sql) =>
          sql`
            update products set languages = ${languages}::text::jsonb
            where organization_id = ${org.id} and id = ${id}
          `
        );
      const shown = {
        [JSON.stringify([LEAST])]: [LEAST_SHOWN],
        [JSON.stringify([{ ...ENGLISH, note: "x" }, {}])]: [
          ENGLISH,
          {
            language_role: null,
            language_code: null,
            country_code: null,
            script_code: null,
          },
        ],
        "[]": [],
      };

      for (const [languages, expected] of Object.entries(shown)) {
        await assertShows(
          app,
          org,
          id,
          { isOwn: true, isShown: true },
          () => write(languages),
          languages,
        );
        const { data } = await read(app, org, path);
        assertEquals(data.languages, expected);
      }
      await write(null);
      assertEquals((await org.get(path)).body.data.languages, []);
      for (const languages of ["{}", "null", '"eng"']) {
        await assertRejects(() => write(languages), Error, "languages_array");
      }
    },
  });
});
