import { assertThrows } from "@std/assert";
import { MemoryBudget } from "../../middleware/memory_budget.ts";
import { ApiError } from "../../schema/errors.ts";

const A = { organizationId: "a", name: "1" };
const A2 = { organizationId: "a", name: "2" };
const B = { organizationId: "b", name: "1" };

Deno.test("A memory budget", async (t) => {
  const refuses = (work: () => unknown) => assertThrows(work, ApiError, "Full");
  const budget = () => new MemoryBudget(1_000, "Full");
  const fill = (memory: MemoryBudget, holder: typeof A) => {
    try {
      for (;;) memory.reserve(holder, 1);
    } catch {
      // The share is used up.
    }
  };

  await t.step("leaves memory to other callers and organizations", () => {
    const memory = budget();
    fill(memory, A);
    refuses(() => memory.reserve(A, 1));
    memory.reserve(A2, 50);
    fill(memory, A2);
    refuses(() => memory.reserve(A2, 1));
    memory.reserve(B, 100);
    memory.reserve(B, 50);
  });

  await t.step("gives most of the memory to a caller that is alone", () => {
    const memory = budget();
    const half = Array.from({ length: 5 }, () => memory.reserve(A, 100));
    memory.reserve(A, 60);
    refuses(() => memory.reserve(A, 10));

    // Others get half of what is left, and then the caller gets less.
    memory.reserve(B, 200);
    half.forEach((reservation) => reservation[Symbol.dispose]());
    memory.reserve(A, 300);
    refuses(() => memory.reserve(A, 100));
  });

  await t.step("gives an organization one reservation of any size", () => {
    const memory = budget();
    const large = memory.reserve(A);
    large.add(600);
    large.add(600);
    refuses(() => memory.reserve(A, 1));
    refuses(() => memory.reserve(A2, 1));
    memory.reserve(B, 600);
  });

  await t.step("frees a disposed reservation once", () => {
    const memory = budget();
    for (let i = 0; i < 3; i++) {
      const all = memory.reserve(A, 1_000);
      refuses(() => memory.reserve(A, 1));
      all[Symbol.dispose]();
      all[Symbol.dispose]();
    }
    fill(memory, A);
    refuses(() => memory.reserve(A, 1));
  });
});
