import { assertEquals } from "@std/assert";
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

/** Where a record has dates beside that of its publication, and the dates of the same place in JSON. */
// deno-fmt-ignore
const PLACES: [what: string, element: (date: string) => string, at: RegExp, role: object, datesOf: (product: Any) => Any[] | undefined][] = [
  ["market", (date) => `MarketPublishingDetail(MarketPublishingStatus=04 MarketDate(MarketDateRole=01 ${date}))`, /<SupplyDetail>/, { market_date_role: "01" },
    ({ product_territories: [market] }) => market.market_publishing_detail?.market_dates],
  ["supply", (date) => `SupplyDate(SupplyDateRole=08 ${date})`, /<Price>/, { supply_date_role: "08" },
    ({ product_territories: [{ supply_details: [supply] }] }) => supply.supply_dates],
  ["publishing", (date) => `PublishingDate(PublishingDateRole=19 ${date})`, /<\/PublishingDetail>/, { publishing_date_role: "19" },
    ({ publishing_dates }) => publishing_dates.filter((one: Any) => one.publishing_date_role === "19")],
];

const DAY = "Date=20270304";
const MONTH = "Date[dateformat=01]=202703";
const NEXT_DAY = "Date=20270406";
const NEXT_MONTH = "Date[dateformat=01]=202704";

/** The dates of two records, between which one is written here. */
const FORMS = [DAY, MONTH].flatMap((first) =>
  [NEXT_DAY, NEXT_MONTH].map((next) => [first, next] as const)
);

it("the date of a market, of a supply or of publishing is one value in each form", async ({ org, onix, product }) => {
  for (const [what, element, at, role, datesOf] of PLACES) {
    for (const [first, next] of FORMS) {
      for (const edits of Object.keys(CONFLICT)) {
        const name = `${what}, ${first}, ${next}, ${edits}`;
        const text = (date: string, title: string, reference = name) =>
          message(
            record({ reference, title, isbn: null })
              .replace(at, xml(element(date)) + "$&"),
          );
        const shown = async (id: string) =>
          datesOf(await product(id))?.map(({ date }) => date) ?? [];
        const { outcomes: [{ id }] } = await onix.report(text(first, "One"));
        const before = await product(id);
        const dates = datesOf(before);
        if (!dates) throw new Error(`${name}: no place for dates`);
        const isKnown = dates.length > 0;
        if (isKnown) dates[0].date = "2027-03-05";
        else dates.push({ ...role, date: "2027-03-05" });
        const { product_territories, publishing_dates } = before;
        const put = what === "publishing"
          ? await org.put(`/api/products/${id}`, { publishing_dates })
          : await org.put(
            `/api/products/${id}/territories`,
            product_territories,
          );
        assertEquals(put.status, 200, name + put.text);
        const ours = await shown(id);
        assertEquals(ours, ["2027-03-05"], name);

        await onix.report(text(first, "Two"));
        assertEquals(await shown(id), ours, name);
        const { updated, outcomes } = await onix.report(
          text(next, "Three"),
          `?edits=${edits}`,
        );

        assertEquals(updated, 1, name + JSON.stringify(outcomes));
        const { outcomes: [{ id: other }] } = await onix.report(
          text(next, "Three", `${name} alone`),
        );
        const theirs = await shown(other);
        // A month that no field of a market holds changes nothing there.
        const isUnread = !isKnown && theirs.length === 0 &&
          edits !== "overwrite";
        const expected = edits === "protect" || isUnread ? ours : theirs;
        assertEquals(
          await shown(id),
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
          assertEquals(
            sent.includes(`>${date.replaceAll("-", "")}<`),
            true,
            name,
          );
        }
      }
    }
  }
});
