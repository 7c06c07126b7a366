import { Buffer } from "node:buffer";
import { failedAt } from "../schema.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import { type ApiError, invalidAt, withHint } from "../../../schema/errors.ts";
import { MAX_RESPONSE_BYTES, MAX_RESULT_BYTES } from "../../../db/sizes.ts";

/** The form of a batch's results. */
export interface ResultOptions {
  /** Whether the results contain only the products' ids. */
  isMinimal: boolean;
  /** Whether an operation that fails fails the whole batch. */
  isAtomic: boolean;
  /** Whether the results are stored for an `Idempotency-Key`. */
  isKept: boolean;
}

/** The JSON of a product, or null for one that the batch has deleted after it wrote it. */
export interface ShownJson {
  id: string;
  product: string | null;
}

/** A product, which is read after all are written. */
interface ShownProduct {
  status: 200 | 201;
  id: string;
  /** The references that a restoration has left out. */
  skipped?: readonly string[] | undefined;
}

/**
 * Collects the results of a batch by the places of its operations, with their size. Throws
 * `VALIDATION_ERROR` for the batch before they become too large to be read or sent.
 */
export class BatchResults {
  /** The operations whose product form has no effect. */
  readonly unusedForms = new Set<number>();
  /** The product forms that operations have given to formats. */
  readonly sharedForms = new Map<number, SharedForm>();
  readonly #options: ResultOptions;
  readonly #results: (ShownProduct | string)[] = [];
  /** The ids of the products that the batch has deleted. */
  readonly deleted = new Set<string>();
  /** The version of the written products. A transaction has one. */
  version: string | undefined;
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

  /** Reserves room for products of this size, before any is read. */
  expect(bytes: number): void {
    this.#expected += bytes;
    if (this.#expected > MAX_RESPONSE_BYTES) {
      throw invalidAt(
        "/operations",
        withHint(
          "too_large: The products have more than 16 MiB of JSON in all",
          "send fewer operations",
        ),
      );
    }
    if (!this.#options.isMinimal) this.#require(this.#bytes + bytes);
  }

  /**
   * Adds a stored product with its size in bytes, and the references that a restoration has left
   * out.
   */
  succeed(
    index: number,
    status: 200 | 201,
    id: string,
    bytes: number,
    skipped?: readonly string[],
  ): void {
    const result = { status, id, skipped };
    if (this.#options.isMinimal) {
      this.#results[index] = resultOf(result, JSON.stringify({ id }));
      this.#bytes += this.#results[index].length;
    } else {
      this.#results[index] = result;
      this.#bytes += bytes;
      this.#require(this.#bytes);
    }
  }

  /** Adds a deletion, with the id as the client sent it. */
  delete(index: number, id: string, deleted: boolean): void {
    this.#results[index] = resultOf({ status: 200 }, JSON.stringify({ id, deleted }));
    this.#bytes += this.#results[index].length;
  }

  /** Adds the error of an operation, or throws it for the whole batch. */
  fail(index: number, error: ApiError): void {
    if (this.#options.isAtomic) throw failedAt(index, error);
    const { status, code, message, hint, details } = error;
    const text = JSON.stringify({ code, message, hint, details });
    this.#results[index] = `{"status":${status},"error":${text}}`;
    this.#bytes += Buffer.byteLength(this.#results[index]);
    this.#require(this.#bytes);
  }

  #require(bytes: number): void {
    const { isKept } = this.#options;
    if (bytes <= (isKept ? MAX_RESULT_BYTES : MAX_RESPONSE_BYTES)) return;
    const size = isKept ? "1 MiB, the most that is kept for an Idempotency-Key" : "16 MiB";
    throw invalidAt(
      "/return",
      withHint(
        `too_large: The response would be larger than ${size}`,
        'send "return": "minimal" or fewer operations',
      ),
    );
  }

  /**
   * Returns the results as a JSON array. A product that was deleted later in the batch is only its
   * id.
   */
  toString(products: readonly ShownJson[]): string {
    const byId = new Map(products.map(({ id, product }) => [id, product]));
    const texts = this.#results.map((result) => {
      if (typeof result === "string") return result;
      return resultOf(result, byId.get(result.id) ?? JSON.stringify({ id: result.id }));
    });
    // Unlike `join`, this does not copy long texts.
    return `[${texts.reduce((before, text) => `${before},${text}`)}]`;
  }
}

function resultOf({ status, skipped }: Omit<ShownProduct, "id">, data: string): string {
  const rest = skipped ? `,"skipped":${JSON.stringify(skipped)}` : "";
  return `{"status":${status},"data":${data}${rest}}`;
}
