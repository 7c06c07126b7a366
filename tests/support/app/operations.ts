import type { Database, Queries } from "../../../db/database.ts";

/** The same database with its operations changed by `change`. */
export function withOperations(
  database: Database,
  change: (operations: Queries) => Queries,
): Database {
  return {
    for: (limits) => change(database.for(limits)),
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
