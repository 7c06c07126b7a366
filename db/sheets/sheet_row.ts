import { validBody } from "../../schema/batch.ts";
import type { Entry } from "../../schema/bodies.ts";
import { ApiError } from "../../schema/errors.ts";
import { readCell } from "../../schema/sheets/cells.ts";
import { MATCHES, type SheetColumn } from "../../schema/sheets/columns.ts";
import type { SheetHeader } from "../../schema/sheets/header.ts";
import type { CellChange, RowOutcome, SheetMessage } from "../../schema/sheets/report.ts";
import { type Cells, messageAt } from "../../schema/sheets/draft.ts";
import { isUuid } from "../../schema/values.ts";
import { isOneOf, sql, type Statement } from "../connections/sql.ts";
import {
  hasKey,
  isbnKeys,
  type KeyedProduct,
  keyName,
  type LockKey,
  type ProductKey,
} from "../products/keys.ts";
import { type SizedProduct, sizeOfStored } from "../products/read_many.ts";

/** A row of a sheet, how it finds its product, and what became of it. */
export class SheetRow {
  readonly line: number;
  readonly cells: Cells;
  /** Absent if all its match cells are empty, or the first one with a text cannot be read. */
  readonly address: RowAddress | undefined;
  /** The warnings about the row, whatever becomes of it. */
  readonly warnings: SheetMessage[] = [];
  outcome: RowOutcome | undefined;

  /** Refuses a row with too many cells, or with an address that cannot be read. */
  constructor(line: number, cells: readonly string[], { columns, width }: SheetHeader) {
    this.line = line;
    this.cells = new Map(
      [...columns].flatMap(([index, column]) =>
        index < cells.length ? [[column, cells[index]!]] : []
      ),
    );
    const address = this.#address();
    if (address && "severity" in address) this.end("refused", [address]);
    else this.address = address;
    if (cells.slice(width).some((cell) => cell.trim() !== "")) {
      this.refuse(`too_many: The row has ${cells.length} cells, and the sheet ${width} columns`);
    }
  }

  /** The column with a name, and its cell. */
  cellOf(name: string): [SheetColumn | undefined, cell: string] {
    return this.cells.entries().find(([column]) => column.name === name) ?? [undefined, ""];
  }

  /** Ends the row with what became of it, and with what is known of its product. */
  end(
    outcome: RowOutcome["outcome"],
    messages: readonly SheetMessage[],
    { product, changes = [] }: { product?: Entry | undefined; changes?: CellChange[] } = {},
  ): void {
    const isbn13 = product ? product.isbn13 : this.cellOf("isbn13")[1] || null;
    this.outcome = {
      line: this.line,
      id: (product?.id ?? null) as string | null,
      isbn13: (isbn13 ?? null) as string | null,
      outcome,
      changes,
      messages: [...this.warnings, ...messages],
    };
  }

  /** Refuses the row. `text` is `code: Sentence`. */
  refuse(text: string, { column, cell }: Partial<RowAddress> = {}): void {
    this.end("refused", [messageAt(text, column, cell)]);
  }

  /** How the row finds its product, or why it cannot. The first match cell with a text counts. */
  #address(): RowAddress | SheetMessage | undefined {
    const [column, cell] = MATCHES.map((match) => this.cellOf(match))
      .find(([, cell]) => cell.trim() !== "") ?? [];
    if (!column || cell === undefined) return;
    const value = cell.trim();
    switch (column.name) {
      case "product_code":
        return { kind: "product_code", value, column, cell };
      case "id":
        return isUuid(value.toLowerCase())
          ? { kind: "id", value: value.toLowerCase(), column, cell }
          : messageAt("invalid_uuid: Expected the id of a product, a UUID", column, cell);
    }
    const read = readCell(cell, column, { dates: "ymd" });
    if ("fault" in read) return messageAt(read.fault, column, cell);
    const body = validBody("update", { [column.name]: read.value });
    if (!(body instanceof ApiError)) return { ...isbnKeys(body)[0]!, column, cell };
    const { code, message } = body.details[0]!;
    return messageAt(`${code}: ${message}`, column, cell);
  }
}

/** The id or the key by which a row finds its product, with its cell. */
export interface RowAddress extends LockKey {
  kind: "id" | ProductKey["kind"];
  column: SheetColumn;
  cell: string;
}

/** A product that a row may mean, with the size of its JSON. */
export type MeantProduct = KeyedProduct & SizedProduct;

/** The products that rows may mean. */
export const meantProducts = sql<MeantProduct>`
  select p.id, p.isbn13, p.isbn10, p.product_code, ${sizeOfStored} as bytes
  from products p
`;

/** The condition that product `p` has one of the addresses. */
export function areMeant(addresses: readonly RowAddress[]): Statement {
  const ids = addresses.flatMap(({ kind, value }) => kind === "id" ? value : []);
  const keys = addresses.filter(({ kind }) => kind !== "id");
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
      { kind: "id", value: id },
      { kind: "product_code", value: product_code },
      ...isbnKeys(product),
    ];
    for (const key of keys) found.getOrInsert(keyName(key), []).push(product);
  }
  return found;
}
