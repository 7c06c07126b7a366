import type { Database, Operations } from "../db/database.ts";

/** The database, and how often it was read: looked up, or a single write. */
export function countingReads(
  database: Database,
): Database & { reads: number } {
  const counted = {
    ...database,
    load: database.load,
    reads: 0,
    until(deadline: number): Operations {
      const { lookUp, read, run, write, transaction } = database.until(
        deadline,
      );
      function counting<Given extends unknown[], T>(
        operation: (...given: Given) => T,
      ) {
        return (...given: Given): T => {
          counted.reads++;
          return operation(...given);
        };
      }
      return {
        lookUp: counting(lookUp),
        read: counting(read),
        run: counting(run),
        write,
        transaction,
      };
    },
  };
  return counted;
}
