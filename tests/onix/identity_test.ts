import { assert, assertEquals } from "@std/assert";
import * as v from "valibot";
import { pathBody } from "../../schema/bodies.ts";
import type { Fields, Rows } from "../../schema/fields.ts";
import { ARRAYS } from "../../schema/product.ts";
import { copyOf, type Element, element } from "../../features/onix/schema/xml/element.ts";
import { COLLATERAL } from "../support/data/bodies.ts";
import { TREE, withoutIds } from "../support/data/rights_tree.ts";
import { type Any, variationsOf, varied } from "../support/data/varied.ts";
import {
  type Imported,
  imported,
  leavesOf,
  message,
  recordsOf,
  without,
  writeRecord,
} from "./support.ts";
import { BOOK } from "./records.ts";

/*
 * An entry that keeps its id keeps its element, and all in it that no field holds, whatever
 * is changed in it. The kinds of rows and their fields follow from the description.
 */

/** What no field holds of each kind of row, by its composite. */
const EXTRAS: Record<string, () => Element> = {
  Market: () => element("SalesRestriction", [element("SalesRestrictionType", "04")]),
  MarketPublishingDetail: () => element("PromotionCampaign", "Posters"),
  SupplyDetail: () =>
    element("ReturnsConditions", [
      element("ReturnsCodeType", "04"),
      element("ReturnsCode", "03"),
    ]),
  Price: () =>
    element("DiscountCoded", [
      element("DiscountCodeType", "05"),
      element("DiscountCode", "TRADE"),
    ]),
  SalesRights: () => element("SalesRestriction", [element("SalesRestrictionType", "06")]),
  TextContent: () => element("ReviewRating", [element("Rating", "4")]),
  CitedContent: () => element("ListName", "Books of the year"),
  Prize: () => element("PrizeRegion", "GB-SCT"),
};

const ROWS = {
  product_territories: ARRAYS.product_territories,
  product_sales_rights: ARRAYS.product_sales_rights,
  collateral: ARRAYS.collateral,
};

/** A record with these rows and what no field holds of each. */
async function received(rows: Any): Promise<Imported> {
  const { header, records: [plain] } = await recordsOf(message(BOOK));
  const { book } = imported(plain!, header);
  Object.assign(book.product, rows);
  const { record } = writeRecord(book, null, "3.1");
  return imported(withExtras(copyOf(record)), header);
}

function withExtras(each: Element): Element {
  const extra = EXTRAS[each.name]?.();
  each.children = [...each.children.map(withExtras), ...extra ? [extra] : []];
  return each;
}

/** The leaves of a record in what no field holds. */
function extrasIn(leaves: string[]): string[] {
  const names = Object.values(EXTRAS).map((made) => made().name);
  return leaves.filter((leaf) => names.some((name) => leaf.includes(`/${name}`)));
}

/** The leaves of the record as it goes out of the product. */
function sentOf({ book, received }: Imported, change: (product: Any) => Any) {
  const product = change(structuredClone(book.product));
  return leavesOf(writeRecord({ ...book, product }, received, "3.1").record);
}

const TERRITORY = {
  countries_included: ["GB"],
  countries_excluded: [],
  regions_included: [],
  regions_excluded: ["GB-NIR"],
};

/** Two rows of every kind, with a value in every field. */
function rowsOf(): Any {
  const [territory] = withoutIds(TREE) as Any[];
  const [supply] = territory.supply_details;
  const [price] = supply.prices;
  const prices = [price, { ...price, currency_code: "EUR" }].map((price) => ({
    ...price,
    territory: TERRITORY,
    taxes: price.taxes.slice(0, 1),
  }));
  territory.markets = [
    { territory: TERRITORY },
    { territory: { ...TERRITORY, countries_included: ["IE"] } },
  ];
  territory.supply_details = [
    { ...supply, prices },
    {
      ...supply,
      prices,
      supplier: { supplier_role: "03", supplier_name: "Quay Wholesale" },
    },
  ];
  const [text, cited, prize] = COLLATERAL;
  return JSON.parse(JSON.stringify({
    product_territories: [
      territory,
      { ...territory, market_reference: "US" },
    ],
    product_sales_rights: [
      { sales_rights_type: "01", territory: TERRITORY, publisher_name: "Quay" },
      {
        sales_rights_type: "02",
        territory: { ...TERRITORY, countries_included: ["IE"] },
      },
    ],
    collateral: [
      text,
      { ...text, language: "fre" },
      cited,
      { ...cited, source_title: "The Gazette" },
      prize,
      { ...prize, prize_name: "Another" },
    ],
  }));
}

const BODIES: Record<string, v.GenericSchema> = {
  product_territories: pathBody(ARRAYS.product_territories),
  product_sales_rights: pathBody(ARRAYS.product_sales_rights),
  collateral: v.array(v.unknown()),
};

Deno.test("An entry that keeps its id keeps its element", async (t) => {
  const before = await received(rowsOf());
  const unchanged = sentOf(before, (product) => product);
  const extras = extrasIn(unchanged);

  await t.step("of every kind, in which something is not held", () => {
    const kinds = new Set(kindsIn(ROWS as Fields));
    assertEquals(
      [...kinds].filter((kind) => !(kind in EXTRAS) && kind !== "ProductSupply"),
      [],
    );
    assert(extras.length > 20);
  });

  const variations = variationsOf(
    ROWS as Fields,
    before.book.product,
    (product) => Object.entries(BODIES).every(([name, body]) => v.is(body, product[name])),
  );

  await t.step("whichever of its fields is changed", () => {
    assert(variations.length > 45, `${variations.length}`);
    const wrong = variations.flatMap((variation) =>
      variation.values.flatMap((value) => {
        const leaves = sentOf(
          before,
          (product) => varied(product, variation, value),
        );
        // A region is a part of its country (`rules/dependents.ts`).
        const gone = without(extras, extrasIn(leaves))
          .filter((leaf) => !variation.path.endsWith("prize_country") || !/PrizeRegion/.test(leaf));
        return gone.length > 0 ? [[variation.path, value, gone]] : [];
      })
    );
    assertEquals(wrong, []);
  });

  await t.step("also where it gets the key of another", () => {
    const leaves = sentOf(before, (product) => {
      const [{ supply_details: [one, two] }] = product.product_territories;
      [one.supplier, two.supplier] = [two.supplier, one.supplier];
      const [{ prices: [pound, euro] }] = [one];
      pound.currency_code = "EUR";
      euro.currency_code = "USD";
      return product;
    });
    assertEquals(without(extras, extrasIn(leaves)), []);
  });

  await t.step(
    "and one without an id and with another key has a new one",
    () => {
      const rowPaths = [
        "product_territories/0/markets/0",
        "product_territories/0/supply_details/0",
        "product_territories/0/supply_details/0/prices/0",
        "product_sales_rights/0",
        "collateral/0",
        "collateral/2",
        "collateral/4",
      ];
      for (const path of rowPaths) {
        const leaves = sentOf(before, (product) => {
          const own = variations.filter((one) => one.path.startsWith(`${path}/`));
          const changed = own.reduce(
            (product, variation) => varied(product, variation, variation.values[0]),
            product,
          );
          return varied(changed, { path: `${path}/id` }, undefined);
        });
        const gone = without(extras, extrasIn(leaves));
        assert(gone.length > 0, `${path}: ${gone}`);
      }
    },
  );
});

/** The composites of every kind of row. */
function kindsIn(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, field]): string[] => {
    if (field.kind === "group") return kindsIn(field.fields);
    if (field.kind !== "rows" || (field as Rows).isIdHidden) return [];
    const own = field.types
      ? Object.values(field.types).map(({ element }) => element)
      : [field.about?.element ?? name];
    return [...own, ...kindsIn(field.fields)];
  });
}

Deno.test("What a product refers to", async (t) => {
  const extra = (record: string) =>
    record
      .replace(
        "<ImprintName>",
        "<ImprintIdentifier><ImprintIDType>01</ImprintIDType><IDTypeName>ours</IDTypeName><IDValue>I9</IDValue></ImprintIdentifier><ImprintName>",
      )
      .replace(
        "<PublisherName>",
        "<PublisherIdentifier><PublisherIDType>06</PublisherIDType><IDValue>9780000000019</IDValue></PublisherIdentifier><PublisherName>",
      )
      .replace(
        "<CollectionType>10</CollectionType>",
        "<CollectionType>10</CollectionType><CollectionIdentifier><CollectionIDType>02</CollectionIDType><IDValue>12345678</IDValue></CollectionIdentifier>",
      );
  const { header, records: [record] } = await recordsOf(message(extra(BOOK)));
  const before = imported(record!, header);
  const left = (change: (product: Any, book: Any) => void) => {
    const book = structuredClone(before.book) as Any;
    change(book.product, book);
    const sent = (book: Any) => leavesOf(writeRecord(book, before.received, "3.1").record);
    const [is, was] = [sent(book), sent(before.book)];
    return { gone: without(was, is), added: without(is, was) };
  };
  const detail = "/Product/PublishingDetail";
  const description = "/Product/DescriptiveDetail";

  await t.step("keeps its identifiers when it is renamed", () => {
    const { gone, added } = left((product) => {
      product.publisher_name = "New Press";
      product.imprint_name = "New Light";
      product.collections[0].name = "New Classics";
    });
    assertEquals(added, [
      `${description}/Collection/TitleDetail/TitleElement/TitleText = New Classics`,
      `${detail}/Imprint/ImprintName = New Light`,
      `${detail}/Publisher/PublisherName = New Press`,
    ]);
    assert(!gone.some((leaf) => /Identifier/.test(leaf)), `${gone}`);
  });

  await t.step("leaves them behind when it is replaced", () => {
    const { gone } = left((product, book) => {
      book.identifiers = { publisher: [], imprint: [] };
      product.publisher_id = product.publisher_name = "Quay Press";
      product.imprint_id = product.imprint_name = "Quay Light";
      const [collection] = product.collections;
      collection.id = collection.name = "Quay Classics";
      product.product_collections[0].collection_id = "Quay Classics";
    });
    for (const name of ["Publisher", "Imprint"]) {
      const path = `${detail}/${name}/${name}Identifier/IDValue`;
      assert(gone.some((leaf) => leaf.startsWith(path)), `${gone}`);
    }
    assert(gone.some((leaf) => leaf.includes("CollectionIdentifier")));
  });

  await t.step("but another person has nothing of the first", () => {
    const { gone } = left((product, { contributors }) => {
      for (const row of product.contributors.slice(0, 2)) {
        row.contributor_id = row.contributor_name = "Bo Lamp";
      }
      contributors["Bo Lamp"] = { id: "Bo Lamp", name: "Bo Lamp" };
    });
    const lost = ["Website", "NameIdentifier", "KeyNames", "BiographicalNote"];
    for (const name of lost) {
      assert(gone.some((leaf) => leaf.includes(`/${name}`)), name);
    }
  });
});
