import { assertEquals } from "@std/assert";
import { RELEASES, TAGS } from "../../features/onix/schema/rules/releases.ts";
import { leastWith } from "./records.ts";
import { faultsOf, HAS_SCHEMAS } from "./schemas.ts";
import {
  imported,
  leavesOf,
  message,
  notSentOf,
  recordsOf,
  without,
  writeRecord,
  written,
} from "./support.ts";

/* What one release says and the other does not: where it goes, or what goes with it. */

const RIGHT = (type: string, territory = "CountriesIncluded=GB") =>
  `SalesRights(SalesRightsType=${type} Territory(${territory}))`;
const RESTRICTION =
  "SalesRestriction(SalesRestrictionType=04 SalesOutlet(SalesOutletName=Quay) EndDate=20270630)";
const SUPPLY =
  "SupplyDetail(Supplier(SupplierRole=01 SupplierName=S) ProductAvailability=20 Price(PriceType=02 PriceAmount=12 CurrencyCode=EUR))";
const MARKET = "Market(Territory(CountriesIncluded=GB))";

interface Case {
  forms: string[];
  /** The release that does not say it there. */
  release: typeof RELEASES[number];
  /** What messages of that release lack and have, and what `not_sent` has. Below `/Product/`. */
  gone?: RegExp;
  stays?: RegExp;
  added?: string[];
  notSent?: RegExp;
}

const PUBLISHING = "PublishingDetail/";

const CASES: Record<string, Case> = {
  "a restriction goes into the right of sale": {
    forms: [
      `PublishingDetail(${RIGHT("02", "RegionsIncluded=WORLD")} ${RESTRICTION})`,
    ],
    release: "3.1",
    added: [
      "EndDate = 20270630",
      "SalesOutlet/SalesOutletName = Quay",
      "SalesRestrictionType = 04",
    ]
      .map((leaf) => `${PUBLISHING}SalesRights/SalesRestriction/${leaf}`),
  },
  "into each right of sale, and into no other": {
    forms: [
      `PublishingDetail(${RIGHT("01")} ${RIGHT("02", "CountriesIncluded=IE")} ${
        RIGHT("03", "CountriesIncluded=US")
      } ROWSalesRightsType=03 SalesRestriction(SalesRestrictionType=04))`,
    ],
    release: "3.1",
    added: Array(2).fill(
      `${PUBLISHING}SalesRights/SalesRestriction/SalesRestrictionType = 04`,
    ),
  },
  "into those that say that one applies, if any does": {
    forms: [
      `PublishingDetail(${RIGHT("08")} ${
        RIGHT("02", "CountriesIncluded=IE")
      } ROWSalesRightsType=02 SalesRestriction(SalesRestrictionType=04))`,
    ],
    release: "3.1",
    added: [
      `${PUBLISHING}SalesRights/SalesRestriction/SalesRestrictionType = 04`,
    ],
  },
  "a right for the rest of the world has no place for it: none is sent": {
    forms: [
      `PublishingDetail(${
        RIGHT("03")
      } ROWSalesRightsType=01 SalesRestriction(SalesRestrictionType=04))`,
      `ProductSupply(${SUPPLY})`,
    ],
    release: "3.1",
    gone: /SalesRight|ProductSupply/,
    notSent: /SalesRightsType[^]*SalesRestrictionType[^]*PriceAmount/,
  },
  "without rights, into the markets": {
    forms: [
      `PublishingDetail(SalesRestriction(SalesRestrictionType=04))`,
      `ProductSupply(${MARKET} ${SUPPLY})`,
    ],
    release: "3.1",
    added: ["ProductSupply/Market/SalesRestriction/SalesRestrictionType = 04"],
  },
  "and a supply without one is not sent": {
    forms: [
      `PublishingDetail(SalesRestriction(SalesRestrictionType=04))`,
      `ProductSupply(${SUPPLY})`,
    ],
    release: "3.1",
    gone: /ProductSupply|SalesRestriction/,
    notSent: /SalesRestrictionType[^]*PriceAmount/,
  },
  "a restriction alone is told": {
    forms: [`PublishingDetail(SalesRestriction(SalesRestrictionType=04))`],
    release: "3.1",
    gone: /SalesRestriction/,
    notSent: /SalesRestrictionType/,
  },
  "a price of a zone, and a new edition": {
    forms: [
      `ProductSupply(${
        SUPPLY.replace("EUR", "EUR CurrencyZone=EUR").replace(
          /\)$/,
          " Reissue(ReissueDate=20270201))",
        )
      })`,
    ],
    release: "3.1",
    gone: /PriceAmount|Reissue/,
    stays: /UnpricedItemType = 04/,
    notSent: /PriceAmount[^]*ReissueDate/,
  },
  "the use of a text or a file": {
    forms: [
      "CollateralDetail(TextContent(TextType=03 ContentAudience=00 Text=Blurb EpubUsageConstraint(EpubUsageType=11 EpubUsageStatus=03)) SupportingResource(ResourceContentType=15 ContentAudience=00 ResourceMode=04 ResourceVersion(ResourceForm=02 ResourceLink=https://quay.example/1 EpubUsageConstraint(EpubUsageType=11 EpubUsageStatus=03))))",
    ],
    release: "3.0",
    gone: /CollateralDetail/,
  },
  "the level of a collection's identifier": {
    forms: [
      "Collection(CollectionType=10 CollectionIdentifier(CollectionElementLevel=03 CollectionIDType=02 IDValue=0001) TitleDetail(TitleType=01 TitleElement(TitleElementLevel=02 TitleText=Tales)))",
    ],
    release: "3.0",
    gone: /IDValue = 0001/,
    stays: /Tales/,
  },
};

Deno.test("What one release says and the other does not", async (t) => {
  for (
    const [name, { forms, release, gone, stays, added, notSent }] of Object
      .entries(CASES)
  ) {
    await t.step(name, async () => {
      const { header, records: [record] } = await recordsOf(
        message(leastWith(...forms)),
      );
      const { book, received, incoming } = imported(record!, header);
      assertEquals(incoming.messages, []);
      const own = RELEASES.find((each) => each !== release)!;
      const all = leavesOf(received.record);
      const [here, there] = [own, release].map((each) => writeRecord(book, received, each).record);
      assertEquals(without(all, leavesOf(here!)), [], "It goes out as it came");
      const leaves = leavesOf(there!);
      if (added) {
        assertEquals(
          without(leaves, leavesOf(here!)),
          added.map((leaf) => `/Product/${leaf}`),
        );
      }
      for (const [pattern, is] of [[gone, false], [stays, true]] as const) {
        if (pattern) {
          assertEquals(pattern.test(leaves.join("\n")), is, leaves.join("\n"));
        }
      }
      const told = notSentOf(received.record, "3.1").join("\n");
      assertEquals(notSent ? notSent.test(told) : told === "", true, told);
      if (!HAS_SCHEMAS) return;
      for (const each of RELEASES) {
        for (const tags of TAGS) {
          const text = await written(
            [writeRecord(book, received, each).record],
            each,
            tags,
          );
          assertEquals(await faultsOf(text, each, tags), "");
        }
      }
    });
  }
});

Deno.test("A price of one zone is none in JSON, and goes out in release 3.0", async () => {
  const price = (amount: string, zone = "") =>
    `Price(PriceType=02 PriceAmount=${amount} CurrencyCode=EUR${zone})`;
  const { header, records: [record] } = await recordsOf(message(leastWith(
    `ProductSupply(SupplyDetail(Supplier(SupplierRole=01 SupplierName=S) ProductAvailability=20 ${
      price("12", " CurrencyZone=EUR")
    } ${price("15")}))`,
  )));
  const { book, received, incoming } = imported(record!, header);
  const { product_territories } = incoming.values;
  assertEquals(
    /"price_amount":15/.test(JSON.stringify(product_territories)),
    true,
  );
  assertEquals(
    /"price_amount":12/.test(JSON.stringify(product_territories)),
    false,
  );
  assertEquals(
    incoming.unmapped.paths.includes(
      "/Product/ProductSupply/SupplyDetail/Price/PriceAmount",
    ),
    true,
  );
  // deno-lint-ignore no-explicit-any
  const [territory] = (book.product as any).product_territories;
  territory.supply_details[0].prices[0].price_amount = 16;
  const amounts = RELEASES.map((release) =>
    leavesOf(writeRecord(book, received, release).record)
      .filter((leaf) => leaf.includes("PriceAmount")).map((leaf) => leaf.slice(-2))
  );
  assertEquals(amounts, [["12", "16"], ["16"]]);
});
