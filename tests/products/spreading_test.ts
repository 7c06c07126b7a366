import { assertEquals } from "@std/assert";
import { keepSpreading, spreadRenames } from "../../db/products/renames.ts";
import type { Database } from "../../db/database.ts";
import { eventually } from "../support/app/eventually.ts";
import { openApp } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";

Deno.test("Spreading renames", async ({ step: it }) => {
  await using app = await openApp();

  /** The database, whose chunks have these numbers of records, and then none. */
  function withChunks(...chunks: (() => Promise<number>)[]): Database {
    return withOperations(app.database, (queries) => ({
      ...queries,
      lookUp: () => Promise.resolve([{ is_there: chunks.length > 0 }] as never),
      write: async () => {
        const records = await chunks.shift()?.();
        const organization = records === undefined ? null : "019a0000-0001-7000-8000-000000000000";
        return [[{ organization, records: records ?? 0 }]] as never;
      },
    }));
  }

  await it("is done at once and at each interval, one call at a time, and after an error", async () => {
    const begun: string[] = [];
    const errors: unknown[] = [];
    const slow = Promise.withResolvers<number>();
    using interval = caughtInterval();

    const stop = keepSpreading(
      withChunks(
        () => Promise.reject(new Error("The disk is full")),
        () => {
          begun.push("slow");
          return slow.promise;
        },
        () => {
          begun.push("another");
          return Promise.resolve(1);
        },
      ),
      (error) => errors.push((error as Error).message),
    );
    await eventually(["The disk is full"], () => errors);
    interval.tick();
    interval.tick();
    await eventually(["slow"], () => begun);
    slow.resolve(2);
    await eventually(["slow", "another"], () => begun);
    stop();

    assertEquals(interval.isOver, true);
  });

  await it("asks one question while there is nothing to do", async () => {
    await spreadRenames(app.database);
    const asked: string[] = [];
    using interval = caughtInterval();

    const stop = keepSpreading(
      withOperations(app.database, (queries) => ({
        ...queries,
        lookUp(statement) {
          asked.push("look-up");
          return queries.lookUp(statement);
        },
        write(...statements) {
          asked.push("transaction");
          return queries.write(...statements);
        },
      })),
      (error) => asked.push(String(error)),
    );
    await eventually(["look-up"], () => asked);
    await eventually(["look-up", "look-up"], () => {
      // The first question may still run.
      if (asked.length < 2) interval.tick();
      return asked;
    });
    stop();

    assertEquals(asked, ["look-up", "look-up"]);
  });
});

/** Catches the next timer of `setInterval`. Until disposed, its work is done at each `tick`. */
function caughtInterval() {
  const { setInterval, clearInterval } = globalThis;
  const id = -1;
  let work = () => {};
  let isOver = false;
  Object.assign(globalThis, {
    setInterval(given: () => void) {
      work = given;
      Object.assign(globalThis, { setInterval });
      return id;
    },
    clearInterval(given: number) {
      if (given === id) isOver = true;
      else clearInterval(given);
    },
  });
  return {
    tick: () => work(),
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, { setInterval, clearInterval });
    },
  };
}
