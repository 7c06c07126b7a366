import { hash } from "node:crypto";
import { validBody } from "../../schema/batch.ts";
import { ApiError } from "../../schema/errors.ts";
import { readCell } from "../../schema/sheets/cells.ts";
import { type Column, MATCHES } from "../../schema/sheets/columns.ts";
import type { SheetMessage } from "../../schema/sheets/report.ts";
import { type Cells, messageAt } from "../../schema/sheets/row.ts";
import { isUuid } from "../../schema/values.ts";
import { isOneOf, sql, type Statement } from "../connections/sql.ts";
import {
  hasKey,
  isbnKeys,
  type KeyedProduct,
  type LockKey,
  type ProductKey,
} from "../products/keys.ts";

/* How the rows of a sheet find their products. */

/** The id or the key by which a row finds its product, and the cell that says it. */
export interface Address extends LockKey {
  match: "id" | ProductKey["match"];
  column: Column;
  cell: string;
}

/** A product that a row may mean. */
export interface MeantProduct extends KeyedProduct {
  id: string;
}

/** The address of a row: the first of the columns that find a product counts. */
export function addressOf(cells: Cells): Address | SheetMessage | undefined {
  for (const match of MATCHES) {
    const [column, cell = ""] = [...cells].find(([{ name }]) =>
      name === match
    ) ?? [];
    if (!column || cell.trim() === "") continue;
    const fault = (text: string) => messageAt(text, column, cell);
    const value = cell.trim();
    if (match === "product_code") return { match, value, column, cell };
    if (match === "id") {
      return isUuid(value.toLowerCase())
        ? { match, value: value.toLowerCase(), column, cell }
        : fault("invalid_uuid: Expected the id of a product, a UUID");
    }
    const read = readCell(cell, column, { dates: "ymd" });
    if ("fault" in read) return fault(read.fault);
    const body = validBody("update", { [match]: read.value });
    if (!(body instanceof ApiError)) {
      return { ...isbnKeys(body)[0]!, column, cell };
    }
    const { code, message } = body.details[0]!;
    return fault(`${code}: ${message}`);
  }
}

/** An address as text. */
export function nameOf({ match, value }: LockKey): string {
  return `${match} ${value}`;
}

/** The condition that product `p` has one of the addresses. */
export function areMeant(addresses: readonly Address[]): Statement {
  const ids = addresses.flatMap(({ match, value }) =>
    match === "id" ? value : []
  );
  const keys = addresses.filter(({ match }) => match !== "id");
  return sql`(p.id ${isOneOf(ids)} or ${hasKey(keys as ProductKey[])})`;
}

/** The products by all of their addresses. */
export function productsByAddress<P extends MeantProduct>(
  products: readonly P[],
): Map<string, P[]> {
  const found = new Map<string, P[]>();
  for (const product of products) {
    const { id, product_code } = product;
    const keys: LockKey[] = [
      { match: "id", value: id },
      { match: "product_code", value: product_code },
      ...isbnKeys(product),
    ];
    for (const key of keys) found.getOrInsert(nameOf(key), []).push(product);
  }
  return found;
}

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

  /** Adds a row. `id` is the product's, if there is one. */
  add(line: number, cells: Cells, address: Address, id?: string): void {
    const digest = hash("sha1", JSON.stringify([...cells.values()]));
    const name = nameOf(address);
    const first = this.#first.get(name) ?? this.#first.get(`id ${id}`) ??
      { line, digest };
    if (first.digest !== digest) first.rival ??= line;
    this.#first.set(name, first);
    if (id) this.#first.set(`id ${id}`, first);
  }

  /** The line of another row of the product: of an equal one, which counts, or of one that says something else. */
  of(
    line: number,
    address: Address,
  ): { isEqual: boolean; line: number } | undefined {
    const first = this.#first.get(nameOf(address));
    if (first?.rival) {
      return {
        isEqual: false,
        line: line === first.line ? first.rival : first.line,
      };
    }
    if (first && line !== first.line) {
      return { isEqual: true, line: first.line };
    }
  }
}
