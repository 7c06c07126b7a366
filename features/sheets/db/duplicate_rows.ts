import { hash } from "node:crypto";
import { keyName } from "../../../db/products/change/keys.ts";
import type { SheetRow } from "./sheet_row.ts";

/** The memory of a row of a sheet until all rows are written, in bytes. */
export const ROW_BYTES = 56;

/** Another row of a row's product. */
export interface OtherRow {
  line: number;
  /** Whether all rows of the product are equal. */
  isEqual: boolean;
}

/** The initial number of rows. */
const FEW = 1_024;

/**
 * Finds rows of a sheet with the same product, even if they name it by different keys. If line 2
 * has its ISBN and line 4 its id, each is the other row of the other. A sheet has up to a million
 * rows, so all is stored in numbers: `ROW_BYTES` per row.
 */
export class DuplicateRows {
  /** By index: the line of the row, digests of its product and of its cells. */
  #lines = new Uint32Array(FEW);
  #products = new Float64Array(FEW);
  #contents = new Float64Array(FEW);
  /** By index: the first row of the same product, or 0, the header, for the first row itself. */
  #firsts = new Uint32Array(FEW);
  /** By index of a first row: the first row of its product with other cells, or 0. */
  #differing = new Uint32Array(FEW);
  /**
   * A hash table of the first rows: by the digest of their product modulo the length, with linear
   * probing.
   */
  #places = new Uint32Array(2 * FEW);
  #productCount = 0;

  /** Adds a row with an address. `id` is that of its product, if there is one. */
  add({ index, line, cells, address }: SheetRow, id?: string): void {
    if (index >= this.#lines.length) this.#lengthen(index);
    const product = digest(id ? `id ${id}` : keyName(address!));
    const content = digest(JSON.stringify([...cells.values()]));
    this.#lines[index] = line;
    this.#products[index] = product;
    this.#contents[index] = content;
    const place = this.#placeOf(product);
    const first = this.#places[place]!;
    if (first === 0) {
      this.#places[place] = index;
      if (2 * ++this.#productCount > this.#places.length) this.#spread();
      return;
    }
    this.#firsts[index] = first;
    if (this.#contents[first] !== content) this.#differing[first] ||= index;
  }

  /** Returns another row of the same product. Of equal rows, the first has none, so it is written. */
  of(index: number): OtherRow | undefined {
    const first = this.#firsts[index] || index;
    const differing = this.#differing[first] ?? 0;
    if (first !== index) return { line: this.#lines[first]!, isEqual: differing === 0 };
    if (differing > 0) return { line: this.#lines[differing]!, isEqual: false };
  }

  /** Returns the place of a product's first row, or the free place for it. */
  #placeOf(product: number): number {
    const { length } = this.#places;
    let place = product % length;
    for (let row; (row = this.#places[place]!) > 0; place = (place + 1) % length) {
      if (this.#products[row] === product) return place;
    }
    return place;
  }

  #lengthen(index: number): void {
    this.#lines = longer(this.#lines, index);
    this.#products = longer(this.#products, index);
    this.#contents = longer(this.#contents, index);
    this.#firsts = longer(this.#firsts, index);
    this.#differing = longer(this.#differing, index);
  }

  /** Doubles the places: at most half of them are taken. */
  #spread(): void {
    const rows = this.#places.filter((row) => row > 0);
    this.#places = new Uint32Array(2 * this.#places.length);
    for (const row of rows) this.#places[this.#placeOf(this.#products[row]!)] = row;
  }
}

/** Returns a copy that is long enough for an index, and half as long again. */
function longer<A extends Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(
  values: A,
  index: number,
): A {
  const copy = new (values.constructor as new (length: number) => A)(Math.ceil(1.5 * (index + 1)));
  copy.set(values);
  return copy;
}

/** The first 48 bits of a digest. */
function digest(text: string): number {
  return hash("sha1", text, "buffer").readUIntBE(0, 6);
}
