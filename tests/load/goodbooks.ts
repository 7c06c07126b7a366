import { assertEquals } from "@std/assert";
import { readConfig } from "../../schema/config.ts";
import { showProgress } from "../bench/progress.ts";
import { call } from "../bench/requests.ts";
import { prepare, start } from "../support/app/process.ts";
import { type Book, bookOf } from "./book.ts";
import { recordsOf } from "./csv.ts";
import { bodyOf, fillReferences } from "./references.ts";

/** The size of a batch and of a page (specification, 8). */
const PAGE = 100;

/** The interval of books that are also searched with hyphens and by ISBN-10. */
const SAMPLE = 20;

const USAGE = `deno task load books.csv

Creates an organization with 10,000 real books: those of books.csv in github.com/zygmuntz/goodbooks-10k:

    curl -LO https://raw.githubusercontent.com/zygmuntz/goodbooks-10k/master/books.csv

Starts the service on the configured database, creates the books by POST /products/batch, finds each again in lists and by its
ISBN, stops at what is not as expected, and prints the key of the organization, which remains.`;

/** The fields of a product that are compared. */
interface Product {
  id: string;
  created_at: string;
  collections?: { name: string }[];
  [field: string]: unknown;
}

async function main([path]: string[]): Promise<number> {
  if (!path || path === "--help") {
    console.log(USAGE);
    return path ? 0 : 1;
  }
  if (!await Deno.stat(path).then(({ isFile }) => isFile, () => false)) {
    console.error(`There is no file ${path}: see deno task load --help`);
    return 1;
  }
  const books = recordsOf(await Deno.readTextFile(path)).map(bookOf);
  for (const { number, omissions } of books) {
    for (const omission of omissions) {
      console.log(`Book ${number}: ${omission}`);
    }
  }
  const { database } = readConfig((name) => Deno.env.get(name));
  // Authors and series by SQL, before the service starts: only one process opens an embedded database.
  const { place, key, filled: references } = await prepare(
    "goodbooks-10k",
    database,
    (sql, organizationId) => fillReferences(sql, organizationId, books),
  );
  console.log(`The key of the organization: ${key}`);
  await using service = await start({ ...place, LOG_LEVEL: "error" });
  const list = async (query: string) =>
    await call(service.origin, key, "GET", `/products?${query}`);

  const ids = new Map<string, Book>();
  for (let at = 0; at < books.length; at += PAGE) {
    const some = books.slice(at, at + PAGE);
    const operations = some.map((book) => (
      { method: "create", body: bodyOf(book, references) }
    ));
    const path = "/products/batch";
    const body = { operations };
    const { data } = await call(service.origin, key, "POST", path, body);
    for (const [i, { status, ...result }] of data.entries()) {
      assertEquals(status, 201, JSON.stringify(result));
      assertIs(result.data, some[i]!);
      assertEquals(
        result.data.contributors.map((one: { contributor_name: string }) =>
          one.contributor_name
        ),
        some[i]!.authors,
      );
      ids.set(result.data.id, some[i]!);
    }
    showProgress("Created", ids.size, books.length);
  }

  // Every book stands on exactly one page, newest first.
  const seen: Product[] = [];
  const pages = Math.ceil(ids.size / PAGE);
  for (let page = 1; page <= pages; page++) {
    const { data, meta } = await list(`page=${page}&limit=${PAGE}`);
    assertEquals(meta.total, ids.size);
    seen.push(...data);
    showProgress("Listed", page, pages);
  }
  assertEquals(new Set(seen.map(({ id }) => id)), new Set(ids.keys()));
  for (const product of seen) assertIs(product, ids.get(product.id)!);
  const times = seen.map(({ created_at }) => created_at);
  assertEquals(times, times.toSorted().reverse());

  // A search for an ISBN finds only its book.
  const terms = Array.from(ids).flatMap(([id, { product }], i) => {
    const { isbn13, isbn10 } = product;
    if (!isbn13 || !isbn10) return [];
    const forms = i % SAMPLE ? [isbn13] : [isbn13, hyphenated(isbn13), isbn10];
    return forms.map((term) => ({ id, term }));
  });
  for (const [i, { id, term }] of terms.entries()) {
    const { data } = await list(`search=${term}`);
    assertEquals(data.map((found: Product) => found.id), [id], term);
    showProgress("Found", i + 1, terms.length);
  }
  return 0;
}

/** Expects the product to match the book. */
function assertIs(product: Product, { number, product: sent, series }: Book) {
  const nothing = { isbn13: null, isbn10: null, publication_date: null };
  const expected: Record<string, unknown> = { ...nothing, ...sent };
  for (const [field, value] of Object.entries(expected)) {
    assertEquals(product[field], value, `${field} of book ${number}`);
  }
  assertEquals(
    product.collections?.map(({ name }) => name) ?? [],
    series ? [series] : [],
    `series of book ${number}`,
  );
}

/** The positions of hyphens depend on the publisher. A search accepts any. */
function hyphenated(isbn13: string): string {
  return isbn13.replace(/^(...)(.)(....)(....)(.)$/, "$1-$2-$3-$4-$5");
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
