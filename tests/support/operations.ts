import type { Database, Operations } from "../../db/database.ts";

/** The same database, but what a request may do with it is `change`d. */
export function withOperations(
  database: Database,
  change: (operations: Operations) => Operations,
): Database {
  return {
    until: (deadline, caller) => change(database.until(deadline, caller)),
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
  };
}
