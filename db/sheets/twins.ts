import { hash } from "node:crypto";
import { keyName } from "../products/keys.ts";
import type { SheetRow } from "./sheet_row.ts";

/** The rows of one product. */
interface ProductRows {
  /** The digest of the first row. */
  digest: string;
  lines: number[];
  /** The line of the first row that differs from it. */
  differing?: number;
}

/** Another row of a row's product. */
export interface Twin {
  line: number;
  /** Whether all rows of the product are equal. */
  isEqual: boolean;
}

/** The rows of a sheet that mean one product, whichever key of it each row has. */
export class Twins {
  readonly #rows = new Map<string, ProductRows>();

  /** Adds a row with an address. `id` is that of its product, if there is one. */
  add({ line, cells, address }: SheetRow, id?: string): void {
    const digest = hash("sha1", JSON.stringify([...cells.values()]), "base64");
    const names = [keyName(address!), ...id ? [`id ${id}`] : []];
    const rows = names.map((name) => this.#rows.get(name)).find(Boolean) ?? { digest, lines: [] };
    rows.lines.push(line);
    if (rows.digest !== digest) rows.differing ??= line;
    for (const name of names) this.#rows.set(name, rows);
  }

  /** The twins by the lines of their rows. Of equal rows, the first has none: it is written. */
  byLine(): Map<number, Twin> {
    const twins = new Map<number, Twin>();
    for (const { lines: [first, ...others], differing } of this.#rows.values()) {
      if (differing) twins.set(first!, { line: differing, isEqual: false });
      for (const line of others) twins.set(line, { line: first!, isEqual: !differing });
    }
    return twins;
  }
}
