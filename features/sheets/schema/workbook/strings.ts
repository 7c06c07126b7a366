import { Buffer } from "node:buffer";
import { damaged, tooLarge } from "./archive.ts";

/*
 * Stores the shared strings of a workbook in blocks of bytes, because a million JavaScript strings
 * take ten times their bytes.
 */

/** The bytes that the shared strings of a workbook of so many bytes may take. */
export function stringsBytes(packed: number): number {
  return Math.min(Math.max(8 * packed, 4 * 2 ** 20), 64 * 2 ** 20);
}

const BLOCK_BYTES = 2 ** 20;

/** The bytes that a string takes besides its text. */
const STRING_BYTES = 12;

export class SharedStrings {
  readonly #blocks: Buffer[] = [];
  /** For each string its block, where it begins and how long it is. */
  #places = new Uint32Array(3 * 1_024);
  #count = 0;
  #used = 0;
  /** The bytes that there is room for. */
  #room: number;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  add(text: string): void {
    const length = Buffer.byteLength(text);
    this.#room -= length + STRING_BYTES;
    if (this.#room < 0) throw tooLarge("The texts of the workbook take too much memory");
    if (this.#blocks.length === 0 || this.#used + length > BLOCK_BYTES) {
      this.#blocks.push(Buffer.alloc(Math.max(BLOCK_BYTES, length)));
      this.#used = 0;
    }
    this.#blocks.at(-1)!.write(text, this.#used);
    if (3 * this.#count === this.#places.length) {
      const longer = new Uint32Array(2 * this.#places.length);
      longer.set(this.#places);
      this.#places = longer;
    }
    this.#places.set([this.#blocks.length - 1, this.#used, length], 3 * this.#count++);
    this.#used += length;
  }

  at(index: number): string {
    const isText = Number.isInteger(index) && index >= 0 && index < this.#count;
    if (!isText) throw damaged("A shared text is missing");
    const [block = 0, from = 0, length = 0] = this.#places.subarray(3 * index, 3 * index + 3);
    return this.#blocks[block]!.toString("utf8", from, from + length);
  }
}
