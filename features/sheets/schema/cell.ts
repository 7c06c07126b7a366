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

/** Whether all cells are empty, or have nothing but blanks. */
export function isBlank(cells: readonly Cell[]): boolean {
  return cells.every((cell) => textOf(cell).trim() === "");
}
