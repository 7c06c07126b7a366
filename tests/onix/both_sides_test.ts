import { assertEquals } from "@std/assert";
import { IS_WHOLE } from "../support/app/sample.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";
import { xml } from "./records.ts";

/* What the sender and people here write beside each other, each of which is right alone. */

// deno-lint-ignore no-explicit-any
type Any = any;

const it = onixTestsOf("What two sides have written");

const codes = ({ messages }: Any) => messages.map(({ code }: Any) => code);

/** What is told of a field that both have changed. */
const CONFLICT = {
  keep: ["edit_overwritten"],
  protect: ["edit_kept"],
  overwrite: [],
};

const GB = { countries_included: ["GB"] };
const ROW = { sales_rights_type: "03", is_rest_of_world: true };

/** Rights in a record, what is written here, the rights of the next record, and those after it that stay and that give way. */
// deno-fmt-ignore
const RIGHTS: [first: string, here: (rights: Any[]) => object[], next: string, kept: string[], taken: string[]][] = [
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", (rights) => [...rights, ROW],
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=02", ["01 GB", "03 world"], ["01 GB", "02 world"]],
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", ([right]) => [{ ...right, territory: null, is_rest_of_world: true }],
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=02", ["01 world"], ["01 GB", "02 world"]],
];

it("one right alone is of the rest of the world", async ({ org, onix, product }) => {
  for (const [first, here, next, kept, taken] of RIGHTS) {
    for (const [edits, told] of Object.entries(CONFLICT)) {
      const reference = crypto.randomUUID();
      const text = (rights: string) =>
        message(
          record({ reference, isbn: null })
            .replace("</PublishingDetail>", xml(rights) + "$&"),
        );
      const { outcomes: [{ id }] } = await onix.report(text(first));
      const { product_sales_rights } = await product(id);
      const put = await org.put(
        `/api/products/${id}/sales-rights`,
        here(product_sales_rights),
      );
      assertEquals(put.status, 200, put.text);

      const report = await onix.report(text(next), `?edits=${edits}`);

      assertEquals(codes(report.outcomes[0]), told, JSON.stringify(report));
      assertEquals(report.updated, edits === "protect" ? 0 : 1);
      const rights = (await product(id)).product_sales_rights;
      assertEquals(
        rights.map((one: Any) =>
          `${one.sales_rights_type} ${
            one.is_rest_of_world ? "world" : one.territory.countries_included
          }`
        ).sort(),
        edits === "protect" ? kept : taken,
      );
      const again = await org.put(`/api/products/${id}/sales-rights`, rights);
      assertEquals(again.status, 200, again.text);
    }
  }
});

const PRICE = (...more: string[]) =>
  `Price(PriceType=02 PriceAmount=7.99 CurrencyCode=GBP ${more.join(" ")})`;
const OURS = { price_type: "02", price_amount: 9.99, currency_code: "GBP" };
const FROM = (date: string) => `PriceDate(PriceDateRole=14 Date=${date})`;

/** The prices of a record, one that is written here, those of the next record, and whether two are told. */
// deno-fmt-ignore
const PRICES: [what: string, first: string, here: object | null, next: string, told: boolean][] = [
  ["the sender's could not be read", "Price(PriceType=02 PriceAmount=7.99 CurrencyCode=GBP Territory(CountriesIncluded=XX))",
    { ...OURS, territory: GB }, PRICE(), true],
  ["one was added here", PRICE(), OURS, PRICE("PriceIdentifier(PriceIDType=01 IDTypeName=ours IDValue=1)"), true],
  ["of a part of its country", PRICE("Territory(CountriesIncluded=GB)"), { ...OURS, territory: { regions_included: ["GB-SCT"] } }, PRICE("Territory(CountriesIncluded=\"GB IE\")"), true],
  ["both are the sender's", PRICE(), null, PRICE() + PRICE(), true],
  ["of an excluded country", PRICE(), { ...OURS, territory: GB }, PRICE("Territory(RegionsIncluded=WORLD CountriesExcluded=GB)"), false],
  ["of another country", PRICE(), { ...OURS, territory: { countries_included: ["FR"] } }, PRICE("Territory(CountriesIncluded=GB)"), false],
  ["of another currency", PRICE(), { ...OURS, currency_code: "EUR" }, PRICE("DiscountCoded(DiscountCodeType=05 DiscountCode=A)"), false],
  ["of another type", PRICE(), { ...OURS, price_type: "01" }, PRICE("DiscountCoded(DiscountCodeType=05 DiscountCode=A)"), false],
  ["of another time", PRICE(), { ...OURS, valid_from: "2027-03-01" }, PRICE(FROM("20270201")), false],
  ["the next takes its place", PRICE(FROM("20270101")), null, PRICE() + PRICE(FROM("20270201")), false],
  ["under another condition", PRICE(), OURS, PRICE("PriceCondition(PriceConditionType=01)"), false],
];

it("two prices of one type, currency, country and time are told", async ({ org, onix, product }) => {
  for (const [what, first, here, next, told] of PRICES) {
    const reference = `prices ${what}`;
    const text = (prices: string, title: string) =>
      message(
        record({ reference, title, isbn: null })
          .replace(/<Price>[^]*<\/Price>/, xml(prices)),
      );
    const { outcomes: [{ id }] } = await onix.report(text(first, "One"));
    const { product_territories } = await product(id);
    if (here) product_territories[0].supply_details[0].prices.push(here);
    const put = await org.put(
      `/api/products/${id}/territories`,
      product_territories,
    );
    assertEquals(put.status, 200, put.text);

    const report = await onix.report(text(next, "Two"));

    const { messages } = report.outcomes[0];
    const [{ supply_details: [{ prices }] }] = (await product(id)).product_territories;
    assertEquals(prices.length, here || told ? 2 : prices.length, what);
    assertEquals(codes({ messages }), told ? ["two_prices"] : [], what);
    const alone = await onix.report(text(next, "Three"));
    assertEquals(codes(alone.outcomes[0]), told ? ["two_prices"] : [], what);
  }
});

/** What a place of dates is for a test: one date in JSON, or none. */
interface Place {
  what: string;
  element: (date: string) => string;
  at: RegExp;
  /** Where the body with what is edited goes, and which array of the product it is. */
  path: string;
  array: string;
  /** The dates there now, and what writes one. */
  shown: (product: Any) => string[];
  edit: (product: Any) => void;
  /** The first dates of the sender, if not all of them leave something to edit. */
  firsts?: string[];
}

/** A format stands in an attribute, or in an element that 3.1 does not have. */
const WAYS = IS_WHOLE ? 2 : 1;

const OUR_DAY = "2027-03-05";
const DAY = "Date=20270304";
const MONTHS = ["Date[dateformat=01]=202703", "DateFormat=01 Date=202703"].slice(0, WAYS);

/** A place with an array of dates. */
function datesAt(
  what: string,
  element: Place["element"],
  at: RegExp,
  path: string,
  array: string,
  role: object,
  datesOf: (product: Any) => Any[],
): Place {
  return {
    ...{ what, element, at, path, array },
    shown: (product) => datesOf(product).map(({ date }) => date),
    edit(product) {
      const dates = datesOf(product);
      if (dates.length > 0) dates[0].date = OUR_DAY;
      else dates.push({ ...role, date: OUR_DAY });
    },
  };
}

/** A place with a field of its own. */
function fieldAt(
  what: string,
  element: Place["element"],
  at: RegExp,
  path: string,
  array: string,
  name: string,
  entryOf: (product: Any) => Any,
): Place {
  return {
    ...{ what, element, at, path, array },
    shown: (product) => [entryOf(product)?.[name]].filter((date) => typeof date === "string"),
    edit: (product) => void (entryOf(product)[name] = OUR_DAY),
  };
}

const supplyOf = ({ product_territories: [market] }: Any) => market.supply_details[0];
const priceOf = (product: Any) => supplyOf(product).prices[0];
const citationOf = ({ collateral }: Any) => collateral[0];
const SUPPLIES = ["/territories", "product_territories"] as const;
const CITED = "CitedContentType=01 SourceTitle=Gazette";

/** A span that begins with a date, in the format of both. */
function spanFrom(date: string): string {
  const form = date.replace(/(dateformat)=01/i, "$1=07").replace(/^Date=/, "Date[dateformat=06]=");
  return form + (/\d{8}$/.test(date) ? "20270930" : "202709");
}

/** Where a record has dates beside that of its publication. */
// deno-fmt-ignore
const PLACES: Place[] = [
  datesAt("market", (date) => `MarketPublishingDetail(MarketPublishingStatus=04 MarketDate(MarketDateRole=01 ${date}))`, /<SupplyDetail>/,
    ...SUPPLIES, { market_date_role: "01" }, ({ product_territories: [market] }) => market.market_publishing_detail.market_dates),
  datesAt("supply", (date) => `SupplyDate(SupplyDateRole=08 ${date})`, /<Price>/,
    ...SUPPLIES, { supply_date_role: "08" }, (product) => supplyOf(product).supply_dates),
  // A price of which it is not known when it is valid is none.
  { ...fieldAt("price from", (date) => `PriceDate(PriceDateRole=14 ${date})`, /<\/Price>/, ...SUPPLIES, "valid_from", priceOf), firsts: [DAY] },
  { ...fieldAt("price to", (date) => `PriceDate(PriceDateRole=15 ${date})`, /<\/Price>/, ...SUPPLIES, "valid_to", priceOf), firsts: [DAY] },
  fieldAt("price within", (date) => `PriceDate(PriceDateRole=24 ${spanFrom(date)})`, /<\/Price>/, ...SUPPLIES, "valid_from", priceOf),
  // Neither is a citation whose day is not known.
  {
    ...fieldAt("citation", (date) => `CollateralDetail(CitedContent(${CITED} ContentDate(ContentDateRole=01 ${date})))`, /<PublishingDetail>/,
      "", "collateral", "publication_date", citationOf),
    firsts: [DAY],
  },
  {
    ...datesAt("publishing", (date) => `PublishingDate(PublishingDateRole=19 ${date})`, /<\/PublishingDetail>/, "", "publishing_dates",
      {}, ({ publishing_dates }) => publishing_dates.filter((one: Any) => one.publishing_date_role === "19")),
    edit: (product) => product.publishing_dates = [{ publishing_date_role: "19", date: OUR_DAY }],
  },
];

const NEXT_DAY = "Date=20270406";
const NEXT_MONTHS = ["Date[dateformat=01]=202704", "DateFormat=01 Date=202704"].slice(0, WAYS);

/** The dates of two records, between which one is written here. */
function formsOf(firsts: string[] = [DAY, ...MONTHS]) {
  return firsts.flatMap((first) =>
    [NEXT_DAY, ...NEXT_MONTHS].map((next) => [first, next] as const)
  );
}

it("a date and its form are one value, wherever it stands", async ({ org, onix, product }) => {
  for (const { what, element, at, path, array, shown, edit, firsts } of PLACES) {
    for (const [first, next] of formsOf(firsts)) {
      for (const edits of Object.keys(CONFLICT)) {
        const name = `${what}, ${first}, ${next}, ${edits}`;
        const text = (date: string, title: string, reference = name) =>
          message(
            record({ reference, title, isbn: null })
              .replace(at, xml(element(date)) + "$&"),
          );
        const datesOf = async (id: string) => shown(await product(id));
        const { outcomes: [{ id }] } = await onix.report(text(first, "One"));
        const before = await product(id);
        const isKnown = shown(before).length > 0;
        edit(before);
        const put = await org.put(
          `/api/products/${id}${path}`,
          path ? before[array] : { [array]: before[array] },
        );
        assertEquals(put.status, 200, name + put.text);
        const ours = await datesOf(id);
        assertEquals(ours, [OUR_DAY], name);
        const own = await onix.xml(`/${id}`);
        assertEquals(own.includes("<Date>20270305</Date>"), true, name);

        await onix.report(text(first, "Two"));
        assertEquals(await datesOf(id), ours, name);
        const { updated, outcomes } = await onix.report(
          text(next, "Three"),
          `?edits=${edits}`,
        );

        assertEquals(updated, 1, name + JSON.stringify(outcomes));
        const { outcomes: [{ id: other }] } = await onix.report(
          text(next, "Three", `${name} alone`),
        );
        const theirs = await datesOf(other);
        // A month that no field holds changes nothing there.
        const isUnread = !isKnown && theirs.length === 0 &&
          edits !== "overwrite";
        const expected = edits === "protect" || isUnread ? ours : theirs;
        assertEquals(
          await datesOf(id),
          expected,
          name + JSON.stringify(outcomes),
        );
        assertEquals(
          (await onix.report(text(next, "Three"))).unchanged,
          1,
          name,
        );
        const sent = await onix.xml(`/${id}`);
        for (const date of expected) {
          const digits = date.replaceAll("-", "");
          // A span says it in the form of its sender.
          const isSent = what === "price within" && expected === theirs
            ? sent.includes(`>${digits.slice(0, 6)}`)
            : sent.includes(`>${digits}<`);
          assertEquals(isSent, true, name);
        }
      }
    }
  }
});

/** The dates that no field holds, and what stands beside each of them and is edited here. */
// deno-fmt-ignore
const KEPT: [what: string, element: (date: string) => string, at: RegExp, edited: string, edit: (product: Any) => Any][] = [
  ["birth", (date) => `ContributorDate(ContributorDateRole=50 ${date})`, /<\/Contributor>/, "<ContributorRole>B01</ContributorRole>",
    ({ contributors }) => ({ contributors: [...contributors, { ...contributors[0], contributor_role_id: undefined, contributor_role_code: "B01" }] })],
  ["death", (date) => `ContributorDate(ContributorDateRole=51 ${date})`, /<\/Contributor>/, ">Ours<", () => ({ title: "Ours" })],
  ["a text", (date) => `CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=Theirs ContentDate(ContentDateRole=01 ${date})))`, /<PublishingDetail>/, ">Ours<",
    ({ collateral: [text] }) => ({ collateral: [{ ...text, text: "Ours" }] })],
  ["the first day of a text", (date) => `CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=Theirs ContentDate(ContentDateRole=14 ${date})))`, /<PublishingDetail>/, ">Ours<",
    ({ collateral: [text] }) => ({ collateral: [{ ...text, text: "Ours" }] })],
  ["a file", (date) => `CollateralDetail(SupportingResource(ResourceContentType=15 ContentAudience=00 ResourceMode=03 ResourceVersion(ResourceForm=01 ResourceLink=https://files.example/1 ContentDate(ContentDateRole=17 ${date}))))`,
    /<PublishingDetail>/, "<ContentAudience>03</ContentAudience>",
    ({ supporting_resources: [file] }) => ({ supporting_resources: [{ ...file, content_audience: ["03"] }] })],
];

it("a date that no field holds goes out as its sender said it last", async ({ org, onix, product }) => {
  for (const [what, element, at, edited, edit] of KEPT) {
    for (const [first, next] of formsOf()) {
      for (const edits of Object.keys(CONFLICT)) {
        const name = `${what}, ${first}, ${next}, ${edits}`;
        const text = (date: string) =>
          message(
            record({ reference: name, isbn: null })
              .replace(at, xml(element(date)) + "$&"),
          );
        const { outcomes: [{ id }] } = await onix.report(text(first));
        const put = await org.put(`/api/products/${id}`, edit(await product(id)));
        assertEquals(put.status, 200, name + put.text);
        const digits = (form: string) => `>${form.slice(form.lastIndexOf("=") + 1)}<`;
        const own = await onix.xml(`/${id}`);
        assertEquals([own.includes(digits(first)), own.includes(edited)], [true, true], name + own);

        const { updated, outcomes } = await onix.report(text(next), `?edits=${edits}`);

        assertEquals([updated, codes(outcomes[0])], [1, []], name + JSON.stringify(outcomes));
        const sent = await onix.xml(`/${id}`);
        assertEquals(
          [digits(first), digits(next), edited].map((one) => sent.includes(one)),
          [false, true, edits !== "overwrite"],
          name + sent,
        );
      }
    }
  }
});

/** Prices of one supply, as the sender numbers them and as they are written here. */
const amounts = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Arrays that a record and people here fill together. */
// deno-fmt-ignore
const FULL: [what: string, path: string, array: string, element: (numbers: number[]) => string, at: RegExp,
  entriesOf: (product: Any) => Any[], entry: (number: number) => object][] = [
  ["prices", "/territories", "product_territories",
    (all) => all.map((n) => `Price(PriceType=02 MinimumOrderQuantity=${n} PriceAmount=9 CurrencyCode=GBP)`).join(" "), /<Price>[^]*<\/Price>/,
    (product) => supplyOf(product).prices, (n) => ({ price_type: "02", minimum_order_quantity: n, price_amount: 8, currency_code: "GBP" })],
  ["texts", "", "collateral",
    (all) => `CollateralDetail(${all.map((n) => `TextContent(TextType=06 ContentAudience=00 Text=Review${n})`).join(" ")})`, /(?=<PublishingDetail>)/,
    ({ collateral }) => collateral, (n) => ({ collateral_type: "text_content", text_type: "06", content_audience: ["00"], text: `Ours ${n}` })],
  ["rights", "/sales-rights", "product_sales_rights",
    (all) => all.map((n) => `SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB) PublisherName=Theirs${n})`).join(" "), /(?=<\/PublishingDetail>)/,
    ({ product_sales_rights }) => product_sales_rights, (n) => ({ sales_rights_type: "02", territory: GB, publisher_name: `Ours ${n}` })],
];

it("what both have is more than an array holds, which rejects the record alone", async ({ org, onix, product }) => {
  for (const [what, path, array, element, at, entriesOf, entry] of FULL) {
    const text = (numbers: number[], title: string) =>
      message(
        record({ reference: what, title, isbn: null })
          .replace(at, xml(element(numbers))),
        record({ reference: `beside ${what}`, title, isbn: null }),
      );
    const { outcomes: [{ id }] } = await onix.report(text(amounts(1, 300), "One"));
    const before = await product(id);
    entriesOf(before).push(...amounts(1001, 1200).map(entry));
    const put = await org.put(
      `/api/products/${id}${path}`,
      path ? before[array] : { [array]: before[array] },
    );
    assertEquals(put.status, 200, what + put.text);
    const full = await product(id);
    assertEquals(entriesOf(full).length, 500, what);

    for (const edits of ["keep", "protect"]) {
      const { outcomes, rejected, updated } = await onix.report(
        text(amounts(1, 301), edits),
        `?edits=${edits}`,
      );

      assertEquals([rejected, updated], [1, 1], JSON.stringify(outcomes));
      assertEquals(codes(outcomes[0]), ["too_many"], JSON.stringify(outcomes));
      assertEquals((await product(id))[array], full[array], what);
    }
    const { updated } = await onix.report(text(amounts(1, 301), "Three"), "?edits=overwrite");
    assertEquals(updated, 2, what);
    assertEquals(entriesOf(await product(id)).length, 301, what);
  }
});

/** A supply under the reference of its market. */
const MARKET = (country: string, amount: number) =>
  `ProductSupply(MarketReference=UK Market(Territory(CountriesIncluded=${country})) SupplyDetail(Supplier(SupplierRole=01 SupplierName=Quay) ProductAvailability=20 Price(PriceType=02 PriceAmount=${amount} CurrencyCode=GBP)))`;

it("markets of one reference are told apart by where they are", async ({ org, onix, product }) => {
  const write = async (
    reference: string,
    query: string,
    ...markets: [country: string, amount: number][]
  ) => {
    const supplies = xml(markets.map((market) => MARKET(...market)).join(" "));
    const whole = message(
      record({ reference, isbn: null }).replace(/<ProductSupply>[^]*<\/ProductSupply>/, supplies),
    );
    const { outcomes: [outcome] } = await onix.report(
      whole.replace('release="3.0"', 'release="3.1"').replace("onix/3.0", "onix/3.1"),
      query,
    );
    return outcome;
  };
  const amountsOf = async (id: string) =>
    (await product(id)).product_territories.map(({ market_reference, markets, ...rest }: Any) => {
      const [{ prices: [{ price_amount }] }] = rest.supply_details;
      return [market_reference, markets[0].territory.countries_included[0], price_amount].join(" ");
    }).sort();
  const edit = async (id: string, change: (territories: Any[]) => void) => {
    const { product_territories } = await product(id);
    change(product_territories);
    const put = await org.put(`/api/products/${id}/territories`, product_territories);
    assertEquals(put.status, 200, put.text);
  };
  for (const [edits, [conflict]] of Object.entries(CONFLICT)) {
    const query = `?edits=${edits}`;
    const isLost = edits === "overwrite";
    // The sender has two.
    const { id } = await write(`two ${edits}`, "", ["GB", 1], ["IE", 2]);
    await edit(id, (all) => all[1].supply_details[0].prices[0].price_amount = 20);
    await write(`two ${edits}`, query, ["GB", 3], ["IE", 2]);
    assertEquals(await amountsOf(id), ["UK GB 3", `UK IE ${isLost ? 2 : 20}`], edits);

    // One of two is added here, and then by the sender.
    const { id: other } = await write(`one ${edits}`, "", ["GB", 1]);
    await edit(other, (all) => {
      const withoutIds = (name: string, value: unknown) => name === "id" ? undefined : value;
      const copy = JSON.parse(JSON.stringify(all[0], withoutIds));
      copy.markets = [{ territory: { countries_included: ["IE"] } }];
      copy.supply_details[0].prices[0].price_amount = 20;
      all.push(copy);
    });
    await write(`one ${edits}`, query, ["GB", 3]);
    assertEquals(await amountsOf(other), ["UK GB 3", ...isLost ? [] : ["UK IE 20"]], edits);
    const { outcome, messages } = await write(`one ${edits}`, query, ["GB", 3], ["IE", 2]);
    assertEquals(codes({ messages }), conflict ? [conflict] : [], edits);
    assertEquals(outcome, edits === "protect" ? "unchanged" : "updated", edits);
    assertEquals(await amountsOf(other), ["UK GB 3", `UK IE ${edits === "protect" ? 20 : 2}`]);
    // In ONIX, a reference is unique in its record.
    const sent = await onix.xml(`/${other}?release=3.1`);
    assertEquals(sent.match(/<MarketReference>|<CountriesIncluded>../g), [
      "<MarketReference>",
      "<CountriesIncluded>GB",
      "<CountriesIncluded>IE",
    ]);
  }
});
