import { assertEquals } from "@std/assert";
import type { Reply } from "./envelope.ts";
import type { App } from "../app/harness.ts";
import { settled } from "../app/settled.ts";

/** An entry of the feed. */
export interface Change {
  id: string;
  deleted: boolean;
  updated_at: string;
  product?: { id: string; title: string; updated_at: string };
  isbn13?: string | null;
  product_code?: string | null;
  record_reference?: string | null;
}

/** A client that reads an organization's products. */
interface Reader {
  get(path: string): Promise<Pick<Reply, "status" | "body">>;
}

/** A copy of an organization's products, synchronized with the feed of changes. */
export class Copy {
  readonly #reader: Reader;
  readonly #app: Pick<App, "sql">;
  readonly products = new Map<string, Change["product"]>();
  cursor: string | undefined;

  constructor(reader: Reader, app: Pick<App, "sql">) {
    this.#reader = reader;
    this.#app = app;
  }

  /** Reads one page, and returns whether more follow. */
  async read(query = ""): Promise<{ changes: Change[]; more: boolean }> {
    const after = this.cursor ? `&after=${this.cursor}` : "";
    const { status, body } = await this.#reader.get(
      `/api/products/changes?${query}${after}`,
    );
    assertEquals(status, 200, JSON.stringify(body));
    for (const change of body.data as Change[]) {
      if (change.deleted) this.products.delete(change.id);
      else this.products.set(change.id, change.product);
    }
    this.cursor = body.meta.cursor;
    return { changes: body.data, more: body.meta.more };
  }

  /** Reads up to the current end of the feed, and returns the changes. */
  async catchUp(query = ""): Promise<Change[]> {
    await settled(this.#app.sql);
    const all: Change[] = [];
    for (;;) {
      const { changes, more } = await this.read(query);
      all.push(...changes);
      if (!more) return all;
    }
  }

  /** Throws unless the copy equals the catalogue. */
  async assertComplete(): Promise<void> {
    const listed = new Map();
    for (let page = 1;; page++) {
      const { body } = await this.#reader.get(
        `/api/products?limit=100&page=${page}`,
      );
      for (const product of body.data) listed.set(product.id, product);
      if (page >= body.meta.total_pages) break;
    }
    assertEquals(inOrder(this.products), inOrder(listed));
  }
}

function inOrder(products: Map<string, unknown>): unknown[] {
  return [...products].sort(([a], [b]) => a < b ? -1 : 1);
}
