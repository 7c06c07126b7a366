import { assertEquals } from "@std/assert";
import { undoHint } from "../../db/command_line/undo_hint.ts";
import { readConfig } from "../../schema/config.ts";
import { showProgress } from "../bench/progress.ts";
import { call } from "../bench/requests.ts";
import { prepare, start } from "../support/app/process.ts";
import type { Sql } from "../support/sql/script.ts";
import { type Book, booksOf } from "./book.ts";

/** The size of a batch (specification, 8). */
const BATCH = 100;

const USAGE = `deno task load books.csv

Creates an organization with 10,000 real books: those of books.csv in github.com/zygmuntz/goodbooks-10k:

    curl -LO https://raw.githubusercontent.com/zygmuntz/goodbooks-10k/master/books.csv

Starts the service on the configured database, creates the books by POST /products/batch, and prints the key of the
organization, which remains.`;

async function main([path]: string[]): Promise<number> {
  if (!path || path === "--help") {
    console.log(USAGE);
    return path ? 0 : 1;
  }
  if (!await Deno.stat(path).then(({ isFile }) => isFile, () => false)) {
    console.error(`There is no file ${path}: see deno task load --help`);
    return 1;
  }
  const books = booksOf(await Deno.readTextFile(path));
  const { database } = readConfig((name) => Deno.env.get(name));
  // By SQL, before the service starts: only one process opens an embedded database.
  const { place, key, organizationId } = await prepare(
    "goodbooks-10k",
    database,
    (sql, organizationId) => fillReferences(sql, organizationId, books),
  );
  console.log(`The key of the organization: ${key}`);
  const runId = crypto.randomUUID();
  using _hint = undoHint(organizationId, runId);
  await using service = await start({ ...place, LOG_LEVEL: "error" });
  for (let at = 0; at < books.length; at += BATCH) {
    const some = books.slice(at, at + BATCH);
    const operations = some.map((book) => ({
      method: "create",
      body: bodyOf(book),
    }));
    const { data } = await call(
      service.origin,
      key,
      "POST",
      "/products/batch",
      { operations, return: "minimal" },
      // One undo takes back all.
      { "x-request-id": runId },
    );
    for (const result of data) {
      assertEquals(result.status, 201, JSON.stringify(result));
    }
    showProgress("Created", at + some.length, books.length);
  }
  return 0;
}

/** Creates a contributor per author and a collection per series, which the books name. */
async function fillReferences(sql: Sql, organizationId: string, books: Book[]) {
  const distinct = (names: string[]) => sql.json([...new Set(names)]);
  await sql`
    insert into contributors (organization_id, name)
    select ${organizationId}, name
    from jsonb_array_elements_text(${distinct(books.flatMap(({ authors }) => authors))}) name
  `;
  await sql`
    insert into collections (organization_id, name, collection_type)
    select ${organizationId}, name, 'series'
    from jsonb_array_elements_text(${distinct(books.flatMap(({ series }) => series ?? []))}) name
  `;
}

/** The body of `POST /products` for the book. Names stand for ids. */
function bodyOf({ product, authors, series }: Book) {
  return {
    ...product,
    contributors: authors.map((contributor_name) => ({
      contributor_name,
      contributor_role_code: "A01",
    })),
    ...series && {
      series_name: series,
      product_collections: [{ collection_name: series }],
    },
  };
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
