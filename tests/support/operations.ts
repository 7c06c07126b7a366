import type { Database, Operations } from "../../db/database.ts";

/** The same database, but what a request may do with it is `change`d. */
export function withOperations(
  database: Database,
  change: (operations: Operations) => Operations,
): Database {
  return {
    until: (deadline) => change(database.until(deadline)),
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
  };
}
