import { assertEquals } from "@std/assert";
import { membersOf, parsePieces } from "../../schema/json_pieces.ts";
import { parseExact } from "../../schema/numbers.ts";

/** What a generator returns, and how often it pauses. */
function run<Result>(work: Generator<undefined, Result>): { result: Result; pauses: number } {
  for (let pauses = 0;; pauses++) {
    const { done, value } = work.next();
    if (done) return { result: value, pauses };
  }
}

const LONG = "a".repeat(70_000);
const MANY = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `"\\${i}` }));

const TEXTS: [what: string, text: string][] = [
  ["a string", '"a"'],
  ["a number", "-1.5e3"],
  ["nothing", "null"],
  ["empty", '{"a":[],"b":{},"c":""}'],
  ["a long string", JSON.stringify(LONG)],
  ["escapes at the end of strings", JSON.stringify([`${LONG}\\`, `${LONG}\\"`, '"', "\\\\\\", ""])],
  ["brackets in strings", JSON.stringify({ "a]}": ["[{", `]${LONG}`], "{": '",:' })],
  ["blanks", JSON.stringify({ a: MANY, b: [], c: {}, d: 1, e: null, f: "" }, null, "\t\r\n ")],
  ["many objects", JSON.stringify(MANY)],
  ["long objects in long objects", JSON.stringify({ a: { b: { c: [MANY, [MANY]] } }, d: 1 })],
  ["a name of prototypes", `{"a":"${LONG}","__proto__":{"b":1}}`],
  ["exact numbers", `{"a":"${LONG}","b":[123456789012.12345678,1e400,[${"9".repeat(40)}]]}`],
];

for (const [what, text] of TEXTS) {
  Deno.test(`JSON is parsed in pieces as at once: ${what}`, () => {
    const { result } = run(parsePieces(text));
    assertEquals(JSON.stringify(result), JSON.stringify(parseExact(text)));
    if (text.startsWith("{")) {
      const { result: members } = run(membersOf(text.slice(1, -1)));
      const joined = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`);
      assertEquals(JSON.stringify(parseExact(`{${joined}}`)), JSON.stringify(result));
    }
  });
}

Deno.test("Long JSON is parsed in pieces of 64 KiB", () => {
  const text = JSON.stringify({ a: { b: [MANY, MANY] } });
  const { pauses } = run(parsePieces(text));
  assertEquals(pauses > text.length / 140_000, true, `${pauses} for ${text.length}`);
});
