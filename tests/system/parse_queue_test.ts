import { assert } from "@std/assert";
import { ParseQueue } from "../../middleware/parse_queue.ts";
import { TIMED } from "../support/app/deadline.ts";

const caller = (name: string) => ({ organizationId: name, name });

/** Works longer than a turn may take. */
function work(): void {
  const end = performance.now() + 11;
  while (performance.now() < end);
}

Deno.test("Work in turns", TIMED, async ({ step: it }) => {
  await it("lets in what waits for no turn, between any two", async () => {
    const queue = new ParseQueue();
    let others = 0;
    const timer = setInterval(() => others++, 0);
    let turns = 0;

    await Promise.all(["a", "b", "c", "d"].map(async (name) => {
      using own = queue.turns(caller(name));
      for (let i = 0; i < 3; i++) {
        work();
        await own.next();
        turns++;
      }
    }));

    clearInterval(timer);
    // A timer of a busy machine may miss a rest. Without rests, there are 3 in 12 turns.
    assert(others > turns / 2, `${others} in ${turns} turns`);
  });

  await it("shares a turn among the parts of the work", async () => {
    const queue = new ParseQueue();
    using own = queue.turns(caller("a"));
    work();

    let isShared = false;
    const first = own.next();
    own.next().then(() => isShared = true);
    await first;
    await Promise.resolve();

    assert(isShared);
  });
});
