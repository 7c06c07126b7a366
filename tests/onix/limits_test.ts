import { assertEquals } from "@std/assert";
import type { Element } from "../../schema/onix/xml/element.ts";
import { least } from "./records.ts";
import {
  imported,
  leavesOf,
  message,
  notSentOf,
  recordsOf,
  writeRecord,
} from "./support.ts";

/*
 * Never more than the sender said: what loses a part that limits it is kept in the record
 * alone. Each case names the part that cannot be read, and what must not be said without it.
 */

interface Case {
  name: string;
  rest: string;
  /** The code and the path of the one warning. */
  says: string;
  /** What neither JSON nor a message may have. */
  gone: RegExp;
  /** What both have beside it. */
  stays?: RegExp;
}

const territory = (codes: string) => `<Territory>${codes}</Territory>`;
const WORLD = "<RegionsIncluded>WORLD</RegionsIncluded>";

const price = (parts: string, amount = "12.34") =>
  `<Price>${
    parts.includes("<PriceType>") ? "" : "<PriceType>02</PriceType>"
  }${parts}<PriceAmount>${amount}</PriceAmount></Price>`;

const supply = (prices: string, market = "") =>
  `<ProductSupply>${market}<SupplyDetail><Supplier><SupplierRole>01</SupplierRole><SupplierName>S</SupplierName></Supplier><ProductAvailability>20</ProductAvailability>${prices}</SupplyDetail></ProductSupply>`;

const rights = (...parts: string[]) =>
  `<PublishingDetail>${parts.join("")}</PublishingDetail>`;

const right = (type: string, codes: string) =>
  `<SalesRights><SalesRightsType>${type}</SalesRightsType>${
    territory(codes)
  }</SalesRights>`;

const PRICE = "/Product/ProductSupply/SupplyDetail/Price";

/** A price that lacks a part goes alone; the other one stays. */
function ofPrice(name: string, parts: string, says: string): Case {
  return {
    name: `a price with ${name}`,
    rest: supply(price(parts) + price("", "77.7")),
    says: says.replace("/Price", `${PRICE}[1]`),
    gone: /12\.34/,
    stays: /77\.7/,
  };
}

const CASES: Case[] = [
  ofPrice(
    "an unknown country that is excluded",
    territory(`${WORLD}<CountriesExcluded>US XZ</CountriesExcluded>`),
    "invalid_code /Price/Territory/CountriesExcluded",
  ),
  ofPrice(
    "an unknown region",
    territory("<RegionsIncluded>XX-9</RegionsIncluded>"),
    "invalid_code /Price/Territory/RegionsIncluded",
  ),
  ofPrice(
    "an element in its territory that ONIX lacks",
    territory(`${WORLD}<CountryNotIncluded>GB</CountryNotIncluded>`),
    "unknown_element /Price/Territory/CountryNotIncluded",
  ),
  ofPrice(
    "an unknown currency",
    "<CurrencyCode>EURO</CurrencyCode>",
    "invalid_code /Price/CurrencyCode",
  ),
  ofPrice(
    "an unknown type",
    "<PriceType>98</PriceType>",
    "invalid_code /Price/PriceType",
  ),
  ofPrice(
    "an unknown qualifier",
    "<PriceQualifier>98</PriceQualifier>",
    "invalid_code /Price/PriceQualifier",
  ),
  ofPrice(
    "an unknown condition",
    "<PriceCondition><PriceConditionType>98</PriceConditionType></PriceCondition>",
    "invalid_code /Price/PriceCondition/PriceConditionType",
  ),
  ofPrice(
    "a minimum order that is no number",
    "<MinimumOrderQuantity>ten</MinimumOrderQuantity>",
    "invalid_number /Price/MinimumOrderQuantity",
  ),
  ofPrice(
    "a last day that is a month",
    '<PriceDate><PriceDateRole>15</PriceDateRole><Date dateformat="01">202612</Date></PriceDate>',
    "imprecise_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a first day that is a span",
    '<PriceDate><PriceDateRole>14</PriceDateRole><Date dateformat="06">2026010120260331</Date></PriceDate>',
    "invalid_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a day that no month has",
    "<PriceDate><PriceDateRole>15</PriceDateRole><Date>20260231</Date></PriceDate>",
    "invalid_date /Price/PriceDate/Date",
  ),
  ofPrice(
    "a date of another calendar",
    '<PriceDate><PriceDateRole>15</PriceDateRole><Date dateformat="20">14470920</Date></PriceDate>',
    "other_calendar /Price/PriceDate/Date",
  ),
  ofPrice(
    "a date of an unknown role",
    "<PriceDate><PriceDateRole>98</PriceDateRole><Date>20260301</Date></PriceDate>",
    "invalid_code /Price/PriceDate/PriceDateRole",
  ),
  {
    name: "the only market of a supply",
    rest: supply(
      price(""),
      `<Market>${
        territory("<CountriesIncluded>XZ</CountriesIncluded>")
      }</Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market/Territory/CountriesIncluded",
    gone: /12\.34/,
  },
  {
    name: "one of two markets",
    rest: supply(
      price(""),
      `<Market>${
        territory("<CountriesIncluded>XZ AT</CountriesIncluded>")
      }</Market><Market>${
        territory("<CountriesIncluded>CH</CountriesIncluded>")
      }</Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market[1]/Territory/CountriesIncluded",
    gone: /\bAT\b/,
    stays: /\bCH\b[^]*12\.34/,
  },
  {
    name: "a market with an unknown restriction",
    rest: supply(
      price(""),
      `<Market>${
        territory(WORLD)
      }<SalesRestriction><SalesRestrictionType>98</SalesRestrictionType></SalesRestriction></Market>`,
    ),
    says:
      "invalid_code /Product/ProductSupply/Market/SalesRestriction/SalesRestrictionType",
    gone: /12\.34|WORLD/,
  },
  {
    name: "rights of which one has an unknown country",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      right("02", "<CountriesIncluded>XZ</CountriesIncluded>"),
      "<ROWSalesRightsType>03</ROWSalesRightsType>",
    ),
    says:
      "invalid_code /Product/PublishingDetail/SalesRights[2]/Territory/CountriesIncluded",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights whose rest of the world is unknown",
    rest: rights(
      right("01", "<CountriesIncluded>AT</CountriesIncluded>"),
      "<ROWSalesRightsType>98</ROWSalesRightsType>",
    ),
    says: "invalid_code /Product/PublishingDetail/ROWSalesRightsType",
    gone: /SalesRightsType|sales_rights_type|\bAT\b/,
  },
  {
    name: "rights with an unknown restriction beside them",
    rest: rights(
      right("01", WORLD),
      "<SalesRestriction><SalesRestrictionType>98</SalesRestrictionType></SalesRestriction>",
    ),
    says:
      "invalid_code /Product/PublishingDetail/SalesRestriction/SalesRestrictionType",
    gone: /SalesRightsType|sales_rights_type|WORLD/,
  },
  {
    name: "a text for an unknown audience",
    rest:
      "<CollateralDetail><TextContent><TextType>03</TextType><ContentAudience>03</ContentAudience><ContentAudience>98</ContentAudience><Text>For librarians</Text></TextContent><TextContent><TextType>02</TextType><ContentAudience>00</ContentAudience><Text>For all</Text></TextContent></CollateralDetail>",
    says:
      "invalid_code /Product/CollateralDetail/TextContent[1]/ContentAudience[2]",
    gone: /For librarians/,
    stays: /For all/,
  },
  {
    name: "a resource for an unknown audience",
    rest:
      "<CollateralDetail><SupportingResource><ResourceContentType>02</ResourceContentType><ContentAudience>98</ContentAudience><ResourceMode>03</ResourceMode><ResourceVersion><ResourceForm>01</ResourceForm><ResourceLink>https://secret.example/x.jpg</ResourceLink></ResourceVersion></SupportingResource></CollateralDetail>",
    says:
      "invalid_code /Product/CollateralDetail/SupportingResource/ContentAudience",
    gone: /secret\.example/,
  },
];

async function readOf(rest: string) {
  const { header, records: [record] } = await recordsOf(
    message(least("1", { rest })),
  );
  const { incoming, book, received } = imported(record!, header);
  const sent = writeRecord(book, received, "3.1").record;
  return { incoming, sent, record: incoming.record };
}

function textsOf(record: Element): string {
  return JSON.stringify(leavesOf(record));
}

Deno.test("Never more than the sender said", async (t) => {
  for (const { name, rest, says, gone, stays } of CASES) {
    await t.step(name, async () => {
      const { incoming, sent, record } = await readOf(rest);

      assertEquals(
        incoming.messages.map(({ code, path }) => `${code} ${path}`),
        [says],
      );
      const json = JSON.stringify([
        incoming.body,
        incoming.product_territories,
        incoming.product_sales_rights,
      ]);
      for (const shown of [json, textsOf(sent)]) {
        assertEquals(gone.exec(shown), null, shown);
        if (stays) assertEquals(stays.test(shown), true, shown);
      }
      assertEquals(gone.test(textsOf(record)), true, "The record keeps it");
      assertEquals(notSentOf(record, "3.1").length > 0, true);
    });
  }

  await t.step("a price for a time without a date", async () => {
    const { incoming, sent } = await readOf(
      supply(
        price("<PriceDate><PriceDateRole>14</PriceDateRole></PriceDate>") +
          price("", "77.7"),
      ),
    );
    for (const shown of [incoming.product_territories, textsOf(sent)]) {
      assertEquals(/12\.34/.test(JSON.stringify(shown)), false);
      assertEquals(/77\.7/.test(JSON.stringify(shown)), true);
    }
  });

  await t.step(
    "a supply that has lost all its prices is unpriced",
    async () => {
      const { sent } = await readOf(
        supply(price("<CurrencyCode>EURO</CurrencyCode>")),
      );
      assertEquals(/UnpricedItemType[^]*04/.test(textsOf(sent)), true);
    },
  );
});
