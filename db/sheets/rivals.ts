import { hash } from "node:crypto";
import { keyName } from "../products/keys.ts";
import type { SheetRow } from "./rows.ts";

/** The first row of a product. */
interface FirstRow {
  line: number;
  digest: string;
  /** The line of the first row that says something else. */
  rival?: number;
}

/** The rows of a sheet that mean one product, however each names it. */
export class Rivals {
  readonly #first = new Map<string, FirstRow>();

  /** Adds a row with an address. `id` is the product's, if there is one. */
  add({ line, cells, address }: SheetRow, id?: string): void {
    const digest = hash("sha1", JSON.stringify([...cells.values()]));
    const name = keyName(address!);
    const first = this.#first.get(name) ?? this.#first.get(`id ${id}`) ?? { line, digest };
    if (first.digest !== digest) first.rival ??= line;
    this.#first.set(name, first);
    if (id) this.#first.set(`id ${id}`, first);
  }

  /** Ends a row that has others of its product: of equal ones the first counts. */
  end(row: SheetRow): void {
    const first = row.address && this.#first.get(keyName(row.address));
    if (first?.rival) {
      const other = row.line === first.line ? first.rival : first.line;
      row.refuse(
        `duplicate: Line ${other} has another row of the same product: keep one of them`,
      );
    } else if (first && row.line !== first.line) row.end("unchanged", []);
  }
}
