import { assertEquals } from "@std/assert";
import { RoundRobin } from "../../db/connections/round_robin.ts";

Deno.test("RoundRobin keeps its order when entries move and end", () => {
  const turns = new RoundRobin<number>();
  ["a", "b", "c", "d"].forEach((key, value) => turns.add(key, value));

  turns.moveToEnd("a");
  turns.delete("c");
  turns.moveToEnd("a");
  turns.add("e", 4);

  assertEquals([...turns], [["b", 1], ["d", 3], ["a", 0], ["e", 4]]);
  assertEquals([turns.size, turns.get("d"), turns.get("c")], [4, 3, undefined]);
  for (const key of ["b", "e", "d", "a"]) turns.delete(key);
  assertEquals([...turns], []);
});
