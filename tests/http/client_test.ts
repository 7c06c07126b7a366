import { assert, assertEquals, assertMatch } from "@std/assert";
import { GUIDES } from "../../routes/guides.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { openApp } from "../support/app/harness.ts";
import { runTool, TOOLS_CONFIG } from "../support/app/tools.ts";
import { codeOf } from "../support/client/guides.ts";
import { Copy } from "../support/client/copy.ts";
import { TIMED } from "../support/app/deadline.ts";

const README = new URL("../../README.md", import.meta.url);

const CLIENT = new URL("../../CLIENT.md", import.meta.url);

const ONIX = new URL("../../ONIX.md", import.meta.url);

const SHEETS = new URL("../../SHEETS.md", import.meta.url);

/** A message with one record. */
const MESSAGE = `
<ONIXMessage release="3.0">
  <Header><Sender><SenderName>Harbour Press</SenderName></Sender></Header>
  <Product>
    <RecordReference>com.harbour.1</RecordReference>
    <NotificationType>03</NotificationType>
    <DescriptiveDetail><TitleDetail><TitleType>01</TitleType><TitleElement>
      <TitleElementLevel>01</TitleElementLevel><TitleText>Emma</TitleText>
    </TitleElement></TitleDetail></DescriptiveDetail>
  </Product>
</ONIXMessage>`;

/** A cursor of another database. */
const FOREIGN = btoa(
  `${uuidv7()} 1 ${uuidv7()} 1 1767258000000 ${uuidv7()} 1`,
);

/** Synchronizes a copy with the client of `CLIENT`, and prints the titles in the copy after each step. */
const KEEPER = `
import { type Copy, follow, upsert } from "./client.ts";

const copy: Copy = { products: new Map() };
async function step(expected: string) {
  let titles = "";
  // Other transactions of the server hold the feed back.
  for (let tries = 0; tries < 100 && titles !== expected; tries++) {
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    await follow(copy);
    titles = Array.from(copy.products.values(), ({ title }) => title).sort()
      .join();
  }
  console.log(titles);
}
await step("Persuasion,Sanditon");
const refused = await upsert([
  { title: "Lady Susan", isbn13: "9780141439587" },
  { title: "Lady Susan", isbn13: "9780141439587", page_count: 474 },
  { title: "Persuasion", isbn13: "9780141439686", season_id: "${uuidv7()}" },
]);
console.log([...refused.keys()].join());
const priced = [...copy.products.values()].find(({ title }) => title === "Persuasion");
console.log(priced?.product_prices?.[0]?.retail_price, priced?.contributors?.length);
await step("Lady Susan,Persuasion,Sanditon");
const [first] = copy.products.values();
copy.products.set("of another database", first!);
copy.cursor = "${FOREIGN}";
await step("Lady Susan,Persuasion,Sanditon");
`;

/** Prints what `priceOf` chooses for the product and the shop of each case of the variable CASES. */
const PRICES = `
import process from "node:process";
import createClient from "openapi-fetch";
import type { paths } from "./catalogue.ts";
import { priceOf } from "./price.ts";

const { BASE_URL: baseUrl = "", KEY = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { "x-api-key": KEY } });
const { data } = await client.GET("/products", {
  params: {
    query: { search: "Priced", limit: 100, include: ["supply_details", "product_prices"] },
  },
});
const cases: [title: string, shop: Parameters<typeof priceOf>[1]][] = JSON.parse(process.env.CASES!);
for (const [title, shop] of cases) {
  const product = data!.data.find((product) => product.title === title)!;
  console.log(title, priceOf(product, shop));
}
`;

type PriceFields = Record<string, unknown>;

/** A recommended price in EUR with tax, but for these fields. */
const price = (price_amount: number, others: PriceFields = {}) => ({
  price_type: "02",
  price_amount,
  currency_code: "EUR",
  ...others,
});

/** A supply with prices in a market, or everywhere. */
const supply = (prices: PriceFields[], territory?: object) => ({
  markets: territory ? [{ territory }] : [],
  supply_details: [{ prices }],
});

const WORLD = ["WORLD"];
const NOT_EURO = { regions_included: WORLD, regions_excluded: ["ECZ"] };
const DE = { countries_included: ["DE"] };
const JANUARY = { valid_from: "2027-01-01", valid_to: "2027-01-31" };
const SHOP = { country: "DE", currency: "EUR", day: "2027-01-15" };

/** What a shop shows: the supplies and own prices of a product, the shop if it is another, and its price. */
const PRICED: [
  what: string,
  { supplies?: object[]; own?: object[]; shop?: object },
  number | null,
][] = [
  ["a promotion after the regular price", {
    supplies: [supply([price(12.99), price(4.99, { price_qualifier: "08", ...JANUARY })])],
  }, 4.99],
  ["a promotion before the regular price", {
    supplies: [supply([price(4.99, { price_qualifier: "08", ...JANUARY }), price(12.99)])],
  }, 4.99],
  ["a promotion that is over", {
    supplies: [supply([price(4.99, { price_qualifier: "08", ...JANUARY }), price(12.99)])],
    shop: { day: "2027-02-01" },
  }, 12.99],
  ["a special sale", {
    supplies: [supply([price(12.99), price(6, { price_type: "12", ...JANUARY })])],
  }, 6],
  ["a price of the euro zone", {
    supplies: [supply([price(9.9, { territory: { regions_included: ["ECZ"] } })])],
  }, 9.9],
  ["a price of the euro zone elsewhere", {
    supplies: [supply([price(9.9, { territory: { regions_included: ["ECZ"] } })])],
    shop: { country: "CH" },
  }, null],
  [
    "a price without the euro zone",
    { supplies: [supply([price(9.9, { territory: NOT_EURO })])] },
    null,
  ],
  ["a market without the euro zone", { supplies: [supply([price(9.9)], NOT_EURO)] }, null],
  ["a market without the euro zone elsewhere", {
    supplies: [supply([price(9.9)], NOT_EURO)],
    shop: { country: "CH" },
  }, 9.9],
  ["a country in a market without its region", {
    supplies: [supply([price(9.9)], { ...NOT_EURO, ...DE })],
  }, 9.9],
  ["a country that is excluded", {
    supplies: [
      supply([price(9.9, { territory: { regions_included: WORLD, countries_excluded: ["DE"] } })]),
    ],
  }, null],
  ["a library price first", {
    supplies: [supply([price(90, { price_qualifier: "06" }), price(9.9)])],
  }, 9.9],
  ["a member price first", {
    supplies: [
      supply([price(5, { price_qualifier: "01" }), price(9.9, { price_qualifier: "05" })]),
    ],
  }, 9.9],
  ["a library price alone", { supplies: [supply([price(90, { price_qualifier: "10" })])] }, null],
  ["a price for ten copies", {
    supplies: [supply([price(7, { minimum_order_quantity: 10 }), price(9.9)])],
  }, 9.9],
  ["a price of the country after one of the world", {
    supplies: [supply([price(11), price(10, { territory: DE })])],
  }, 10],
  ["a market of the country after one of the world", {
    supplies: [supply([price(11)], { regions_included: WORLD }), supply([price(10)], DE)],
  }, 10],
  ["a price of the country after one of its currency", {
    supplies: [
      supply([
        price(11, { territory: { regions_included: ["ECZ"] } }),
        price(10, { territory: DE }),
      ]),
    ],
  }, 10],
  ["a market of another country", {
    supplies: [supply([price(11)], { countries_included: ["AT"] })],
    own: [{ currency_code: "EUR", retail_price_inc_tax: 9 }],
  }, 9],
  ["a new price after the old one", {
    supplies: [supply([price(11), price(12, { valid_from: "2027-01-01" })])],
  }, 12],
  ["a price that is to come", {
    supplies: [
      supply([price(5, { valid_from: "2027-02-01" }), price(6, { valid_from: "2026-01-01" })]),
    ],
  }, 6],
  ["a fixed price", { supplies: [supply([price(11), price(12, { price_type: "04" })])] }, 12],
  ["a price without tax", {
    supplies: [supply([price(11, { price_type: "04" }), price(10, { price_type: "01" })])],
    shop: { as: "without tax" },
  }, 10],
  ["a price of Quebec", {
    supplies: [supply([price(11), price(10, { territory: { regions_included: ["CA-QC"] } })])],
    shop: { country: "CA", region: "CA-QC" },
  }, 10],
  ["a price of Quebec in Ontario", {
    supplies: [supply([price(11), price(10, { territory: { regions_included: ["CA-QC"] } })])],
    shop: { country: "CA", region: "CA-ON" },
  }, 11],
  ["another currency", { supplies: [supply([price(11)])], shop: { currency: "CHF" } }, null],
  ["an own default", {
    own: [{ currency_code: "EUR", retail_price_inc_tax: 7 }, {
      currency_code: "EUR",
      retail_price_inc_tax: 8,
      is_default: true,
    }],
  }, 8],
  ["an own price with its tax", {
    own: [{ currency_code: "EUR", retail_price: 10, tax_rate: 8.1 }],
  }, 10.81],
  ["an own price whose tax ends with half a cent", {
    own: [{ currency_code: "EUR", retail_price: 1.15, tax_rate: 10 }],
  }, 1.27],
  ["an own default without a retail price", {
    own: [{ currency_code: "EUR", list_price: 5, is_default: true }, {
      currency_code: "EUR",
      retail_price_inc_tax: 9,
    }],
  }, 9],
  ["an own price without a rate", { own: [{ currency_code: "EUR", retail_price: 12 }] }, null],
  ["an own price without tax", {
    own: [{ currency_code: "EUR", retail_price: 12 }],
    shop: { as: "without tax" },
  }, 12],
];

Deno.test({
  ...TIMED,
  name: "The examples of README.md, CLIENT.md and the reference page",
}, async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    handler: app.handler,
    onListen() {},
  });
  const env = {
    BASE_URL: `http://127.0.0.1:${server.addr.port}/api`,
    KEY: org.key,
  };
  const cwd = await Deno.makeTempDir();
  const { sh: [curl] } = await blocks(README, "First requests");
  const { sh: [types], ts: [client] } = await blocks(
    CLIENT,
    "Create and update",
  );

  await it("generate types from the OpenAPI document", async () => {
    const npx = `npm() { :; }\nnpx() { shift; "${Deno.execPath()}" run -A -q --frozen ` +
      `--config "${TOOLS_CONFIG}" "$@"; }\n`;

    await shell(npx + types, { cwd, env });

    const made = await Deno.readTextFile(`${cwd}/catalogue.ts`);
    assertMatch(made, /export interface paths/);
  });

  await it("create and update a product with the typed client", async () => {
    await Deno.writeTextFile(`${cwd}/client.ts`, client!);

    const { success, complaints } = await runTool(
      ["--check", "client.ts"],
      { cwd, env },
    );

    assert(success, complaints);
    const { body } = await org.get("/api/products");
    const { body: { data } } = await org.get(
      `/api/products/${body.data[0].id}`,
    );
    assertEquals(data.product_prices[0].retail_price, 8.99);
  });

  await it("synchronize a copy and send batches with the typed client", async () => {
    const { ts: [keeping] } = await blocks(CLIENT, "Keep a copy");
    await org.create({ title: "Sanditon" });
    await Deno.writeTextFile(`${cwd}/client.ts`, keeping!);
    await Deno.writeTextFile(`${cwd}/keeper.ts`, KEEPER);

    const { success, output, complaints } = await runTool(
      ["--check", "keeper.ts"],
      { cwd, env },
    );

    assert(success, complaints);
    assertEquals(output.trim().split("\n"), [
      "Persuasion,Sanditon",
      "9780141439686",
      "8.99 0",
      "Lady Susan,Persuasion,Sanditon",
      "Lady Susan,Persuasion,Sanditon",
    ]);
  });

  await it("choose the price of a market", async () => {
    const { ts: [choosing] } = await blocks(CLIENT, "The price of a market");
    await Deno.writeTextFile(`${cwd}/price.ts`, choosing!);
    await Deno.writeTextFile(`${cwd}/prices.ts`, PRICES);
    const paths: string[] = [];
    for (const [what, { supplies = [], own = [] }] of PRICED) {
      const { path } = await org.create({ title: `Priced: ${what}`, product_prices: own });
      await org.put(`${path}/territories`, supplies);
      paths.push(path);
    }
    const cases = PRICED.map(([what, { shop }]) => [`Priced: ${what}`, { ...SHOP, ...shop }]);

    const { success, output, complaints } = await runTool(
      ["--check", "prices.ts"],
      { cwd, env: { ...env, CASES: JSON.stringify(cases) } },
    );

    assert(success, complaints);
    assertEquals(
      output.trim().split("\n"),
      PRICED.map(([what, , expected]) => `Priced: ${what} ${expected}`),
    );
    for (const path of paths) await org.delete(path);
  });

  await it("send an ONIX file and follow the feed", async () => {
    const { sh: [send] } = await blocks(ONIX, "Send a file");
    const { json: [sample] } = await blocks(ONIX, "Read the report");
    const { sh: samples } = await blocks(ONIX, "Give each recipient its own feed");
    const follow = samples.find((sample) => sample.includes("NoProduct"));
    await Deno.writeTextFile(`${cwd}/catalogue.xml`, MESSAGE);

    await shell(send!, { cwd, env });
    const { success, stdout } = await new Deno.Command("bash", {
      args: ["-euc", follow!],
      cwd,
      env,
    }).output();

    const report = JSON.parse(await Deno.readTextFile(`${cwd}/report.json`));
    assertEquals(keysIn(report), keysIn(JSON.parse(sample!)));
    assert(success);
    assertMatch(
      new TextDecoder().decode(stdout),
      /^\/api\/onix\/products\?\S*after=\S+\n$/,
    );
    assertMatch(
      await Deno.readTextFile(`${cwd}/onix1.xml`),
      /<ONIXmessage [^>]*release="3\.0"/,
    );
  });

  await it("get a sheet and send it back", async () => {
    const { sh: [get] } = await blocks(SHEETS, "1. Get it");
    const { sh: [send] } = await blocks(SHEETS, "3. Send it");

    const report = JSON.parse(await shell(`${get}${send}`, { cwd, env }));

    assert(report.data.rows > 0);
    assertEquals(report.data.unchanged, report.data.rows);
  });

  await it("of the reference page run with curl", async () => {
    const samples = await codeOf(GUIDES, "sh");
    const { body } = await org.get("/api/products/changes");
    const reader = { ...env, CURSOR: body.meta.cursor };

    const [, creating, finding, writing, getting, sending, failing, ...others] = samples;
    const run = (script: string) => shell(script, { cwd, env: reader });
    const first = await run([creating, finding, writing, getting, sending, failing].join("\n"));
    // Other transactions of the server hold the feed back.
    await new Copy(org, app).catchUp();
    const output = first + await run(others.join("\n"));

    const [
      ,
      ,
      created,
      found,
      written,
      sheet,
      refused,
      all,
      later,
      called,
      imported,
      edited,
      same,
      both,
      unready,
    ] = responsesIn(output);
    assertEquals(
      [
        created.data.publisher_name,
        created.data.contributors[0].contributor_name,
      ],
      ["Beacon Press", "Octavia E. Butler"],
    );
    assertEquals(found.data[0].id, created.data.id);
    assert(sheet.data.rows > 0);
    assertEquals(sheet.data.unchanged, sheet.data.rows);
    assert(all.data.length > 0);
    assertMatch(called.data.secret, /^whsec_/);
    // deno-lint-ignore no-explicit-any
    const changed = later.data.map(({ id }: any) => id);
    assert(changed.includes(created.data.id), String(changed));
    assertEquals(
      // deno-lint-ignore no-explicit-any
      written.data.map(({ status }: any) => status),
      [200, 201],
    );
    assertEquals(imported.data.created, 1);
    assertEquals(unready.meta.ready, 0);
    assertEquals(
      [edited.data.page_count, same.data.unchanged, both.data.unchanged],
      [523, 1, 1],
    );
    assertEquals(both.data.outcomes[0].messages[0].code, "edit_kept");
    const { details } = refused.error;
    assert(
      (await codeOf(["handling"], "sh"))[0]!.includes(details[0].message),
      details[0].message,
    );
  });

  await it("of the reference page run in TypeScript", async () => {
    const samples = await codeOf(GUIDES, "ts");
    await Deno.writeTextFile(`${cwd}/guides.ts`, samples.join("\n"));

    const { success, complaints } = await runTool(
      ["--check", "guides.ts"],
      { cwd, env },
    );

    assert(success, complaints);
    assertMatch(complaints, /^VALIDATION_ERROR The body has 1 error/m);
  });

  await it("send each operation with curl", async () => {
    // The demo organization has these.
    await org.post("/api/publishers", { name: "Lighthouse Books" });
    await org.post("/api/contributors", { name: "J.R.R. Tolkien" });

    const output = await shell(curl!, { cwd, env });

    const [listed, got, updated, deleted] = responsesIn(output);
    assertEquals(listed.meta.total, 1);
    assertEquals(got.data.isbn13, "9780261103771");
    assertEquals(got.data.contributors[0].contributor_role_code, "A01");
    assertEquals(updated.data.page_count, 127);
    assertEquals(updated.data.isbn13, null);
    assertEquals(deleted.data, { id: got.data.id, deleted: true });
  });

  await Deno.remove(cwd, { recursive: true });
});

/** The names of the members of a report, and of those in its arrays that have entries. */
function keysIn(report: { data: Record<string, unknown> }): string[] {
  return [...Object.keys(report), ...Object.keys(report.data)].sort();
}

/** The responses that curl has written one after the other. */
function responsesIn(output: string) {
  return output.split(/(?<=\})(?=\{"success")/)
    // deno-lint-ignore no-explicit-any
    .map((text) => JSON.parse(text) as any);
}

/** The code blocks of a file or of one section, by language. */
async function blocks(file: URL, heading?: string) {
  const whole = await Deno.readTextFile(file);
  const [, section = ""] = heading ? whole.split(`\n## ${heading}\n`) : ["", whole];
  const [text = ""] = section.split("\n## ");
  const found = {
    sh: [] as string[],
    ts: [] as string[],
    json: [] as string[],
  };
  for (
    const [, language, code] of text.matchAll(/```(sh|ts|json)\n(.*?)```/gs)
  ) {
    found[language as keyof typeof found].push(code!);
  }
  return found;
}

async function shell(
  script: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", script],
    ...options,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
