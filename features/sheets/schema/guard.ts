/*
 * Guards texts against being read as formulas, by an apostrophe: `'=1+1`. A program with another
 * delimiter begins a cell after each such sign and after each line end in a text, so the apostrophe
 * is needed there as well: `a;'=1+1`.
 */

/**
 * The beginning of a formula, with any apostrophes before it: at the start of a text, and after a
 * delimiter within it.
 */
const FIRST = String.raw`'*[=+\-@\t\r\n＝＋－＠]`;
// A hyphen before a blank begins an item of a list.
const LATER = String.raw`'*(?:[=+@＝＋＠]|[-－]\S)`;
const DELIMITER = String.raw`[,;\t\r\n]`;

const UNGUARDED = new RegExp(`^(?=${FIRST})|(?<=${DELIMITER})(?=${LATER})`, "g");
const GUARDS = new RegExp(`^'(?=${FIRST})|(?<=${DELIMITER})'(?=${LATER})`, "g");

/** The text as a cell that no spreadsheet program takes for a formula. */
export function guarded(text: string): string {
  return text.replace(UNGUARDED, "'");
}

/** The text of a guarded cell. */
export function withoutGuard(cell: string): string {
  return cell.includes("'") ? cell.replace(GUARDS, "") : cell;
}
