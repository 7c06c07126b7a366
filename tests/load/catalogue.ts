import { assertEquals } from "@std/assert";
import type { Book } from "./book.ts";
import { bodyOf, type References } from "./references.ts";

/** A page of the list. */
interface Page {
  data: Product[];
  meta: { total: number; total_pages: number };
}

/** The fields of a product that are compared. */
interface Product {
  id: string;
  created_at: string;
  collections?: { name: string }[];
  contributors: { contributor_name: string }[];
  [field: string]: unknown;
}

/** The client of one organization. It throws for an unexpected response. */
export class Catalogue {
  readonly #baseUrl: string;
  readonly #headers: HeadersInit;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#headers = { "x-api-key": key, "content-type": "application/json" };
  }

  /** Creates the book's product and returns its id. */
  async create(book: Book, references: References): Promise<string> {
    const body = JSON.stringify(bodyOf(book, references));
    const { data } = await this.#call<{ data: Product }>(
      "",
      { method: "POST", body },
      201,
    );
    assertIs(data, book);
    assertEquals(
      data.contributors.map(({ contributor_name }) => contributor_name),
      book.authors,
      `contributors of book ${book.number}`,
    );
    return data.id;
  }

  async list(query: Record<string, string | number>): Promise<Page> {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    );
    return await this.#call<Page>(`?${search}`, {}, 200);
  }

  async #call<T>(path: string, init: RequestInit, status: number): Promise<T> {
    const response = await fetch(`${this.#baseUrl}/products${path}`, {
      ...init,
      headers: this.#headers,
    });
    const text = await response.text();
    assertEquals(response.status, status, `${init.body ?? path}: ${text}`);
    return JSON.parse(text) as T;
  }
}

/** Expects the product to match the book. */
export function assertIs(
  product: Product,
  { number, product: sent, series }: Book,
): void {
  const {
    title,
    isbn13 = null,
    isbn10 = null,
    publication_date = null,
    cover_image_url,
  } = sent;
  const expected = { title, isbn13, isbn10, publication_date, cover_image_url };
  const actual = Object.fromEntries(
    Object.keys(expected).map((field) => [field, product[field]]),
  );
  assertEquals<unknown>(actual, expected, `book ${number}`);
  assertEquals(
    product.collections?.map(({ name }) => name) ?? [],
    series ? [series] : [],
    `series of book ${number}`,
  );
}
