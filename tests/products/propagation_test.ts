import { assertEquals } from "@std/assert";
import { keepPropagating, propagateRenames } from "../../features/changes/db/renames.ts";
import { Activity } from "../../db/background.ts";
import type { Database } from "../../db/database.ts";
import { eventually } from "../support/app/eventually.ts";
import { withOperations } from "../support/app/operations.ts";
import { openOwnApp } from "../support/app/own_app.ts";

Deno.test("Propagation of renames", async ({ step: it }) => {
  // Other tests rename records meanwhile.
  await using app = await openOwnApp();

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

  await it("is done at once and when it is woken, one call at a time, and after an error", async () => {
    const begun: string[] = [];
    const errors: unknown[] = [];
    const slow = Promise.withResolvers<number>();

    const propagation = keepPropagating(
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
      new Activity(),
      (error) => errors.push((error as Error).message),
    );
    await eventually(["The disk is full"], () => errors);
    propagation.wake();
    await eventually(["slow"], () => begun);
    propagation.wake();
    slow.resolve(2);
    await eventually(["slow", "another"], () => begun);
    propagation.stop();
  });

  await it("asks one question while there is nothing to do", async () => {
    await propagateRenames(app.database);
    const asked: string[] = [];

    const propagation = keepPropagating(
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
      new Activity(),
      (error) => asked.push(String(error)),
    );
    await eventually(["look-up"], () => asked.slice(0, 1));
    propagation.wake();
    await eventually(["look-up", "look-up"], () => asked.slice(0, 2));
    propagation.stop();

    assertEquals(asked.includes("transaction"), false);
  });
});
