import { assert, assertEquals, assertRejects } from "@std/assert";
import { idOfCode } from "../../schema/code_ids.ts";
import { ARRAYS } from "../../schema/product.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import type { Reply } from "../support/client/envelope.ts";
import { assertHas } from "../support/client/expect.ts";
import { assertShows, read } from "../support/client/stored.ts";
import { fullBody } from "../support/data/bodies.ts";
import { PRODUCT, type Rows } from "../support/data/fields.ts";

/*
 * What bodies make of the arrays of a product, by each door: POST, PUT, batches, upserts,
 * and paths of their own.
 */

type Entry = Record<string, unknown>;

/**
 * What a product with the entries `a b` has after a body. In the body, `c` is an entry
 * without id, `#b` the id of a row alone, `#b=c` the id with the fields of another entry,
 * `#B` the id in upper case, and null no array. Of what follows, `b` is a row that was
 * there, `b=c` the same with other fields, and `+c` a new one.
 */
type Line = [sent: string | null, has: string];

const KEPT: Line[] = [[null, "a b"], ["", ""]];

/** A body has the whole array. */
const WHOLE: Line[] = [
  ...KEPT,
  ["c a b", "c a b"],
  ["b", "b"],
  ["b a", "b a"],
];

/** The effects by `put` of the description, for bodies that change and those that say what is. */
const LINES: Record<string, { changes: Line[]; upserts?: Line[] }> = {
  patch: {
    changes: [
      ...KEPT,
      ["#b=c", "a b=c"],
      ["c #a=b c", "a=b b +c +c"],
      ["#B=c #a", "a b=c"],
    ],
    upserts: [
      ...KEPT,
      ["b c", "b +c"],
      ["b a", "b a"],
      ["#a", "a"],
      ["#a=c b", "a=c b"],
      ["a #a", "+a a"],
      ["a a", "a +a"],
    ],
  },
  replace: {
    changes: [...KEPT, ["c #b a", "+c b +a"], ["#B", "b"], ["#a #b", "a b"]],
    upserts: [...KEPT, ["b c a", "b +c a"], ["#b", "b"], ["c", "+c"]],
  },
  tree: {
    changes: [
      ["", ""],
      ["#b=c c #a=a", "b=c +c a"],
      ["c", "+c"],
      ["#B=b", "b"],
    ],
  },
  link: { changes: WHOLE, upserts: WHOLE },
  values: { changes: [...WHOLE, ["a a", "a a"]], upserts: WHOLE },
};

/** Three entries of each array, in the organization. Languages stand for all arrays of values. */
const ENTRIES: Record<string, (org: Organization) => Entry[]> = {
  product_prices: () => [
    { currency_code: "GBP" },
    { currency_code: "EUR" },
    { currency_code: "GBP", valid_from: "2027-01-01" },
  ],
  packing_configurations: () => varying("unit_of_measure", "inner", "outer", "pallet"),
  contributors: ({ contributor: contributor_id }) =>
    ["A01", "B01", "E07"].map((role) => ({
      contributor_id,
      contributor_role_id: idOfCode("17", role),
    })),
  product_collections: ({ collection, series, imprint }) =>
    varying("collection_id", collection, series, imprint),
  custom_fields: ({ customField, imprint, series }) => [
    { field_id: customField, field_value: 0 },
    { field_id: imprint, field_value: "x" },
    { field_id: series, field_value: false },
  ],
  collateral: () => [
    { collateral_type: "text_content", text: "Handsome and clever" },
    { collateral_type: "cited_content", source_title: "The Times" },
    { collateral_type: "award", prize_name: "A prize" },
  ],
  languages: () =>
    ["eng", "gsw", "srp"].map((language_code) => ({
      language_role: "01",
      language_code,
    })),
  product_territories: () => varying("market_reference", "A", "B", "C"),
  product_sales_rights: () =>
    ["01", "02", "03"].map((sales_rights_type) => ({
      sales_rights_type,
      territory: { countries_included: ["GB"] },
    })),
};

function varying(field: string, ...values: string[]): Entry[] {
  return values.map((value) => ({ [field]: value }));
}

/** Writes bodies to products at once, and returns the products. */
type Write = (
  paths: string[],
  bodies: Entry[],
) => Promise<Reply["body"][]>;

const it = testsOf("The arrays of a product");

for (const array of Object.keys(ENTRIES)) {
  const field = ARRAYS[array as keyof typeof ARRAYS];
  const tree = field.kind === "rows" ? field.path : undefined;
  const { changes, upserts = [] } = LINES[field.kind === "rows" ? field.put : "values"]!;

  it(`${array} are changed by PUT, or by a path of their own`, async ({ org, app }) => {
    for (const line of changes) {
      await assertLine(
        app,
        org,
        array,
        line,
        (paths, bodies) =>
          Promise.all(paths.map(async (path, i) => {
            const { status, body } = tree
              ? await org.put(`${path}/${tree}`, bodies[i]![array])
              : await org.put(path, bodies[i]);
            assertEquals(status, 200, JSON.stringify(body));
            return body.data;
          })),
      );
    }
  });
  if (tree) continue;

  it(`${array} are changed by batches`, async ({ org, app }) => {
    for (const line of changes) {
      await assertLine(app, org, array, line, (paths, bodies) =>
        inBatch(
          org,
          bodies.map((body, i) => ({
            method: "update",
            id: paths[i]!.split("/").at(-1),
            body,
          })),
        ));
    }
  });

  it(`${array} are what an upsert says`, async ({ org, app }) => {
    for (const line of upserts) {
      await assertLine(app, org, array, line, (_, bodies) =>
        inBatch(
          org,
          bodies.map((body, i) => ({
            method: "upsert",
            match: "isbn13",
            body: { isbn13: ISBNS[i], ...body },
          })),
        ));
    }
  });
}

const ISBNS = ["9780306406157", "9780141439587"];

/** Expects the effect of the line on two products that are written at once. */
async function assertLine(
  app: App,
  org: Organization,
  array: string,
  [sent, has]: Line,
  write: Write,
): Promise<void> {
  const message = `${array}: ${sent} -> ${has}`;
  const entries = await entriesOf(app, org, array);
  const products = await createTwo(org, array, [entries.a!, entries.b!]);
  const bodies = products.map(({ ids }) => ({
    title: "Persuasion",
    ...sent !== null && {
      [array]: wordsOf(sent).map((word) => {
        const [, name, letter] = /^#(.)(?:=(.))?$/.exec(word) ?? [];
        if (!name) return entries[word];
        const id = ids[name.toLowerCase()]!;
        return {
          id: name === name.toLowerCase() ? id : id.toUpperCase(),
          ...letter && entries[letter],
        };
      }),
    },
  }));

  const written = await write(products.map(({ path }) => path), bodies);

  for (const [i, { path, ids }] of products.entries()) {
    const rows: Entry[] = written[i][array];
    const words = wordsOf(has);
    assertHas(rows, words.map((word) => entries[word.at(-1)!]), message);
    for (const [j, word] of words.entries()) {
      const { id } = rows[j]!;
      if (word[0] !== "+") assertEquals(id, ids[word[0]!], message);
      else assert(!Object.values(ids).includes(id as string), message);
    }
    assertEquals((await org.get(path)).body.data, written[i], message);
    await org.delete(path);
  }
}

/** Two products with these entries, and the ids of their rows by letter. A batch creates them, if it can. */
async function createTwo(org: Organization, array: string, entries: Entry[]) {
  const field = ARRAYS[array as keyof typeof ARRAYS];
  const tree = field.kind === "rows" ? field.path : undefined;
  const created = await inBatch(
    org,
    ISBNS.map((isbn13) => ({
      method: "create",
      body: { title: "Emma", isbn13, ...!tree && { [array]: entries } },
    })),
  );
  return await Promise.all(created.map(async (product) => {
    const path = `/api/products/${product.id}`;
    const { body: { data } } = tree
      ? await org.put(`${path}/${tree}`, entries)
      : await org.get(path);
    assertHas(data[array], entries);
    const [a, b] = data[array].map(({ id }: Entry) => id);
    return { path, ids: { a, b } as Record<string, string> };
  }));
}

/** The entries by letter, with the records that they refer to. */
async function entriesOf(
  { sql }: App,
  org: Organization,
  array: string,
): Promise<Record<string, Entry>> {
  for (const table of ["collections", "custom_fields"]) {
    await sql`
      insert into ${sql(table)} (organization_id, id, name)
      select ${org.id}, id::uuid, 'Another'
      from jsonb_array_elements_text(${sql.json([org.imprint, org.series])}) id
      on conflict do nothing
    `;
  }
  const [a, b, c] = ENTRIES[array]!(org) as [Entry, Entry, Entry];
  return { a, b, c };
}

/** The products that the operations of a batch return. */
async function inBatch(
  org: Organization,
  operations: object[],
): Promise<Reply["body"][]> {
  const { body: { data } } = await org.batch(operations);
  return data.map((result: Reply["body"]) => {
    assert([200, 201].includes(result.status), JSON.stringify(result));
    return result.data;
  });
}

function wordsOf(line: string): string[] {
  return line.split(" ").filter((word) => word !== "");
}

/** The fields that were about the former value of a field. */
const ABOUT: Record<string, string[]> = {
  text_author: ["text_source_description"],
  text_source_corporate: ["text_source_description"],
  source_title: ["text_source_corporate", "text_source_description"],
};

it("keep the other fields of an entry that a body does not have", async ({ org, app }) => {
  const { path, product } = await org.create(await fullBody(app, org));
  const expected = structuredClone(product);
  for (
    const array of ["product_prices", "packing_configurations", "collateral"]
  ) {
    const { rows, types } = PRODUCT[array] as Rows;
    for (const [i, row] of product[array].entries()) {
      const fields = types?.[row.collateral_type] ?? rows;
      for (const [name, field] of Object.entries(fields)) {
        if (!("takes" in field)) continue;
        const [[value] = []] = field.takes.filter(([value, stored]) =>
          value === stored && value !== null && value !== row[name] &&
          // The days of validity are compared.
          !name.startsWith("valid_")
        );
        if (value === undefined) continue;
        // Collateral has the other rows by their ids.
        const entries = product[array].map(({ id }: Entry) => ({ id }));
        entries[i][name] = value;

        const { body } = await org.put(path, { [array]: entries });

        expected[array][i][name] = value;
        for (const other of ABOUT[name] ?? []) {
          if (row[other] !== undefined) expected[array][i][other] = null;
        }
        expected.updated_at = body.data?.updated_at;
        assertEquals(body.data, expected, `${array}/${i}/${name}`);
      }
    }
  }
});

it("get new entries after gaps that SQL has left", async ({ org, sql }) => {
  for (const array of ["product_prices", "packing_configurations"]) {
    const [a, b, c] = ENTRIES[array]!(org) as [Entry, Entry, Entry];
    const { path, product } = await org.create({ [array]: [a, b] });
    await sql`update ${sql(array)} set position = 10 where organization_id = ${org.id} and id = ${
      product[array][1].id
    }`;

    const { body: { data } } = await org.put(path, { [array]: [c] });

    assertEquals(data[array].slice(0, 2), product[array]);
    assertHas(data[array].slice(2), [c]);
  }
});

it("of values show what SQL writes, and its time", async ({ org, app, sql }) => {
  if (app.isDistributed) return;
  const least = { language_role: "01", language_code: "gsw" };
  const optional = { country_code: null, script_code: null };
  const full = { ...least, country_code: "GB", script_code: "Latn" };
  const { id, path } = await org.create({ languages: [full] });
  const write = (languages: string | null) =>
    sql`
      update products set languages = ${languages}::text::jsonb
      where organization_id = ${org.id} and id = ${id}
    `;
  const shown = {
    [JSON.stringify([least])]: [{ ...least, ...optional }],
    [JSON.stringify([{ ...full, note: "x" }, {}])]: [
      full,
      { language_role: null, language_code: null, ...optional },
    ],
    "[]": [],
  };

  for (const [languages, expected] of Object.entries(shown)) {
    await assertShows({ app, org, id }, () => write(languages), languages);
    const { data } = await read(app, org, path);
    assertEquals(data.languages, expected);
  }
  await write(null);
  assertEquals((await org.get(path)).body.data.languages, []);
  for (const languages of ["{}", "null", '"eng"']) {
    await assertRejects(() => write(languages), Error, "entries_array");
  }
});
