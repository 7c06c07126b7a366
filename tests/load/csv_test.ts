import { assertEquals, assertThrows } from "@std/assert";
import { recordsOf, rowsOf } from "./csv.ts";

const CASES: Record<string, string[][]> = {
  "": [],
  "a,b\n1,2\n": [["a", "b"], ["1", "2"]],
  "a,b\r\n1,2": [["a", "b"], ["1", "2"]],
  "a\rb\r": [["a"], ["b"]],
  ",\n": [["", ""]],
  "a,": [["a", ""]],
  "\n": [[""]],
  '"a,b",c': [["a,b", "c"]],
  '"say ""so""",""': [['say "so"', ""]],
  '"two\nlines",x\n': [["two\nlines", "x"]],
  "\ufeffa,b": [["a", "b"]],
  " a , b ": [[" a ", " b "]],
};

Deno.test("rowsOf", async ({ step: it }) => {
  for (const [text, rows] of Object.entries(CASES)) {
    await it(`reads ${JSON.stringify(text)}`, () => {
      assertEquals(rowsOf(text), rows);
    });
  }

  for (const text of ['a"b', '"a"b', '"a', 'x\n"a" ,b']) {
    await it(`refuses ${JSON.stringify(text)}`, () => {
      assertThrows(() => rowsOf(text), SyntaxError, "unexpected quote");
    });
  }
});

Deno.test("recordsOf", async ({ step: it }) => {
  await it("takes the field names from the first row", () => {
    assertEquals(recordsOf("id,title\n1,Emma\n"), [{ id: "1", title: "Emma" }]);
  });

  await it("refuses a row of another length", () => {
    assertThrows(
      () => recordsOf("id,title\n1\n"),
      SyntaxError,
      "Row 2: found 1 fields, expected 2",
    );
  });
});
