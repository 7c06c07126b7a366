import { Buffer } from "node:buffer";
import { failedAt } from "../../schema/batch.ts";
import { type ApiError, invalidAt } from "../../schema/errors.ts";
import { MAX_STORED_BYTES } from "../idempotency.ts";
import { MAX_BYTES } from "../long_text.ts";
import type { ProductJson } from "./document.ts";

/** How the results of a batch are answered. */
export interface ResultOptions {
  /** Whether the results contain only the products' ids. */
  isMinimal: boolean;
  /** Whether an operation that fails fails the whole batch. */
  isAtomic: boolean;
  /** Whether the results are stored for an `Idempotency-Key`. */
  isKept: boolean;
}

/** A product, which is read when all are written. */
interface ShownProduct {
  status: 200 | 201;
  id: string;
}

/**
 * The results of a batch by the places of its operations, and how large they become. Throws
 * `VALIDATION_ERROR` for the batch before they are too large to be read or answered.
 */
export class BatchResults {
  /** The operations whose product form has no effect. */
  readonly unusedForms = new Set<number>();
  readonly #options: ResultOptions;
  readonly #results: (ShownProduct | string)[] = [];
  #bytes = 0;
  #expected = 0;

  constructor(options: ResultOptions) {
    this.#options = options;
  }

  /** The size of the results in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The ids of the products to read. */
  get ids(): string[] {
    const shown = this.#results.filter((result) => typeof result === "object");
    return [...new Set(shown.map(({ id }) => id))];
  }

  /** Expects products of this size in all to be written, before any is read. */
  expect(bytes: number): void {
    this.#expected += bytes;
    if (this.#expected > MAX_BYTES) {
      throw invalidAt(
        "/operations",
        "too_large: The products have more than 16 MiB of JSON in all: send fewer operations",
      );
    }
    if (!this.#options.isMinimal) this.#require(this.#bytes + bytes);
  }

  /** Adds a product that is there now, which has this number of bytes. */
  succeed(index: number, status: 200 | 201, id: string, bytes: number): void {
    if (this.#options.isMinimal) {
      this.#results[index] = resultOf(status, JSON.stringify({ id }));
      this.#bytes += this.#results[index].length;
    } else {
      this.#results[index] = { status, id };
      this.#bytes += bytes;
      this.#require(this.#bytes);
    }
  }

  /** Adds a deletion, with the id as the client sent it. */
  delete(index: number, id: string, deleted: boolean): void {
    this.#results[index] = resultOf(200, JSON.stringify({ id, deleted }));
    this.#bytes += this.#results[index].length;
  }

  /** Adds the error of an operation, or throws it for the whole batch. */
  fail(index: number, error: ApiError): void {
    if (this.#options.isAtomic) throw failedAt(index, error);
    const { status, code, message, details } = error;
    const text = JSON.stringify({ code, message, details });
    this.#results[index] = `{"status":${status},"error":${text}}`;
    this.#bytes += Buffer.byteLength(this.#results[index]);
    this.#require(this.#bytes);
  }

  #require(bytes: number): void {
    const { isKept } = this.#options;
    if (bytes <= (isKept ? MAX_STORED_BYTES : MAX_BYTES)) return;
    const size = isKept ? "1 MiB, the most that is kept for an Idempotency-Key" : "16 MiB";
    throw invalidAt(
      "/return",
      `too_large: The response would be larger than ${size}: send "return": "minimal" or fewer operations`,
    );
  }

  /** The results as a JSON array. A product that was deleted meanwhile is its id alone. */
  toString(products: readonly ProductJson[]): string {
    const byId = new Map(products.map(({ id, product }) => [id, product]));
    const texts = this.#results.map((result) => {
      if (typeof result === "string") return result;
      const { status, id } = result;
      return resultOf(status, byId.get(id) ?? JSON.stringify({ id }));
    });
    // Unlike `join`, this does not copy long texts.
    return `[${texts.reduce((before, text) => `${before},${text}`)}]`;
  }
}

function resultOf(status: 200 | 201, data: string): string {
  return `{"status":${status},"data":${data}}`;
}
