import { join } from "node:path";
import { isbnOf } from "../support/data/onix.ts";
import { showProgress } from "./progress.ts";
import { call, type Rows } from "./requests.ts";
import { createRandom, type Random, titleOf, wordOf } from "./titles.ts";

/** An organization with a key that may write. */
export interface Client {
  id: string;
  key: string;
}

/** What a program serves, and what requests say. */
export interface Data {
  large: Client;
  small: Client;
  /** A key of a recipient that sees every product of `large`. Undefined if there are no recipients. */
  recipient: string | undefined;
  /** The products of `large`, with the ids of three prices each. */
  products: Rows;
  /** The ids of its contributors, each with that of a collection. */
  people: Rows;
  /** A product of `large` to create, with `{1}` and `{2}` for an id of `people`. */
  newProduct: object;
  /** An update of a product, with `{2}` to `{4}` for the ids of its prices. */
  changedProduct: object;
  /** The publishing status of 60 % of the products. */
  commonStatus: string;
  /** A word in about three titles. */
  rareWord: string;
  isbn: string;
  /** The numbers of the first 120 pages of lists of 50. */
  pages: Rows;
  lastPage: number;
  /** A folder for files. */
  folder: string;
  /** Runs a command of the checkout on the database, and returns its output. */
  command(...args: string[]): Promise<string>;
}

/** The products of the smaller organization. */
export const SMALL = 5_000;

/** The records that products refer to, by path. Contributors and collections are many. */
const RECORDS: Record<string, (products: number) => number> = {
  "licenses": () => 3,
  "seasons": () => 8,
  "publishers": () => 4,
  "divisions": () => 3,
  "imprints": () => 10,
  "formats": () => 6,
  "custom-fields": () => 4,
  "titles": () => 10,
  "contributors": many,
  "collections": many,
};

function many(products: number): number {
  return Math.min(5_000, Math.max(20, products / 20));
}

/** The codes of products, by path, with their shares in hundredths. */
const CODES: Record<string, Record<string, number>> = {
  "publishing-statuses": { "04": 60, "02": 25, "07": 15 },
  "product-availabilities": { "20": 70, "10": 20, "31": 10 },
  "lifecycle-statuses": { active: 60, forthcoming: 25, archived: 15 },
  "contributor-roles": { A01: 1, A12: 1 },
};

/** The codes of all publishing statuses that products have. */
export const STATUSES: readonly string[] = Object.keys(CODES["publishing-statuses"]!);

/** Reads what requests say of a filled organization, into files in `folder`. */
export async function readData(
  origin: string,
  parts: Pick<Data, "large" | "small" | "recipient" | "folder" | "command">,
  products: number,
): Promise<Data> {
  const { large: { key }, folder } = parts;
  const ids = await readIds(origin, key);
  const lines: string[] = [];
  for (let after = "", more = true; more;) {
    const query = `limit=1000&include=product_prices${after}`;
    const path = `/products/changes?${query}`;
    const { data, meta } = await call(origin, key, "GET", path);
    for (const { id, product } of data) {
      const prices = product.product_prices as { id: string }[];
      lines.push([id, ...prices.map(({ id }) => id)].join(" "));
    }
    after = `&after=${meta.cursor}`;
    more = meta.more;
    showProgress("Reading", more ? lines.length : products, products);
  }
  // Every product is in the first collection, too.
  const people = ids.contributors!.slice(1)
    .map((id, i) => `${id} ${ids.collections![i + 1]}`);
  const pages = Math.ceil(products / 50);
  const first = Array.from({ length: Math.min(120, pages) }, (_, i) => i + 1);
  return {
    ...parts,
    products: rowsOf(join(folder, "products"), lines),
    people: rowsOf(join(folder, "people"), people),
    newProduct: bodyOf(ids, (path) => ids[path]![0]!, ["{1}", "{2}"]),
    changedProduct: {
      title: "The book of {1}, revised",
      license_id: ids.licenses![1],
      product_prices: ["{2}", "{3}", "{4}"]
        .map((id) => ({ id, retail_price: "13.99" })),
      product_collections: ids.collections!.slice(0, 2)
        .map((collection_id) => ({ collection_id })),
    },
    commonStatus: ids["publishing-statuses"]![0]!,
    rareWord: wordOf(Math.floor(products / 10)),
    isbn: isbnOf(ISBNS + Math.floor(products / 2)),
    pages: rowsOf(join(folder, "pages"), first.map(String)),
    lastPage: pages,
  };
}

/** Lines of words, also in a file. */
export function rowsOf(file: string, lines: string[]): Rows {
  Deno.writeTextFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return { file, lines };
}

/** The ids of records and codes, by path. */
type Ids = Record<string, string[]>;

/** Creates the records and products of an organization by the API. The products depend only on the seed. */
export async function fill(
  origin: string,
  { key }: Client,
  { products, seed }: { products: number; seed: number },
): Promise<void> {
  const records = Object.entries(RECORDS).flatMap(([path, count]) =>
    Array.from({ length: count(products) }, (_, i) => ({
      path,
      body: {
        name: `${path} ${i + 1}`,
        ...path === "collections" && { collection_type: "series" },
      },
    }))
  );
  await eachOf(
    records,
    ({ path, body }) => call(origin, key, "POST", `/${path}`, body),
  );
  const ids = await readIds(origin, key);
  const random = createRandom(seed);
  const operations = Array.from({ length: products }, (_, i) => ({
    method: "create",
    body: productOf(ids, i, random),
  }));
  const batches = Array.from(
    { length: Math.ceil(products / 100) },
    (_, i) => operations.slice(i * 100, i * 100 + 100),
  );
  await eachOf(batches, async (operations, done) => {
    const batch = { operations, return: "minimal", atomic: true };
    await call(origin, key, "POST", "/products/batch", batch);
    showProgress("Filling", done, batches.length);
  });
}

/** Works on four at once. */
async function eachOf<T>(
  all: readonly T[],
  work: (one: T, done: number) => Promise<unknown>,
): Promise<void> {
  const queue = all.values();
  let done = 0;
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (const one of queue) await work(one, ++done);
  }));
}

async function readIds(origin: string, key: string): Promise<Ids> {
  const ids: Ids = {};
  for (const path of Object.keys(RECORDS)) {
    ids[path] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = `/${path}?limit=100&sort=name&page=${page}`;
      const { data, meta } = await call(origin, key, "GET", query);
      pages = meta.total_pages;
      ids[path].push(...data.map(({ id }: { id: string }) => id));
    }
  }
  for (const [path, codes] of Object.entries(CODES)) {
    ids[path] = [];
    for (const [code, times] of Object.entries(codes)) {
      const query = `/${path}?code=${code}`;
      const { data: [{ id }] } = await call(origin, key, "GET", query);
      // As often as its share, so that one at random has this probability.
      ids[path].push(...Array<string>(times).fill(id));
    }
  }
  return ids;
}

/** The product with this number. */
function productOf(ids: Ids, i: number, random: Random) {
  const one = (path: string) => ids[path]![Math.floor(random() * ids[path]!.length)]!;
  const isbn13 = isbnOf(ISBNS + i);
  // Publication dates spread over five years.
  const day = Date.UTC(2021, 0, 1) + i % 1826 * 86_400_000;
  return {
    ...bodyOf(ids, one, [one("contributors"), one("collections")]),
    title: titleOf(random),
    isbn13,
    page_count: 80 + Math.floor(random() * 800),
    publication_date: new Date(day).toISOString().slice(0, 10),
    cover_image_url: `https://covers.example/${isbn13}.jpg`,
  };
}

/** The number of the first ISBN, above those of imported records. */
const ISBNS = 800_000_000;

/** A product with rows of most kinds. `one` chooses a record or code. */
function bodyOf(
  ids: Ids,
  one: (path: string) => string,
  [contributor_id, collection_id]: string[],
) {
  const [author, illustrator] = ids["contributor-roles"]!;
  const common = ids.collections![0]!;
  return {
    title: `The book of ${contributor_id}`,
    subtitle: "And what came of it",
    page_count: 320,
    publication_date: "2026-09-01",
    format_id: one("formats"),
    title_id: one("titles"),
    publishing_status_id: one("publishing-statuses"),
    product_availability_id: one("product-availabilities"),
    lifecycle_status_id: one("lifecycle-statuses"),
    license_id: one("licenses"),
    season_id: one("seasons"),
    publisher_id: one("publishers"),
    division_id: one("divisions"),
    imprint_id: one("imprints"),
    product_prices: ["USD", "GBP", "EUR"].map((currency_code, i) => ({
      currency_code,
      retail_price: "12.99",
      list_price: "14.99",
      tax_rate: 7,
      is_default: i === 0,
      valid_from: "2026-09-01",
    })),
    contributors: [
      { contributor_id, contributor_role_id: author },
      { contributor_id, contributor_role_id: illustrator },
    ],
    product_collections: [...new Set([collection_id, common])]
      .map((collection_id) => ({ collection_id })),
    collateral: [{
      collateral_type: "text_content",
      text: "What happens when two people find the same letter. ".repeat(8),
      text_type: "03",
    }],
    custom_fields: ids["custom-fields"]!.slice(0, 2).map((field_id, i) => ({
      field_id,
      field_value: `Shelf ${i}`,
    })),
  };
}
