import type { Database, Operations } from "../db/database.ts";

/** The database, and how often it was read: looked up, or a single write. */
export function countingReads(
  database: Database,
): Database & { reads: number } {
  const counted = {
    ...database,
    load: database.load,
    reads: 0,
    until(deadline: number) {
      const operations = database.until(deadline);
      const counting =
        (kind: "read" | "lookUp"): Operations["read"] => (work) => {
          counted.reads++;
          return operations[kind](work);
        };
      return {
        ...operations,
        read: counting("read"),
        lookUp: counting("lookUp"),
      };
    },
  };
  return counted;
}
