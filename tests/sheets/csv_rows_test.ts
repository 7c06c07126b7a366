import { assertEquals } from "@std/assert";
import { CsvRows } from "../../features/sheets/schema/csv_rows.ts";

/* The rows of texts in CSV, in one part and in parts of one character. */

/** A row, or a blank one and how many of these follow each other. */
type Shown = [line: number, cells: string[], count?: number];

function rowsOf(parts: Iterable<string>, delimiter = ","): Shown[] {
  const rows = new CsvRows(delimiter, 1);
  const shown: Shown[] = [];
  const add = ({ line, cells, count }: { line: number; cells: unknown[]; count: number }) => {
    const [before] = shown.slice(-1);
    const isBlank = cells.every((cell) => (cell as string).trim() === "") && line > 1;
    if (isBlank && before?.[2]) before[2] += count;
    else shown.push(isBlank ? [line, [""], count] : [line, cells as string[]]);
  };
  for (const part of parts) for (const row of rows.read(part)) add(row);
  for (const row of rows.end()) add(row);
  return shown;
}

const TEXTS: [what: string, text: string, rows: Shown[]][] = [
  ["no text", "", []],
  ["a row without an end", "a,b", [[1, ["a", "b"]]]],
  ["empty cells", ",\n,a,\n", [[1, ["", ""]], [2, ["", "a", ""]]]],
  ["marks around cells", '"a","b,c"\n', [[1, ["a", "b,c"]]]],
  ["marks within cells", '"a ""b""",""""\n', [[1, ['a "b"', '"']]]],
  ["marks that do not enclose a cell", '5" nails,"A" and B\n', [[1, ['5" nails', '"A" and B']]]],
  ["marks around nothing", 'a\n""x,""', [[1, ["a"]], [2, ['""x', ""]]]],
  ["lines in cells", '"a\n\nb",c\nd\n', [[1, ["a\n\nb", "c"]], [4, ["d"]]]],
  ["rows of other lengths", "a\nb,c\n", [[1, ["a"]], [2, ["b", "c"]]]],
  ["a blank header", "\na\n", [[1, [""]], [2, ["a"]]]],
  ["blank rows", "a\n\n  \t\n,, ,\nb\n\n", [[1, ["a"]], [2, [""], 3], [5, ["b"]], [6, [""], 1]]],
  ["a guard", "a\n'=1\n", [[1, ["a"]], [2, ["=1"]]]],
];

for (const [what, text, rows] of TEXTS) {
  Deno.test(`Rows in CSV have ${what}`, () => {
    assertEquals(rowsOf([text]), rows);
    assertEquals(rowsOf(text), rows);
  });
}

Deno.test("A million blank rows are read as a few rows", () => {
  const rows = new CsvRows(",", 1);
  const part = `${" ".repeat(60)},\n`.repeat(1_000);
  let [count, read] = [0, 0];
  for (let i = 0; i < 1_000; i++) {
    for (const row of rows.read(i === 0 ? `a\n${part}` : part)) {
      count += row.count;
      read++;
    }
  }
  assertEquals([count, read], [1_000_001, 1_001]);
});
