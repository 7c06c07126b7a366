import type { Database, Queries } from "../../../db/database.ts";

/** The same database with its operations changed by `change`, which may spread them. */
export function withOperations(
  database: Database,
  change: (operations: Queries) => Queries,
): Database {
  return {
    for(limits) {
      const queries = database.for(limits);
      return change({
        memory: queries.memory,
        lookUp: (statement) => queries.lookUp(statement),
        scan: (statement) => queries.scan(statement),
        transaction: (work, ...opening) => queries.transaction(work, ...opening),
        write: (...statements) => queries.write(...statements),
        inBackground: (statements) => queries.inBackground(statements),
      });
    },
    get load() {
      return database.load;
    },
    close: (seconds) => database.close(seconds),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
