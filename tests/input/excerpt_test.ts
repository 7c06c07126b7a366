import { assertEquals } from "@std/assert";
import { excerpt } from "../../schema/excerpt.ts";

const EXCERPTS: [text: string, length: number, excerpt: string][] = [
  ["Emma", 10, "Emma"],
  ["Emma", 2, "Em"],
  ["a😀b", 3, "a😀"],
  ["a😀b", 2, "a"],
  ["", 5, ""],
];

for (const [text, length, expected] of EXCERPTS) {
  Deno.test(`An excerpt of ${length} from ${text} has no half of a character`, () => {
    assertEquals(excerpt(text, length), expected);
  });
}
