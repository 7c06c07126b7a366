import { assertEquals, assertMatch } from "@std/assert";
import { guarded, withoutGuard } from "../../features/sheets/schema/guard.ts";

/** Texts, and the cells in which no program of any country finds a formula. */
const CELLS: [text: string, cell: string][] = [
  ["=1", "'=1"],
  ["'=1", "''=1"],
  ["\t=1", "'\t'=1"],
  ["\n=1", "'\n'=1"],
  ["＝1", "'＝1"],
  ["- item", "'- item"],
  ["a;=cmd|'/C calc'!A0;b", "a;'=cmd|'/C calc'!A0;b"],
  ["a,+1\t-2\n@x\r＋1", "a,'+1\t'-2\n'@x\r'＋1"],
  ["a;''=1", "a;'''=1"],
  ["a\n- item", "a\n- item"],
  ["it's; 'quoted'", "it's; 'quoted'"],
  ["A (A01); B (B06)", "A (A01); B (B06)"],
  ["'tis", "'tis"],
  ["'".repeat(50_000), "'".repeat(50_000)],
];

for (const [text, cell] of CELLS) {
  Deno.test(`A text is guarded in its cell: ${JSON.stringify(text).slice(0, 40)}`, () => {
    assertEquals(guarded(text), cell);
    assertEquals(withoutGuard(cell), text);
  });
}

Deno.test("Every text comes back from its cell, and begins no formula", () => {
  const signs = ["'", "=", "-", " ", "a", ";", ",", "\t", "\n", "\r", "＠"];
  for (let i = 0; i < signs.length ** 4; i++) {
    let text = "";
    for (let rest = i; rest > 0; rest = Math.floor(rest / signs.length)) {
      text += signs[rest % signs.length];
    }
    const cell = guarded(text);
    assertEquals(withoutGuard(cell), text, JSON.stringify(text));
    for (const part of cell.split(/[,;\t\r\n]/)) {
      assertMatch(part, /^(?![=+@＝＋＠]|[-－]\S)/, JSON.stringify(text));
    }
  }
});
