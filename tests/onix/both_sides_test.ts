import { assertEquals } from "@std/assert";
import { IS_WHOLE } from "../support/app/sample.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { message, record } from "../support/data/onix.ts";
import { xml } from "./records.ts";

/* Merges in which incoming and local values are each valid, but not both together. */

// deno-lint-ignore no-explicit-any
type Any = any;

const it = onixTestsOf("A merge of incoming and local values");

const codes = ({ messages }: Any) => messages.map(({ code }: Any) => code);

/** The codes of messages about a conflict, by mode. */
const CONFLICT = {
  keep: ["edit_overwritten"],
  protect: ["edit_kept"],
  overwrite: [],
};

const GB = { countries_included: ["GB"] };
const ROW = { sales_rights_type: "03", is_rest_of_world: true };

/** Entries of a record, the edit of one, the entries that replace it, and what of the edit is then found. */
// deno-fmt-ignore
const REPLACED: [what: string, block: string, first: string, edit: [path: string, (product: Any) => unknown], next: string, found: boolean][] = [
  ["a right by one of another type", "PublishingDetail", "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", RIGHT_OF_OURS(),
    "SalesRights(SalesRightsType=03 Territory(CountriesIncluded=GB))", false],
  ["a right with a publisher by one of another type", "PublishingDetail", "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB) PublisherName=Quay)", RIGHT_OF_OURS(),
    "SalesRights(SalesRightsType=03 Territory(CountriesIncluded=GB) PublisherName=Quay)", false],
  ["a right by one of elsewhere", "PublishingDetail", "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", RIGHT_OF_OURS(),
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=US))", false],
  ["a right that gets one more country", "PublishingDetail", "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", RIGHT_OF_OURS(),
    `SalesRights(SalesRightsType=01 Territory(CountriesIncluded="GB IE"))`, true],
  ["a prize by another", "CollateralDetail", "Prize(PrizeName=Anchor)", PRIZE_OF_OURS(), "Prize(PrizeName=Buoy)", false],
  ["a prize whose name is corrected", "CollateralDetail", "Prize(PrizeName=Anchr PrizeYear=2026)", PRIZE_OF_OURS(), "Prize(PrizeName=Anchor PrizeYear=2026)", true],
];

function RIGHT_OF_OURS(): [string, (product: Any) => unknown] {
  return [
    "/sales-rights",
    ({ product_sales_rights: [right] }) => [{ ...right, publisher_name: "Ours" }],
  ];
}

function PRIZE_OF_OURS(): [string, (product: Any) => unknown] {
  return ["", ({ collateral: [prize] }) => ({ collateral: [{ ...prize, prize_jury: "Ours" }] })];
}

it("an edit stays with its entry, and never moves to one that replaces it", async ({ org, onix, product }) => {
  for (const [what, block, first, [path, edit], next, found] of REPLACED) {
    const text = (entries: string) => {
      const whole = record({ reference: what, isbn: null });
      const added = whole.includes(`</${block}>`)
        ? whole.replace(`</${block}>`, xml(entries) + "$&")
        : whole.replace("<PublishingDetail>", `${xml(`${block}(${entries})`)}$&`);
      return message(added);
    };
    const { outcomes: [{ id }] } = await onix.report(text(first));
    const put = await org.put(`/api/products/${id}${path}`, edit(await product(id)));
    assertEquals(put.status, 200, put.text);

    const report = await onix.report(text(next));

    assertEquals(codes(report.outcomes[0]), found ? [] : ["edit_overwritten"], what);
    const { product_sales_rights, collateral } = await product(id);
    const shown = JSON.stringify([product_sales_rights, collateral]);
    assertEquals(shown.includes("Ours"), found, what);
  }
});

/** Base, local edit and incoming rights, and the rights after the merge with `protect` and with `keep`. */
// deno-fmt-ignore
const RIGHTS: [first: string, local: (rights: Any[]) => object[], next: string, kept: string[], taken: string[]][] = [
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", (rights) => [...rights, ROW],
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=02", ["01 GB", "03 world"], ["01 GB", "02 world"]],
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", ([right]) => [{ ...right, territory: null, is_rest_of_world: true }],
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=02", ["01 world"], ["01 GB", "02 world"]],
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB))", ([right]) => [{ ...right, sales_rights_type: "02" }],
    "SalesRights(SalesRightsType=03 Territory(CountriesIncluded=GB))", ["02 GB"], ["03 GB"]],
  ["SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=01", ([right, rest]) => [right, { ...rest, sales_rights_type: "02" }],
    "SalesRights(SalesRightsType=01 Territory(CountriesIncluded=GB)) ROWSalesRightsType=03", ["01 GB", "02 world"], ["01 GB", "03 world"]],
];

it("one right alone is of the rest of the world, or of a territory", async ({ org, onix, product }) => {
  for (const [first, local, next, kept, taken] of RIGHTS) {
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
        local(product_sales_rights),
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

/** Base prices, a local one, incoming prices, and whether a warning reports two rival ones. */
// deno-fmt-ignore
const PRICES: [what: string, first: string, local: object | null, next: string, told: boolean][] = [
  ["the sender's could not be read", "Price(PriceType=02 PriceAmount=7.99 CurrencyCode=GBP Territory(CountriesIncluded=XX))",
    { ...OURS, territory: GB }, PRICE(), true],
  ["one was added locally", PRICE(), OURS, PRICE("PriceIdentifier(PriceIDType=01 IDTypeName=ours IDValue=1)"), true],
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
  for (const [what, first, local, next, told] of PRICES) {
    const reference = `prices ${what}`;
    const text = (prices: string, title: string) =>
      message(
        record({ reference, title, isbn: null })
          .replace(/<Price>[^]*<\/Price>/, xml(prices)),
      );
    const { outcomes: [{ id }] } = await onix.report(text(first, "One"));
    const { product_territories } = await product(id);
    if (local) product_territories[0].supply_details[0].prices.push(local);
    const put = await org.put(
      `/api/products/${id}/territories`,
      product_territories,
    );
    assertEquals(put.status, 200, put.text);

    const report = await onix.report(text(next, "Two"));

    const { messages } = report.outcomes[0];
    const [{ supply_details: [{ prices }] }] = (await product(id)).product_territories;
    assertEquals(prices.length, local || told ? 2 : prices.length, what);
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

/** Base and incoming dates, and a local one that is written between them. */
function formsOf(firsts: string[] = [DAY, ...MONTHS]) {
  return firsts.flatMap((first) =>
    [NEXT_DAY, ...NEXT_MONTHS].map((next) => [first, next] as const)
  );
}

it("a date and its form are one value, wherever it stands", async ({ org, onix, product }) => {
  for (const edits of Object.keys(CONFLICT)) {
    const cases = PLACES.flatMap((place) =>
      formsOf(place.firsts).map(([first, next]) => ({
        ...place,
        ...{ first, next, name: `${place.what}, ${first}, ${next}, ${edits}` },
      }))
    );
    const text = (which: "first" | "next", title: string, alone = "") =>
      message(...cases.map((one) =>
        record({ reference: one.name + alone, title, isbn: null })
          .replace(one.at, xml(one.element(one[which])) + "$&")
      ));
    const { outcomes: created } = await onix.report(text("first", "One"));
    const isCached: boolean[] = [];
    for (const [i, { name, path, array, shown, edit }] of cases.entries()) {
      const { id } = created[i];
      const before = await product(id);
      isCached.push(shown(before).length > 0);
      edit(before);
      const put = await org.put(
        `/api/products/${id}${path}`,
        path ? before[array] : { [array]: before[array] },
      );
      assertEquals(put.status, 200, name + put.text);
      assertEquals(shown(await product(id)), [OUR_DAY], name);
      const own = await onix.xml(`/${id}`);
      assertEquals(own.includes("<Date>20270305</Date>"), true, name);
    }

    await onix.report(text("first", "Two"));
    for (const [i, { name, shown }] of cases.entries()) {
      assertEquals(shown(await product(created[i].id)), [OUR_DAY], name);
    }
    const { outcomes } = await onix.report(text("next", "Three"), `?edits=${edits}`);

    const { outcomes: alone } = await onix.report(text("next", "Three", " alone"));
    for (const [i, { what, name, shown }] of cases.entries()) {
      const { id } = created[i];
      const told = name + JSON.stringify(outcomes[i]);
      assertEquals([outcomes[i].id, outcomes[i].outcome], [id, "updated"], told);
      const theirs = shown(await product(alone[i].id));
      // A month that no field holds changes nothing there.
      const isUnread = !isCached[i] && theirs.length === 0 && edits !== "overwrite";
      const expected = edits === "protect" || isUnread ? [OUR_DAY] : theirs;
      assertEquals(shown(await product(id)), expected, told);
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
    const { unchanged, outcomes: repeated } = await onix.report(text("next", "Three"));
    assertEquals(unchanged, cases.length, JSON.stringify(repeated));
  }
});

/** Dates without a field, and the local edit beside each of them. */
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
  for (const edits of Object.keys(CONFLICT)) {
    const cases = KEPT.flatMap(([what, element, at, edited, edit]) =>
      formsOf().map(([first, next]) => ({
        ...{ element, at, edited, edit, first, next },
        name: `${what}, ${first}, ${next}, ${edits}`,
      }))
    );
    const text = (which: "first" | "next") =>
      message(...cases.map((one) =>
        record({ reference: one.name, isbn: null })
          .replace(one.at, xml(one.element(one[which])) + "$&")
      ));
    const digits = (form: string) => `>${form.slice(form.lastIndexOf("=") + 1)}<`;
    const { outcomes: created } = await onix.report(text("first"));
    for (const [i, { name, first, edited, edit }] of cases.entries()) {
      const { id } = created[i];
      const put = await org.put(`/api/products/${id}`, edit(await product(id)));
      assertEquals(put.status, 200, name + put.text);
      const own = await onix.xml(`/${id}`);
      assertEquals([own.includes(digits(first)), own.includes(edited)], [true, true], name + own);
    }

    const { outcomes } = await onix.report(text("next"), `?edits=${edits}`);

    for (const [i, { name, first, next, edited }] of cases.entries()) {
      const { id } = created[i];
      const told = [outcomes[i].id, outcomes[i].outcome, codes(outcomes[i])];
      assertEquals(told, [id, "updated", []], name + JSON.stringify(outcomes[i]));
      const sent = await onix.xml(`/${id}`);
      assertEquals(
        [digits(first), digits(next), edited].map((one) => sent.includes(one)),
        [false, true, edits !== "overwrite"],
        name + sent,
      );
    }
  }
});

/** Prices of one supply: incoming ones with the sender's numbers, and local ones. */
const amounts = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Arrays with incoming and local entries. */
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

/** Supplies of a first record, the block that takes a market away, and the suppliers that are left. */
// deno-fmt-ignore
const REMOVED: Record<string, [first: string[], block: string, left: string[]]> = {
  "by its reference alone": [["GB", "DE"], "ProductSupply(MarketReference=DE)", ["GB"]],
  "with its market": [["GB", "DE"], "ProductSupply(MarketReference=DE Market(Territory(CountriesIncluded=DE)))", ["GB"]],
  "which is the only one": [["DE"], "ProductSupply(MarketReference=DE)", []],
  "which nobody has": [["GB"], "ProductSupply(MarketReference=FR)", ["GB"]],
  "by an empty supply": [["GB", "DE"], "ProductSupply(MarketReference=DE SupplyDetail())", ["GB"]],
  "by a supply of nothing": [["GB", "DE"], "ProductSupply(MarketReference=DE SupplyDetail(Supplier(SupplierName=)))", ["GB"]],
  "of all, by an empty block": [["GB", "DE"], "ProductSupply()", []],
};

it("a market that the sender takes away has no supply, in any release", async ({ org, onix, product }) => {
  const supply = (country: string) =>
    `ProductSupply(MarketReference=${country} Market(Territory(CountriesIncluded=${country})) SupplyDetail(Supplier(SupplierRole=01 SupplierName="Quay ${country}") ProductAvailability=20 Price(PriceType=02 PriceAmount=10 CurrencyCode=EUR)))`;
  for (const [what, [first, block, left]] of Object.entries(REMOVED)) {
    for (const type of ["04", "03"]) {
      const reference = `${what} ${type}`;
      const text = (notification: string, supplies: string) =>
        message(
          record({ reference, isbn: null, notification })
            .replace(/<ProductSupply>[^]*<\/ProductSupply>/, xml(supplies)),
        ).replace('release="3.0"', 'release="3.1"').replace("onix/3.0", "onix/3.1");
      const { outcomes: [{ id }] } = await onix.report(text("03", first.map(supply).join(" ")));
      // A full record repeats what is left.
      const repeated = type === "03" ? left.map(supply) : [];

      const { outcomes } = await onix.report(text(type, [...repeated, block].join(" ")));

      assertEquals(outcomes.flatMap(codes), [], reference);
      const { product_territories } = await product(id);
      assertEquals(product_territories.map((one: Any) => one.market_reference), left, reference);
      // A user who empties a market takes it away, too.
      const emptied = [...product_territories, {
        market_reference: "AT",
        markets: [{ territory: { countries_included: ["AT"] } }],
        supply_details: [],
      }];
      const put = await org.put(`/api/products/${id}/territories`, emptied);
      assertEquals(put.status, 200, put.text);
      for (const release of ["3.0", "3.1"]) {
        const sent = await onix.xml(`/${id}?release=${release}`);
        assertEquals(
          Array.from(sent.matchAll(/<SupplierName>Quay (\w+)|<SupplierName>/g), ([, name]) => name),
          left,
          `${reference} ${release}`,
        );
      }
    }
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

    // One of two is added locally, and then by the sender.
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
