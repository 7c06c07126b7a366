import { assert, assertEquals } from "@std/assert";
import * as v from "valibot";
import { CreateProduct, pathBody } from "../../schema/bodies.ts";
import type { Fields } from "../../schema/fields.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { ARRAYS, SCALARS } from "../../schema/product.ts";
import { type App, openApp } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { onixClient } from "../support/client/onix.ts";
import { fullBody } from "../support/data/bodies.ts";
import { productsIn } from "../support/data/onix.ts";
import { TREE, withoutIds } from "../support/data/rights_tree.ts";
import { type Any, variationsOf, varied } from "../support/data/varied.ts";
import { writeRecord, written } from "./support.ts";

/*
 * Merges of every field that a record can contain: changed by the sender (incoming), by a user
 * (local), by both or by neither, in each of the three modes. The fields and their values are
 * generated from the description of products. Expected values come from two other organizations: one
 * that only imports the message, and one that only edits.
 */

const CHANGES = ["incoming", "local", "both", "neither"] as const;
const MODES = ["keep", "protect", "overwrite"] as const;

/** One field with the two values that it gets. */
interface Case {
  name: string;
  /** Writes the value with this index into a body. */
  apply(body: Any, index: number): Any;
  /** Whether sender and editors can write different values. */
  hasTwo: boolean;
}

/** An organization, with records that products refer to by name. */
interface Scene {
  app: App;
  org: Organization;
  onix: ReturnType<typeof onixClient>;
}

/** The fields that the record does not say beside others, with the reasons. */
const UNSAID = new Set([
  // It follows from the first front cover.
  "cover_image_url",
  // The first supply has prices.
  "product_territories/0/supply_details/0/unpriced_item_type",
  // Countries that are included have no others taken out of them.
  "product_territories/0/supply_details/0/prices/0/territory/countries_excluded",
  "product_sales_rights/0/territory/countries_excluded",
  // All countries are of the world: those that are taken out of it are said alone.
  "product_territories/0/markets/0/territory/countries_included",
  // The rest of the world has no territory: a case of its own.
  "product_sales_rights/0/is_rest_of_world",
]);

const TERRITORY = {
  countries_included: ["GB", "IE"],
  countries_excluded: [],
  regions_included: [],
  regions_excluded: ["GB-NIR"],
};

const WORLD = {
  countries_included: [],
  countries_excluded: ["US"],
  regions_included: ["WORLD"],
  regions_excluded: [],
};

Deno.test("Every edit stays, or is told", async (t) => {
  await using app = await openApp();
  // Nothing of it is shared: a change is one.
  const body = JSON.parse(JSON.stringify(await bodyOf(app)));
  const all = casesOf(body);
  assert(all.length > 100, `${all.length} cases`);
  const cases = IS_WHOLE ? all : all.filter((_, i) => i % 3 === 0);
  const base = body;
  const records = cases.map((one) => one.apply(body, 0));

  await t.step("and every case changes its record", async () => {
    const [plain, ...others] = productsIn(await messageOf([base, ...records]));
    const unsaid = cases.filter((_, i) => others[i]!.replace(`edit.${i + 1}`, "edit.0") === plain);
    assertEquals(unsaid.map(({ name }) => name), []);
  });

  // What the messages alone, and what the edits alone make of the products.
  const sent = await scene(app);
  const ofSender = await importedBy(sent, records);
  const edited = await scene(app);
  const ofEditors = await importedBy(edited, cases.map(() => base));
  const ofNeither = await shownOf(edited, ofEditors[0]!);
  for (const [i, one] of cases.entries()) {
    await edit(edited, ofEditors[i]!, one);
  }

  const known = new Map<string, unknown[]>();
  const expectedOf = async (scene: Scene, id: string) => {
    const shown = known.get(id) ?? await shownOf(scene, id);
    known.set(id, shown);
    return shown;
  };

  const steps = CHANGES.flatMap((change) => MODES.map((mode) => [change, mode] as const));
  for (const [at, [change, mode]] of steps.entries()) {
    await t.step(`${change}, edits=${mode}`, async () => {
      const isLocal = change === "local" || change === "both";
      const isSent = change === "incoming" || change === "both";
      const chosen = cases.map((_, i) => i).filter((i) =>
        (IS_WHOLE || i % steps.length === at) &&
        (change !== "both" || cases[i]!.hasTwo)
      );
      const own = await scene(app);
      const ids = await importedBy(own, chosen.map(() => base));
      if (isLocal) {
        for (const [k, i] of chosen.entries()) {
          await edit(own, ids[k]!, cases[i]!);
        }
      }
      const next = await messageOf(
        chosen.map((i) => isSent ? records[i] : base),
      );
      const query = `?edits=${mode}`;

      const dry = await own.onix.report(next, `${query}&dry_run=true`);
      const report = await own.onix.report(next, query);

      assertEquals(dry.outcomes, report.outcomes);
      const isOurs = isLocal && mode !== "overwrite" &&
        (change === "local" || mode === "protect");
      const told = change === "both" && mode !== "overwrite"
        ? [mode === "protect" ? "edit_kept" : "edit_overwritten"]
        : [];
      const wrong: unknown[] = [];
      for (const [k, i] of chosen.entries()) {
        const codes = report.outcomes
          .find(({ id }: { id: string }) => id === ids[k])?.messages
          .map(({ code }: { code: string }) => code)
          .filter((code: string) => code.startsWith("edit_")) ?? [];
        const expected = isOurs
          ? await expectedOf(edited, ofEditors[i]!)
          : isSent
          ? await expectedOf(sent, ofSender[i]!)
          : ofNeither;
        const differing = difference(
          [told, ...expected],
          [codes, ...await shownOf(own, ids[k]!)],
        );
        if (differing) wrong.push([cases[i]!.name, differing]);
      }
      assertEquals(wrong, []);
      assertEquals((await own.onix.report(next)).unchanged, chosen.length);
    });
  }
});

/** A body with a value in every field that a record says, with the arrays of paths of their own. */
async function bodyOf(app: App): Promise<Any> {
  const { isbn13: _, isbn10: _10, cover_image_url: _url, ...body } = await fullBody(
    app,
    await app.organization(),
  ) as Any;
  const [territory] = withoutIds(TREE) as Any[];
  const [market] = territory.markets;
  const [supply] = territory.supply_details;
  const [price] = supply.prices;
  market.territory = WORLD;
  price.territory = TERRITORY;
  const taxes = price.taxes.slice(0, 1);
  supply.prices = [
    { ...price, taxes },
    { ...price, taxes, currency_code: "EUR" },
  ];
  territory.market_publishing_detail.market_dates[1].date = "2026-02-03";
  // A year may announce the publication, where the day is not known.
  body.publishing_dates[0].date = "1815-12-01";
  return {
    ...withoutReferences(body),
    publisher_name: "Gamma publishers",
    imprint_name: "Gamma imprints",
    format_name: "Gamma formats",
    publishing_status_code: "04",
    ...by("Gamma", "A01"),
    ...within("Gamma", "3"),
    product_territories: [
      {
        ...territory,
        markets: [market],
        supply_details: [supply, {
          ...supply,
          supplier: { supplier_role: "03", supplier_name: "Quay Wholesale" },
        }],
      },
      {
        ...territory,
        market_reference: "US",
        markets: [{ territory: { ...TERRITORY, countries_included: ["US"] } }],
      },
    ],
    product_sales_rights: [
      {
        sales_rights_type: "01",
        territory: TERRITORY,
        publisher_name: "Harbour Press",
      },
      {
        sales_rights_type: "02",
        territory: { ...TERRITORY, countries_included: ["US"] },
      },
    ],
  };
}

/** The body without ids of records, and without what no record says. */
function withoutReferences(body: Any): Any {
  const {
    product_prices: _prices,
    packing_configurations: _packing,
    custom_fields: _custom,
    contributors: _contributors,
    product_collections: _collections,
    product_type: _type,
    ...rest
  } = body;
  return Object.fromEntries(
    Object.entries(rest).filter(([name]) => !name.endsWith("_id")),
  );
}

const Territories = pathBody(ARRAYS.product_territories);
const SalesRights = pathBody(ARRAYS.product_sales_rights);

function isValid({ product_territories, product_sales_rights, ...body }: Any) {
  return v.is(CreateProduct, body) && v.is(Territories, product_territories) &&
    v.is(SalesRights, product_sales_rights);
}

function casesOf(body: Any): Case[] {
  const fields = { ...SCALARS, ...ARRAYS } as Fields;
  const ofFields = variationsOf(fields, body, isValid)
    .filter(({ path, values }) => values.length > 0 && !UNSAID.has(path))
    .map((variation): Case => ({
      name: variation.path,
      apply: (body, index) =>
        varied(body, variation, variation.values[index] ?? variation.values[0]),
      hasTwo: variation.values.length === 2,
    }));
  const removed = Object.keys(body).filter((name) => Array.isArray(body[name]))
    .map((name): Case => ({
      name: `${name}: an entry less`,
      apply: (body) => ({ ...body, [name]: body[name].slice(1) }),
      hasTwo: false,
    }));
  return [...ofFields, ...removed, ...LINKED];
}

/** The contributor of a product. */
const by = (name: string, contributor_role_code: string) => ({
  contributors: [{
    contributor_name: `${name} contributors`,
    contributor_role_code,
  }],
});

/** The collection of a product. */
const within = (name: string, part_number: string | null) => ({
  product_collections: [{
    collection_name: `${name} collections`,
    part_number,
  }],
});

/** What products refer to, by names: two other values of each. */
const REFERENCES: Record<string, [object, object]> = {
  "publisher": [
    { publisher_name: "Alpha publishers" },
    { publisher_name: "Beta publishers" },
  ],
  "imprint": [
    { imprint_name: "Alpha imprints" },
    { imprint_name: "Beta imprints" },
  ],
  "format": [
    { format_name: "Alpha formats" },
    { format_name: "Beta formats" },
  ],
  "publishing status": [
    { publishing_status_code: "02" },
    { publishing_status_code: "07" },
  ],
  "contributor": [by("Alpha", "A01"), by("Beta", "A01")],
  "role": [by("Gamma", "A12"), by("Gamma", "B01")],
  "collection": [within("Alpha", null), within("Beta", null)],
};

/** The product forms of the formats. */
const FORMS: Record<string, string> = { Alpha: "BB", Beta: "BH", Gamma: "BC" };

/** The rest of the world, and what products refer to. */
const LINKED: Case[] = [
  {
    name: "product_sales_rights/1/is_rest_of_world",
    apply: ({ product_sales_rights: [first, last], ...body }) => ({
      ...body,
      product_sales_rights: [
        first,
        { ...last, is_rest_of_world: true, territory: null },
      ],
    }),
    hasTwo: false,
  },
  ...Object.entries(REFERENCES).map(([name, values]): Case => ({
    name,
    apply: (body, index) => ({ ...body, ...values[index] }),
    hasTwo: true,
  })),
];

async function scene(app: App): Promise<Scene> {
  const org = await app.organization();
  const tables = "publishers imprints contributors collections formats";
  for (const table of tables.split(" ")) {
    for (const [name, form] of Object.entries(FORMS)) {
      const { status, text } = await org.post(`/api/${table}`, {
        name: `${name} ${table}`,
        ...table === "formats" && { product_form_id: idOfCode("150", form) },
      });
      assertEquals(status, 201, text);
    }
  }
  return { app, org, onix: onixClient(app, org) };
}

/** The product that a service would have of a body, as ONIX sends it. */
function bookOf(body: Any, reference: string) {
  return {
    product: {
      ...body,
      id: "0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
      product_code: "-",
      publisher_id: body.publisher_name,
      imprint_id: body.imprint_name,
      product_form_id: idOfCode("150", FORMS[body.format_name.split(" ")[0]]!),
      contributors: body.contributors.map((row: Any) => ({
        ...row,
        contributor_id: row.contributor_name,
      })),
      collections: body.product_collections.map((
        { collection_name: name }: Any,
      ) => ({ id: name, name })),
      product_collections: body.product_collections.map((row: Any) => ({
        ...row,
        collection_id: row.collection_name,
      })),
    },
    contributors: Object.fromEntries(
      body.contributors.map(({ contributor_name: name }: Any) => [
        name,
        { id: name, name },
      ]),
    ),
    identifiers: { publisher: [], imprint: [] },
    organization: "Harbour Press",
    reference,
  };
}

async function messageOf(bodies: readonly Any[]): Promise<string> {
  const records = bodies.map((body, i) =>
    writeRecord(bookOf(body, `edit.${i}`), null, "3.1").record
  );
  return await written(records, "3.1");
}

async function put(org: Organization, path: string, body: unknown) {
  const { status, text } = await org.put(path, body);
  assertEquals(status, 200, text);
}

/** Imports the records, each as a product. Returns the ids. */
async function importedBy(
  { onix }: Scene,
  records: readonly Any[],
): Promise<string[]> {
  const ids: string[] = [];
  const { outcomes, created } = await onix.report(await messageOf(records));
  assertEquals(created, records.length, JSON.stringify(outcomes));
  for (const { id } of outcomes) ids.push(id);
  return ids;
}

/** Changes the local value of the field, as an editor does. */
async function edit({ org }: Scene, id: string, one: Case): Promise<void> {
  const product = (await org.get(`/api/products/${id}`)).body.data;
  const changed = one.apply(product, 1);
  const isOf = (name: string) => JSON.stringify(changed[name]) !== JSON.stringify(product[name]);
  const names = Object.keys(changed).filter(isOf);
  assert(names.length > 0, `${one.name} changes nothing`);
  for (const name of names) {
    const paths: Record<string, string> = {
      product_territories: "/territories",
      product_sales_rights: "/sales-rights",
    };
    const path = `/api/products/${id}${paths[name] ?? ""}`;
    await put(
      org,
      path,
      paths[name] ? changed[name] : { [name]: changed[name] },
    );
  }
}

/** What a product shows and sends, without ids and times. */
async function shownOf(
  { app, org: { key } }: Scene,
  id: string,
): Promise<unknown[]> {
  // Thousands of responses: other tests compare theirs with the OpenAPI document.
  const get = async (path: string) => {
    const request = new Request(`http://catalogue.test${path}`, {
      headers: { "x-api-key": key },
    });
    return await (await app.handler(request)).text();
  };
  const { data } = JSON.parse(await get(`/api/products/${id}`));
  const shown = JSON.stringify(
    data,
    (name, value) => /(^|_)ids?$|_at$|^product_code$/.test(name) ? undefined : value,
  );
  const [record] = productsIn(await get(`/api/onix/products/${id}`));
  return [
    JSON.parse(shown),
    record!.replace(/<RecordReference>[^<]*/, "")
      .replace(/(<IDTypeName>product_code[\s\S]*?<IDValue>)[^<]*/, "$1-"),
  ];
}

/** The first lines in which two values differ. */
function difference(expected: unknown[], is: unknown[]): string | undefined {
  const [wanted, found] = [expected, is].map((value) =>
    JSON.stringify(value, null, 1).replaceAll("\\n", "\n").split("\n")
  ) as [string[], string[]];
  const at = wanted.findIndex((line, i) => line !== found[i]);
  if (at < 0) return;
  return `${wanted.slice(at, at + 3)} but ${found.slice(at, at + 3)}`;
}
