/* A cell. In CSV all cells are texts. Workbooks also have numbers, dates and errors. */

/** A cell that is no text. `text` shows it as a text would. */
export interface TypedCell {
  /**
   * `time` is a day with a time. An `isbn` is a text that programs take for a number. An `error` has
   * a sentence.
   */
  kind: "number" | "boolean" | "day" | "time" | "isbn" | "error";
  text: string;
}

export type Cell = string | TypedCell;

export function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

/** A number as programs show it: rounded to 15 digits, and if it is small, without an exponent. */
export function numberText(number: number): string {
  const text = String(Number(number.toPrecision(15)));
  const [, sign = "", first, others = "", zeros] = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  return first ? `${sign}0.${"0".repeat(Number(zeros) - 1)}${first}${others}` : text;
}

/** Whether all cells are empty, or have nothing but blanks. */
export function isBlank(cells: readonly Cell[]): boolean {
  return cells.every((cell) => textOf(cell).trim() === "");
}
