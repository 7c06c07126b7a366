import { assertEquals, assertRejects } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { assertShows, read } from "../support/client/stored.ts";

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

const it = testsOf("The languages of a product");

it("are created in the order given", async ({ org }) => {
  const { path, product } = await org.create({
    languages: [FROM_SERBIAN, LEAST, ENGLISH, LEAST],
  });

  const shown = [FROM_SERBIAN, LEAST_SHOWN, ENGLISH, LEAST_SHOWN];
  assertEquals(product.languages, shown);
  assertEquals((await org.get(path)).body.data.languages, shown);
});

it("are replaced as a whole by PUT", async ({ org }) => {
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

it("show what SQL writes, and its time", async ({ org, app, sql }) => {
  if (app.isDistributed) return;
  const { id, path } = await org.create({ languages: [ENGLISH] });
  const write = (languages: string | null) =>
    sql`
      update products set languages = ${languages}::text::jsonb
      where organization_id = ${org.id} and id = ${id}
    `;
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
    await assertShows({ app, org, id }, () => write(languages), languages);
    const { data } = await read(app, org, path);
    assertEquals(data.languages, expected);
  }
  await write(null);
  assertEquals((await org.get(path)).body.data.languages, []);
  for (const languages of ["{}", "null", '"eng"']) {
    await assertRejects(() => write(languages), Error, "languages_array");
  }
});
