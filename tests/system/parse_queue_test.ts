import { assert, assertEquals } from "@std/assert";
import { ParseQueue } from "../../middleware/parse_queue.ts";
import { TIMED } from "../support/app/deadline.ts";

const caller = (name: string) => ({ organizationId: name, name });

const NAMES = ["a", "b", "c", "d"];

/** Works for this time. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** The number of times that timers run meanwhile, of whatever waits for no parser. */
async function othersDuring(running: Promise<unknown>): Promise<number> {
  let others = 0;
  const timer = setInterval(() => others++, 0);
  await running;
  clearInterval(timer);
  return others;
}

Deno.test("The parser", TIMED, async ({ step: it }) => {
  await it("lets others run between the parts of long work", async () => {
    const queue = new ParseQueue();

    const others = await othersDuring(Promise.all(NAMES.map(async (name) => {
      const pace = queue.pacer(caller(name));
      for (let i = 0; i < 3; i++) {
        work(11);
        await pace();
      }
    })));

    // A timer of a busy machine may be late. Without pauses, it runs 3 times at most.
    assert(others > 6, `${others} of 12`);
  });

  await it("lets others run as long as one long work took", async () => {
    const queue = new ParseQueue();
    const deadline = performance.now() + 60_000;
    const started = performance.now();

    await Promise.all(
      NAMES.map((name) => queue.run({ caller: caller(name), deadline }, () => work(50))),
    );

    // Four times 50 ms, and three pauses.
    const ms = performance.now() - started;
    assert(ms > 345, `${ms} ms`);
  });

  await it("lets an import go on at once after long work of the database", async () => {
    const pace = new ParseQueue().pacer(caller("a"));
    await pace();

    // The embedded database works in this process.
    await new Promise((replied) =>
      setImmediate(() => {
        work(1_000);
        setImmediate(replied);
      })
    );
    const started = performance.now();
    await pace();

    const ms = performance.now() - started;
    assert(ms < 900, `${ms} ms`);
  });

  await it("runs much short work one after the other, with pauses", async () => {
    const queue = new ParseQueue();
    const deadline = performance.now() + 60_000;
    const done: number[] = [];

    const others = await othersDuring(Promise.all(
      Array.from(
        { length: 120 },
        (_, i) =>
          queue.run({ caller: caller(NAMES[0]!), deadline }, () => {
            work(1);
            done.push(i);
          }),
      ),
    ));

    assertEquals(done, done.toSorted((one, other) => one - other));
    assert(others > 5, `${others} pauses of 11`);
  });

  await it("throws the error of the work, and goes on", async () => {
    const queue = new ParseQueue();
    const request = { caller: caller("a"), deadline: performance.now() + 1e5 };
    const error = new TypeError("On purpose");

    const thrown = await queue.run(request, () => {
      throw error;
    }).catch((error) => error);

    assertEquals(thrown, error);
    assertEquals(await queue.run(request, () => 1), 1);
  });
});
