import { validBody } from "../../../schema/accepted.ts";
import type { Entry } from "../../../schema/bodies.ts";
import { ApiError, MAX_ERRORS } from "../../../schema/errors.ts";
import { excerpt } from "../../../schema/excerpt.ts";
import { readCell } from "../schema/cells.ts";
import { MATCHES, type SheetColumn } from "../schema/columns.ts";
import type { SheetHeader } from "../schema/header.ts";
import { type Cell, isBlank, textOf } from "../schema/cell.ts";
import type { Row } from "../schema/file.ts";
import {
  type CellChange,
  MAX_VALUE,
  type RowOutcome,
  type SheetMessage,
} from "../schema/report.ts";
import { type Cells, messageAt } from "../schema/convert_row.ts";
import { isUuid } from "../../../schema/values.ts";
import { isOneOf, sql, type Statement } from "../../../db/connections/sql.ts";
import {
  hasKey,
  isbnKeys,
  type KeyedProduct,
  keyName,
  type LockKey,
  type ProductKey,
} from "../../../db/products/change/keys.ts";
import { type SizedProduct, sizeOfStored } from "../../../db/products/read_many.ts";

/* A row of a sheet, and the products that rows find by id, code or ISBN. */

/** A row of a sheet: its cells, the address of its product, and its outcome. */
export class SheetRow {
  readonly index: number;
  readonly line: number;
  readonly cells: Cells;
  /** Absent if all its match cells are empty, or the first one with a text cannot be read. */
  readonly address: RowAddress | undefined;
  /** Warnings that are reported with every outcome. */
  readonly warnings: SheetMessage[] = [];
  outcome: RowOutcome | undefined;

  /** Refuses a row with too many cells, or with an address that cannot be read. */
  constructor({ index, line, cells }: Row, { columns, width }: SheetHeader) {
    this.index = index;
    this.line = line;
    this.cells = new Map(
      [...columns].flatMap(([index, column]) =>
        index < cells.length ? [[column, cells[index]!]] : []
      ),
    );
    const address = this.#address();
    if (address && "severity" in address) this.end("refused", [address]);
    else this.address = address;
    if (!isBlank(cells.slice(width))) {
      this.refuse(`too_many: The row has ${cells.length} cells, and the sheet ${width} columns`);
    }
  }

  /** The column with a name, and its cell. */
  cellOf(name: string): [SheetColumn | undefined, cell: Cell] {
    return this.cells.entries().find(([column]) => column.name === name) ?? [undefined, ""];
  }

  /** Sets the outcome of the row, with its messages and the changes to its product. */
  end(
    outcome: RowOutcome["outcome"],
    messages: readonly SheetMessage[],
    { product, changes = [] }: { product?: Entry | undefined; changes?: CellChange[] } = {},
  ): void {
    const isbn13 = product
      ? product.isbn13
      : excerpt(textOf(this.cellOf("isbn13")[1]), MAX_VALUE) || null;
    this.outcome = {
      line: this.line,
      id: (product?.id ?? null) as string | null,
      isbn13: (isbn13 ?? null) as string | null,
      outcome,
      changes,
      messages: [...this.warnings, ...messages].slice(0, MAX_ERRORS),
    };
  }

  /** Refuses the row. `text` is `code: Sentence`. */
  refuse(text: string, { column, cell }: Partial<RowAddress> = {}): void {
    this.end("refused", [messageAt(text, column, cell)]);
  }

  /** The address of the row's product, or why it has none. The first match cell with a text counts. */
  #address(): RowAddress | SheetMessage | undefined {
    const [column, cell] = MATCHES.map((match) => this.cellOf(match))
      .find(([, cell]) => textOf(cell).trim() !== "") ?? [];
    if (!column || cell === undefined) return;
    const value = textOf(cell).trim();
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
  cell: Cell;
}

/** A product that rows may change, with the size of its JSON. */
export type TargetProduct = KeyedProduct & SizedProduct;

/** Selects target products. */
export const targetProducts = sql<TargetProduct>`
  select p.id, p.isbn13, p.isbn10, p.product_code, ${sizeOfStored} as bytes
  from products p
`;

/** The condition that product `p` has one of the addresses. */
export function hasAddress(addresses: readonly RowAddress[]): Statement {
  const ids = addresses.flatMap(({ kind, value }) => kind === "id" ? value : []);
  const keys = addresses.filter(({ kind }) => kind !== "id");
  return sql`(p.id ${isOneOf(ids)} or ${hasKey(keys as ProductKey[])})`;
}

/** Indexes products by each of their addresses. */
export function productsByAddress<P extends TargetProduct>(
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
