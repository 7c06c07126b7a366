import { hash } from "node:crypto";
import { keyName } from "../products/keys.ts";
import type { SheetRow } from "./sheet_row.ts";

/** The rows of one product. */
interface ProductRows {
  digest: string;
  lines: number[];
  /** The line of the first row that says something else than the first one. */
  rival?: number;
}

/** What a row learns of another row of its product: its line, if that says something else, or that it says the same. */
export type Twin = number | "same";

/** The rows of a sheet that mean one product, however each names it. */
export class Rivals {
  readonly #rows = new Map<string, ProductRows>();

  /** Adds a row with an address. `id` is the product's, if there is one. */
  add({ line, cells, address }: SheetRow, id?: string): void {
    const digest = hash("sha1", JSON.stringify([...cells.values()]), "base64");
    const names = [keyName(address!), ...id ? [`id ${id}`] : []];
    const rows = names.map((name) => this.#rows.get(name)).find(Boolean) ?? { digest, lines: [] };
    rows.lines.push(line);
    if (rows.digest !== digest) rows.rival ??= line;
    for (const name of names) this.#rows.set(name, rows);
  }

  /** What is known of the rows that are not alone, by their lines. Of equal ones the first counts. */
  twins(): Map<number, Twin> {
    const twins = new Map<number, Twin>();
    for (const { lines: [first, ...others], rival } of this.#rows.values()) {
      if (rival) twins.set(first!, rival);
      for (const line of others) twins.set(line, rival ? first! : "same");
    }
    return twins;
  }
}
