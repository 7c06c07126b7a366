import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { search, shelf, titlesOf } from "../support/client/searching.ts";

Deno.test("GET /products?search=", async (t) => {
  await using app = await openApp();

  await t.step("finds a part of the title, ignoring case", async () => {
    const titles = ["Emma", "The Watsons", "ΟΔΟΣ ΣΟΦΟΥ", "Straße", "ИВАН"]
      .concat("İstanbul", "Ærø", "Ⅷ Heinrich", "日本語の本", "𐐀 Deseret");
    const org = await shelf(app, ...titles);
    const found = {
      "emma": ["Emma"],
      "EMMA": ["Emma"],
      "so": ["The Watsons"],
      "watsons": ["The Watsons"],
      "he wat": ["The Watsons"],
      "οδος": ["ΟΔΟΣ ΣΟΦΟΥ"],
      "οδοσ": ["ΟΔΟΣ ΣΟΦΟΥ"],
      "ΣΟΦΟ": ["ΟΔΟΣ ΣΟΦΟΥ"],
      "ς σ": ["ΟΔΟΣ ΣΟΦΟΥ"],
      "straße": ["Straße"],
      "STRAẞE": ["Straße"],
      "иван": ["ИВАН"],
      "İST": ["İstanbul"],
      "ist": ["İstanbul"],
      "ærØ": ["Ærø"],
      "ⅷ": ["Ⅷ Heinrich"],
      "本語": ["日本語の本"],
      "𐐨": ["𐐀 Deseret"],
      "absent": [],
    };
    for (const [term, titles] of Object.entries(found)) {
      assertEquals(await search(org, term), titles, term);
    }
  });

  await t.step("takes every character literally", async () => {
    const titles = ["100% Pure", "50 percent", "snake_case", "snake case"]
      .concat("back\\slash", "backslash", "O'Reilly", 'say "hello"', "a;b--c")
      .concat("$1 and ${x}", "[a-z]*", "tab\there", "x\\", "%_\\");
    const org = await shelf(app, ...titles);
    const terms = [
      "%",
      "_",
      "\\",
      "%%",
      "\\%",
      "e_c",
      "k\\s",
      "\\\\",
      "'",
      "''",
    ]
      .concat('"', ";", "--", "$1", "${x}", "[a-z]", "*", "b\th", "%_\\", "_%")
      .concat("a\\", "x\\", "\\_", "0% p", "%p", ".*", "(", "?", "&&", "|");
    for (const term of terms) {
      const expected = titles.filter((title) =>
        title.toLowerCase().includes(term.toLowerCase())
      );

      const asked = /\s/.test(term) ? `"${term}"` : term;
      assertEquals(await search(org, asked), expected.sort(), term);
    }
  });

  await t.step("finds by one or two characters", async () => {
    const titles = ["Emma", "Mansfield Park", "É", "本", "𐐀b", "a%b", "z_"];
    const org = await shelf(app, ...titles);
    for (const term of ["e", "m", "ie", "本", "𐐀", "𐐀b", "%", "z_", "q"]) {
      const expected = titles.filter((title) =>
        title.toLowerCase().includes(term.toLowerCase())
      );

      // Product codes may contain the letter.
      const found = await search(org, term);
      assert(expected.every((title) => found.includes(title)), term);
      if (!/^[0-9a-z]$/.test(term)) assertEquals(found, expected.sort(), term);
    }
  });

  await t.step("finds ISBNs with and without hyphens and spaces", async () => {
    const org = await app.organization();
    await org.create({ title: "Emma", isbn13: "978-0-306-40615-7" });
    await org.create({ title: "Physik", isbn10: "0-8044-2957-X" });
    await org.create({ title: "978-0 and 306 40615", isbn13: null });
    const found = {
      "9780306406157": ["Emma"],
      "978-0-306-40615-7": ["Emma"],
      "978 0 306 40615 7": ["978-0 and 306 40615", "Emma"],
      '"978 0 306 40615 7"': ["Emma"],
      "978-0306-406157": ["Emma"],
      "0306": ["Emma"],
      "0-306-4061": ["Emma"],
      "306 40615": ["978-0 and 306 40615", "Emma"],
      "978-0": ["978-0 and 306 40615", "Emma"],
      "080442957X": ["Physik"],
      "080442957x": ["Physik"],
      "0-8044-2957-X": ["Physik"],
      "0 8044 2957 x": ["Physik"],
      "2957-x": ["Physik"],
      "physik 2957-x": ["Physik"],
      "emma 2957-x": [],
      "9780306406158": [],
      "978–0–306": ["Emma"],
      "978‑0‑306‑40615‑7": ["Emma"],
      "0−8044−2957−x": ["Physik"],
      "–": [],
    };
    for (const [term, titles] of Object.entries(found)) {
      assertEquals(await search(org, term), titles, term);
    }
  });

  await t.step("finds no ISBN by hyphens alone", async () => {
    const org = await app.organization();
    await org.create({ title: "Emma", isbn13: "9780306406157" });

    for (const term of ["--", '"- -"']) {
      assertEquals(await search(org, term), [], term);
    }
  });

  await t.step("finds by product code", async () => {
    const org = await app.organization();
    const { product } = await org.create({ title: "Emma" });
    const code: string = product.product_code;
    for (const term of [code, code.toLowerCase(), code.slice(2), "p-"]) {
      assertEquals(await search(org, term), ["Emma"], term);
    }
  });

  await t.step("finds the changed title, and not the old one", async () => {
    const org = await app.organization();
    const { path } = await org.create({ title: "Emma" });

    await org.put(path, { title: "Persuasion", isbn13: "9780306406157" });

    assertEquals(await search(org, "emma"), []);
    assertEquals(await search(org, "0306"), ["Persuasion"]);
  });

  await t.step(
    "writes what it compares of the changed product alone",
    async () => {
      const org = await app.organization();
      const { path } = await org.create({ title: "Emma" });
      const { id } = await org.create({ title: "Persuasion" });
      await app.sql`
        update product_search set search_text = 'kept', found_text = 'kept'
        where organization_id = ${org.id} and product_id = ${id}
      `;

      await org.put(path, { title: "Sanditon" });

      assertEquals(await search(org, "kept"), ["Persuasion"]);
    },
  );

  await t.step("rewrites nothing if what it compares is equal", async () => {
    const org = await app.organization();
    const product = { title: "Emma", isbn13: "9780306406157", page_count: 1 };
    const { path } = await org.create(product);
    const places = async () => [
      ...await app.sql`
        select s.ctid::text as place from product_search s where s.organization_id = ${org.id}
      `,
    ];
    const before = await places();

    await org.put(path, { ...product, page_count: 2 });

    assertEquals(await places(), before);
    await org.put(path, { ...product, title: "Sanditon" });
    assertEquals(await search(org, "sanditon"), ["Sanditon"]);
  });

  await t.step("does not match across two fields", async () => {
    const org = await app.organization();
    const { product } = await org.create({
      title: "Emma",
      isbn13: "9780306406157",
      isbn10: "0306406152",
    });
    await org.create({ title: "a\x1fb" });

    for (
      const term of [
        `Emma${product.product_code}`,
        `"Emma ${product.product_code}"`,
        `Emma\x1f${product.product_code}`,
        "97803064061570306406152",
        '"9780306406157 0306406152"',
        "\x1f9780306406157",
        "ma\x1fP-",
      ]
    ) {
      assertEquals(await search(org, term), [], term);
    }
    assertEquals(await search(org, "\x1f"), ["a\x1fb"]);
    assertEquals(await search(org, "A\x1fB"), ["a\x1fb"]);
  });

  await t.step("ignores surrounding spaces, and a blank term", async () => {
    const org = await shelf(app, "Emma", "Persuasion");
    for (const blank of ["", " ", "\t\n", "\u00a0\u3000"]) {
      assertEquals(await search(org, blank), ["Emma", "Persuasion"]);
    }
    assertEquals(await search(org, "  emma\t"), ["Emma"]);
    assertEquals(await search(org, "-"), ["Emma", "Persuasion"]);
  });

  await t.step("accepts up to 200 characters", async () => {
    const org = await shelf(app, "x".repeat(300), "𐐀".repeat(300));
    for (const character of ["x", "𐐀"]) {
      assertEquals((await search(org, character.repeat(200))).length, 1);
      assertEquals((await search(org, ` ${character.repeat(200)} `)).length, 1);

      const { status, body } = await org.get(
        `/api/products?search=${encodeURIComponent(character.repeat(201))}`,
      );

      assertEquals(status, 400);
      assertEquals(body.error.details[0].parameter, "search");
      assertEquals(body.error.details[0].code, "too_long");
    }
  });

  await t.step(
    "refuses U+0000, and what is not UTF-8",
    async () => {
      const org = await shelf(app, "Emma");

      const { status, body } = await org.get("/api/products?search=a%00b");
      const broken = await org.get("/api/products?search=%ff%fe%ed%a0%80");

      assertEquals(status, 400);
      assertEquals(body.error.details[0].code, "invalid_character");
      assertEquals(broken.status, 400);
      assertEquals(broken.body.error.details[0].code, "invalid_encoding");
    },
  );

  await t.step("counts and pages matches, with filters", async () => {
    const org = await app.organization();
    for (let i = 0; i < 7; i++) {
      await org.create({
        title: `Volume ${i}`,
        format_id: i % 2 ? org.format : null,
      });
    }
    await org.create({ title: "Emma", format_id: org.format });

    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) =>
        org.get(`/api/products?search=volume&limit=3&page=${page}`)
      ),
    );
    const filtered = await org.get(
      `/api/products?search=volume&format_id=${org.format}`,
    );

    const titles = pages.flatMap(({ body }) => titlesOf(body.data));
    assertEquals(titles, [6, 5, 4, 3, 2, 1, 0].map((i) => `Volume ${i}`));
    for (const { body } of pages) {
      assertEquals(body.meta.total, 7);
      assertEquals(body.meta.total_pages, 3);
    }
    assertEquals(filtered.body.meta.total, 3);
  });

  await t.step("counts a short word, whether common or not", async () => {
    const common = Array.from("abcdefg", (letter) => `The 100% ${letter}`);
    const org = await shelf(app, "The Rat", "Rats", "Emma", ...common);
    const all = ["The Rat", ...common].sort();

    assertEquals(await search(org, "the"), all);
    assertEquals(await search(org, "THE he"), all);
    assertEquals(await search(org, "100%"), common);
    assertEquals(await search(org, "rat"), ["Rats", "The Rat"]);
    assertEquals(await search(org, "the rat"), ["The Rat"]);
    assertEquals(await search(org, "the rats"), []);
  });

  await t.step("omits other organizations' products", async () => {
    const [org, other] = [
      await shelf(app, "Emma"),
      await shelf(app, "Persuasion"),
    ];

    assertEquals(await search(org, "persuasion"), []);
    assertEquals(await search(other, "persuasion"), ["Persuasion"]);
  });
});
