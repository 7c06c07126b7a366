import { assert, assertEquals } from "@std/assert";
import * as v from "valibot";
import { outdatedFields, pathBody } from "../../schema/bodies.ts";
import { type Fields, keysOf, type Rows } from "../../schema/fields.ts";
import { ARRAYS } from "../../schema/product.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { onixTestsOf } from "../support/client/onix.ts";
import { COLLATERAL } from "../support/data/bodies.ts";
import { TREE, withoutIds } from "../support/data/rights_tree.ts";
import { type Any, variationsOf, varied } from "../support/data/varied.ts";
import { writeRecord, written } from "./support.ts";

/*
 * An edit stays with its row, or goes with it and is told. For every kind of row, and for
 * everything that tells rows of a kind apart, a product has two rows that differ in that
 * alone, of which the first is edited. Then its sender sends other rows.
 */

/** A kind of row, with its array in a product. */
interface Kind {
  path: string[];
  array: Fields;
  /** What tells its rows apart. */
  apart: readonly string[];
  key: readonly string[];
  row: Any;
}

const [TERRITORY] = withoutIds(TREE) as Any[];
const [SUPPLY] = TERRITORY.supply_details;
const [PRICE] = SUPPLY.prices;
const MARKET = {
  territory: { ...TERRITORY.markets[0].territory, regions_included: [] },
};
PRICE.taxes.splice(1);
PRICE.territory = MARKET.territory;
// No two rows may have the same one.
TERRITORY.market_reference = null;
SUPPLY.prices = [];
SUPPLY.unpriced_item_type = "02";
TERRITORY.supply_details = [structuredClone(SUPPLY)];
TERRITORY.markets = [MARKET];

/** A complete row of each kind. */
const COMPLETE: Record<string, Any> = {
  product_territories: TERRITORY,
  markets: MARKET,
  supply_details: SUPPLY,
  prices: PRICE,
  product_sales_rights: {
    sales_rights_type: "01",
    territory: MARKET.territory,
    publisher_name: "Quay",
  },
};

const RIGHTS = {
  product_territories: ARRAYS.product_territories,
  product_sales_rights: ARRAYS.product_sales_rights,
};

const KINDS: Kind[] = [
  ...kindsIn(RIGHTS, []),
  ...Object.entries(ARRAYS.collateral.types!).map(([type, array]): Kind => ({
    path: ["collateral"],
    array: array.fields,
    ...keysOf(array),
    row: COLLATERAL.find(({ collateral_type }) => collateral_type === type),
  })),
];

function kindsIn(fields: Fields, above: string[]): Kind[] {
  return Object.entries(fields).flatMap(([name, field]): Kind[] => {
    if (field.kind !== "rows" || field.isIdHidden) return [];
    const path = [...above, name];
    const row = COMPLETE[name];
    assert(row, `A complete row of ${name}`);
    return [
      { path, array: field.fields, ...keysOf(field as Rows), row },
      ...kindsIn(field.fields, [...path, "0"]),
    ];
  });
}

/** Two rows that one field tells apart, and what becomes of them. */
interface Pair {
  name: string;
  kind: Kind;
  a: Any;
  b: Any;
  /** A third one, if the field takes three values. */
  c?: Any;
  /** The first row after the edit, and after a change by the sender. */
  edited: Any;
  changed?: Any;
  /** The first row where the record is the whole truth. It says nothing of a name. */
  back: Any;
  /** The second row after a change by the sender. */
  other: Any;
}

/** The rows of a kind in a product that has nothing else. */
function productOf({ path }: Kind, rows: Any[]): Any {
  const product: Any = { title: "Rows" };
  const parents: Record<string, Any> = {
    product_territories: TERRITORY,
    supply_details: SUPPLY,
  };
  let at = product;
  for (const [i, step] of path.entries()) {
    if (step === "0") continue;
    const isLast = i === path.length - 1;
    at[step] = structuredClone(isLast ? rows : [parents[step]]);
    at = at[step][0];
    if (path[i + 2] === "prices") at.unpriced_item_type = null;
  }
  return product;
}

const SCHEMAS: Record<string, v.GenericSchema> = {
  product_territories: pathBody(ARRAYS.product_territories),
  product_sales_rights: pathBody(ARRAYS.product_sales_rights),
};

function casesOf(kind: Kind): Pair[] {
  const { path, array, key, apart, row } = kind;
  const variations = variationsOf(array, row, (changed) => {
    const schema = SCHEMAS[path[0]!];
    return !schema || v.is(schema, productOf(kind, [changed])[path[0]!]);
  });
  const ofField = (name: string) =>
    variations.filter(({ path, values }) =>
      `${path}/`.startsWith(`${name.replace(".", "/")}/`) && values.length > 0
    );
  const keyed = key.map((name) => name.split(".")[0]!);
  const fieldOf = ({ path }: { path: string }) => path.split("/")[0]!;
  const distinguishing = [...key, ...apart];
  return distinguishing.flatMap((name) => ofField(name).slice(0, 1)).map(
    (variation) => {
      const [b, c] = variation.values.map((one) => varied(row, variation, one));
      const others = variations.filter((one) =>
        fieldOf(one) !== fieldOf(variation) && !keyed.includes(fieldOf(one)) &&
        // Its first codes are of releases before 3.0.
        fieldOf(one) !== "text_format" && one.values.length === 2
      );
      const value = others.find((one) => !apart.includes(fieldOf(one))) ??
        others[0];
      const valued = (row: Any, index: number) =>
        value ? varied(row, value, value.values[index]) : row;
      const isCollateral = path[0] === "collateral";
      const type = isCollateral ? `.${row.collateral_type}` : "";
      const edited = value ? valued(row, 0) : { ...row, name: "Ours" };
      // An edit clears what was about the former value.
      const outdated = isCollateral ? outdatedFields(ARRAYS.collateral, row, edited) : [];
      return {
        name: `${path.filter((step) => step !== "0").join(".")}${type} by ${variation.path}`,
        kind,
        a: row,
        b,
        c,
        edited: { ...edited, ...Object.fromEntries(outdated.map((one) => [one, null])) },
        ...value && { changed: valued(row, 1) },
        back: value ? row : { ...row, name: "Ours" },
        other: valued(b, 1),
      };
    },
  );
}

const CASES = KINDS.flatMap(casesOf);

type Mode = "keep" | "protect" | "overwrite";

/** Incoming rows, local rows, and whether a conflict is reported. */
const CHANGES: Record<
  string,
  (rows: Pair) => {
    local?: Any[];
    sent: Any[];
    then: Record<Mode, Any[]>;
    isTold?: boolean;
  } | undefined
> = {
  dropped: ({ other, edited }) => ({
    sent: [other],
    then: { keep: [other], protect: [other, edited], overwrite: [other] },
    isTold: true,
  }),
  reordered: ({ a, b, edited, back }) => ({
    sent: [b, a],
    then: { keep: [b, edited], protect: [b, edited], overwrite: [b, back] },
  }),
  "added locally": ({ a, c, other, edited, back }) =>
    c && {
      local: [c],
      sent: [a, other],
      then: {
        keep: [edited, other, c],
        protect: [edited, other, c],
        overwrite: [back, other],
      },
    },
  "added by the sender": ({ a, b, c, edited, back }) =>
    c && {
      sent: [a, b, c],
      then: {
        keep: [edited, b, c],
        protect: [edited, b, c],
        overwrite: [back, b, c],
      },
    },
  "added on both sides": ({ a, b, c, edited, back }) =>
    c && {
      local: [c],
      sent: [a, b, c],
      then: {
        keep: [edited, b, c],
        protect: [edited, b, c],
        overwrite: [back, b, c],
      },
    },
  replaced: ({ name, b, c, edited }) =>
    c && {
      sent: [b, c],
      then: {
        keep: [b, c],
        // An edited right takes the place of one of another type: the two would contradict each other.
        protect: name === "product_sales_rights by sales_rights_type"
          ? [b, edited]
          : [b, c, edited],
        overwrite: [b, c],
      },
      isTold: true,
    },
  changed: ({ b, edited, changed }) =>
    changed && {
      sent: [changed, b],
      then: {
        keep: [changed, b],
        protect: [edited, b],
        overwrite: [changed, b],
      },
      isTold: true,
    },
};

const TOLD = { keep: "edit_overwritten", protect: "edit_kept" };

const PATHS: Record<string, string> = {
  product_territories: "/territories",
  product_sales_rights: "/sales-rights",
};

const it = onixTestsOf("An edit of a row stays with it");

const MODES = ["keep", "protect", "overwrite"] as const;

for (const [change, changeOf] of Object.entries(CHANGES)) {
  for (const [turn, mode] of MODES.entries()) {
    it(`where rows are ${change}, edits=${mode}`, async ({ org, onix, product }) => {
      const cases = CASES.flatMap((rows) => {
        const changed = changeOf(rows);
        return changed ? [{ ...rows, ...changed }] : [];
      }).filter((_, i) => IS_WHOLE || i % MODES.length === turn);
      assert(cases.length > 2);
      const first = await messageOf(
        cases.map(({ kind, a, b }) => productOf(kind, [a, b])),
      );
      const { outcomes } = await onix.report(first);
      const ids = outcomes.map(({ id }: { id: string }) => id);
      for (const [i, { kind, edited, local = [] }] of cases.entries()) {
        const [root] = kind.path as [string];
        const whole = await product(ids[i]);
        const rows = rowsIn(whole, kind);
        Object.assign(rows[0], withoutLabels(edited));
        (rows[0].collateral_type ? whole[root] : rows).push(...local);
        const { status, text } = await org.put(
          `/api/products/${ids[i]}${PATHS[root] ?? ""}`,
          PATHS[root] ? whole[root] : { [root]: whole[root] },
        );
        assertEquals(status, 200, text);
      }

      const report = await onix.report(
        await messageOf(cases.map(({ kind, sent }) => productOf(kind, sent))),
        `?edits=${mode}`,
      );

      const wrong: unknown[] = [];
      for (const [i, { name, kind, then, isTold }] of cases.entries()) {
        const { messages } = report.outcomes.find(({ id }: Any) => id === ids[i]) ??
          { messages: [] };
        const expected = isTold && mode !== "overwrite" ? [TOLD[mode]] : [];
        // That two rows of a case are of one time is told, too.
        const codes = messages.map(({ code }: { code: string }) => code)
          .filter((code: string) => code !== "two_prices");
        const shown = rowsIn(await product(ids[i]), kind).map(comparable);
        const wanted = then[mode].map(comparable);
        if (
          JSON.stringify([codes, shown]) !== JSON.stringify([expected, wanted])
        ) {
          wrong.push([name, { codes, shown, expected, wanted }]);
        }
      }
      assertEquals(wrong, []);
    });
  }
}

async function messageOf(products: Any[]): Promise<string> {
  const records = products.map((product, i) =>
    writeRecord(
      {
        product,
        contributors: {},
        identifiers: { publisher: [], imprint: [] },
        organization: "Harbour",
        reference: `rows.${i}`,
      },
      null,
      "3.1",
    ).record
  );
  return await written(records, "3.1");
}

/** The rows of a kind in a product. */
function rowsIn(product: Any, { path, row }: Kind): Any[] {
  const rows = path.reduce((at: Any, step) => at[step], product);
  return path[0] !== "collateral" ? rows : rows.filter((
    { collateral_type }: Any,
  ) => collateral_type === row.collateral_type);
}

function withoutLabels(row: Any): Any {
  return JSON.parse(
    JSON.stringify(
      row,
      (name, value) => name.endsWith("_label") ? undefined : value,
    ),
  );
}

/** What ONIX says of a row, and its name, without what is empty, in a certain order. */
function comparable(row: Any): unknown {
  const leaves: string[] = [];
  const visit = (value: Any, at: string) => {
    if (value === null || value === false) return;
    if (typeof value !== "object") {
      leaves.push(`${at}=${value}`);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (/^id$|_label$|^for_sale$|^exclusive$|^exclusivity$/.test(name)) {
        continue;
      }
      visit(inner, `${at}/${name}`);
    }
  };
  visit(row, "");
  return leaves.sort();
}

Deno.test("Every kind of row is told apart", () => {
  const names = new Set(CASES.map(({ kind }) => kind));
  assertEquals(KINDS.filter((kind) => !names.has(kind)), []);
  assertEquals(KINDS.length, 8);
});

it("and where one of two goes and another end is sent of the other", async ({ onix, product }) => {
  const kind = KINDS.find(({ path }) => path.at(-1) === "prices")!;
  const a = { ...PRICE, valid_from: "2026-01-01", valid_to: "2026-02-28" };
  const b = { ...PRICE, valid_from: "2026-03-01", valid_to: "2026-04-30" };
  const first = await messageOf([productOf(kind, [a, b])]);
  const { outcomes: [{ id }] } = await onix.report(first);
  const [before] = rowsIn(await product(id), kind);

  const longer = { ...a, valid_to: "2026-05-31" };
  await onix.report(await messageOf([productOf(kind, [longer])]));

  const rows = rowsIn(await product(id), kind);
  assertEquals(rows.map(({ id, valid_to }) => [id, valid_to]), [
    [before.id, "2026-05-31"],
  ]);
});
