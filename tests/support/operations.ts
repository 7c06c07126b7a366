import type { Database, Operations } from "../../db/database.ts";

/** The same database with its operations changed by `change`. */
export function withOperations(
  database: Database,
  change: (operations: Operations) => Operations,
): Database {
  return {
    until: (...limits) => change(database.until(...limits)),
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
