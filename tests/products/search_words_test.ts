import { assertEquals } from "@std/assert";
import { testsOf } from "../support/app/harness.ts";
import { search, shelf } from "../support/client/searching.ts";

const it = testsOf("GET /products?search= by words");

it("ignores accents, composed or decomposed", async ({ org }) => {
  const titles = ["Pedro Páramo", "Pedro Pa\u0301ramo", "Tiếng Việt", "Ἰλιάς"]
    .concat("Чёрный йод", "שָׁלוֹם", "كِتَاب", "ガラス", "한국어", "हिन्दी");
  await shelf(org, ...titles);
  const found = {
    "pedro paramo": ["Pedro Páramo", "Pedro Páramo"],
    "PÁRAMO": ["Pedro Páramo", "Pedro Páramo"],
    "ãramo": ["Pedro Páramo", "Pedro Páramo"],
    "pa\u0301ramo": ["Pedro Páramo", "Pedro Páramo"],
    "rô": ["Pedro Páramo", "Pedro Páramo"],
    "tieng viet": ["Tiếng Việt"],
    "ΙΛΙΑΣ": ["Ἰλιάς"],
    "черныи": ["Чёрный йод"],
    "שלום": ["שָׁלוֹם"],
    "كتاب": ["كِتَاب"],
    "カラ": ["ガラス"],
    "\u1112\u1161\u11ab국": ["한국어"],
    "하": [],
    "हिन्दी": ["हिन्दी"],
    "हन": [],
  };
  for (const [term, titles] of Object.entries(found)) {
    const normal = (await search(org, term))
      .map((title) => title.normalize("NFC"));
    assertEquals(normal, titles.map((title) => title.normalize("NFC")), term);
  }
});

it("finds every word, in any order and any field", async ({ org }) => {
  const { product } = await org.create({
    title: "A Wizard of Earthsea",
    isbn13: "9780306406157",
    isbn10: "0306406152",
  });
  await org.create({ title: "The Farthest Shore, Earthsea" });
  const wizard = "A Wizard of Earthsea";
  const shore = "The Farthest Shore, Earthsea";
  const found = {
    "wizard earthsea": [wizard],
    "earthsea wizard": [wizard],
    "EARTH  \u00a0\t wiz": [wizard],
    "earthsea": [wizard, shore],
    "sea shor": [shore],
    "earthsea of": [wizard],
    "wizard shore": [],
    "wizard absent": [],
    "wizard 9780306406157": [wizard],
    "978-0-306 wizard": [wizard],
    "0306406152 9780306406157": [wizard],
    "shore 9780306406157": [],
    [`${product.product_code} wizard`]: [wizard],
    [`${product.product_code} shore`]: [],
    [Array(100).fill("a").join(" ")]: [wizard, shore],
  };
  for (const [term, titles] of Object.entries(found)) {
    assertEquals(await search(org, term), titles, term);
  }
});

it("takes a quoted term as a phrase", async ({ org }) => {
  await shelf(org, "The Left Hand of Darkness", "Hand Left, the Dark");
  const [left, hand] = ["The Left Hand of Darkness", "Hand Left, the Dark"];
  const found = {
    "left hand": [hand, left],
    '"left hand"': [left],
    '" LÉFT hand "': [left],
    '"hand left"': [hand],
    '"left hand" dark': [left],
    'dark "hand left"': [hand],
    '"left  hand"': [],
    '"left hand': [],
    '"hand of" "the left"': [left],
    '""': [hand, left],
    '" "': [hand, left],
  };
  for (const [term, titles] of Object.entries(found)) {
    assertEquals(await search(org, term), titles, term);
  }
});
