import { assertEquals } from "@std/assert";
import { readConfig } from "../../schema/config.ts";
import { type Book, bookOf } from "./book.ts";
import { assertIs, Catalogue } from "./catalogue.ts";
import { recordsOf } from "./csv.ts";
import { type Mismatches, phase } from "./phase.ts";
import { fillReferences } from "./references.ts";
import { prepare, start } from "../support/app/process.ts";

/*
 * `deno task load books.csv`: real books, through the service as it runs.
 *
 * Reads `books.csv` of goodbooks-10k and the service's environment variables.
 * Creates an organization with the authors and series by SQL, like an operator,
 * and then starts the service with `deno task start`, because only one process can
 * open an embedded database. It creates every book by `POST /products`, and finds
 * it again on the pages of the list and by its ISBN. Exits with status 1 if a
 * response is not as expected. The organization remains in the database. Its key
 * is printed.
 */

/** The maximum page size (specification, 8). */
const PAGE = 100;

/** The interval of books that are also searched with hyphens and by ISBN-10. */
const SAMPLE = 20;

/** The maximum number of mismatches printed. */
const SHOWN = 20;

const USAGE = `deno task load books.csv

Creates an organization with 10,000 real books: those of books.csv in github.com/zygmuntz/goodbooks-10k. Starts the
service on the configured database, creates each book by POST /products, finds it again in lists and by its ISBN, and
prints what is not as expected, and the key of the organization, which remains.`;

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
  describe(books);
  const { database } = readConfig((name) => Deno.env.get(name));
  const { place, key, filled: references } = await prepare(
    "goodbooks-10k",
    database,
    (sql, organizationId) => fillReferences(sql, organizationId, books),
  );
  await using service = await start({ ...place, LOG_LEVEL: "error" });
  const catalogue = new Catalogue(`${service.origin}/api`, key);

  const mismatches: Mismatches = [];
  const ids = new Map<string, Book>();
  await phase("created", books, mismatches, async (book) => {
    ids.set(await catalogue.create(book, references), book);
  });
  await walk(catalogue, ids, mismatches);
  await search(catalogue, ids, mismatches);

  for (const mismatch of mismatches.slice(0, SHOWN)) console.error(mismatch);
  console.log(`${mismatches.length} mismatches`);
  console.log(`The organization remains. Its key: ${key}`);
  return mismatches.length === 0 ? 0 : 1;
}

function describe(books: Book[]): void {
  const has = (field: "isbn13" | "publication_date") =>
    books.filter(({ product }) => product[field]).length;
  console.log(
    `${books.length} books: ${has("isbn13")} with an ISBN, ${
      has("publication_date")
    } with a year, ${books.filter(({ series }) => series).length} in a series`,
  );
  for (const { number, omissions } of books) {
    for (const omission of omissions) {
      console.log(`Book ${number}: ${omission}`);
    }
  }
}

/** Expects every book on exactly one page, newest first. */
async function walk(
  catalogue: Catalogue,
  ids: Map<string, Book>,
  mismatches: Mismatches,
): Promise<void> {
  const pages = Math.ceil(ids.size / PAGE);
  const seen: string[][] = [];
  await phase(
    "pages",
    Array.from({ length: pages }, (_, i) => i + 1),
    mismatches,
    async (page) => {
      const { data, meta } = await catalogue.list({ page, limit: PAGE });
      assertEquals<unknown>(meta, {
        page,
        limit: PAGE,
        total: ids.size,
        total_pages: pages,
      });
      for (const product of data) assertIs(product, ids.get(product.id)!);
      const times = data.map(({ created_at }) => created_at);
      assertEquals(times, times.toSorted().reverse(), `order of page ${page}`);
      seen[page] = data.map(({ id }) => id);
    },
  );
  const all = seen.flat();
  const missing = new Set(ids.keys()).difference(new Set(all)).size;
  const twice = all.length - new Set(all).size;
  if (missing || twice) {
    mismatches.push(`${missing} books on no page, ${twice} on two`);
  }
}

/** Expects a search for each ISBN to find only its book. */
async function search(
  catalogue: Catalogue,
  ids: Map<string, Book>,
  mismatches: Mismatches,
): Promise<void> {
  const terms = Array.from(ids).flatMap(([id, { product }], i) => {
    const { isbn13, isbn10 } = product;
    if (!isbn13 || !isbn10) return [];
    const forms = i % SAMPLE ? [isbn13] : [isbn13, hyphenated(isbn13), isbn10];
    return forms.map((term) => ({ id, term }));
  });
  await phase("searches", terms, mismatches, async ({ id, term }) => {
    const { data, meta } = await catalogue.list({ search: term });
    assertEquals(meta.total, 1, term);
    assertEquals(data.map((found) => found.id), [id], term);
  });
}

/** The positions of hyphens depend on the publisher. A search accepts any. */
function hyphenated(isbn13: string): string {
  return isbn13.replace(/^(...)(.)(....)(....)(.)$/, "$1-$2-$3-$4-$5");
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
