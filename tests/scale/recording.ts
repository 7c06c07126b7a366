import { parametersOf, type Statement } from "../../db/connections/sql.ts";
import type { Transaction } from "../../db/connections/transaction.ts";
import type { Database } from "../../db/database.ts";
import { withOperations } from "../support/app/operations.ts";

/** A database that records the text of every statement. */
export interface Recording extends Database {
  /** The distinct statements recorded so far. */
  statements: Set<string>;
}

/**
 * Returns a database that records its statements: those of a distributed database if
 * it claims to be one.
 */
export function recorded(
  database: Database,
  { isDistributed = false, statements = new Set<string>() } = {},
): Recording {
  function remembered<S extends Statement>(statement: S): S {
    statements.add(parametersOf(statement, "").text);
    return statement;
  }

  function remembering(tx: Transaction): Transaction {
    return {
      isDistributed,
      send(...flight) {
        flight.forEach(remembered);
        return tx.send(...flight);
      },
      commit(...flight) {
        flight.forEach(remembered);
        return tx.commit(...flight);
      },
    };
  }

  const changed = withOperations(database, (operations) => ({
    memory: operations.memory,
    lookUp: (statement) => operations.lookUp(remembered(statement)),
    scan: (statement) => operations.scan(remembered(statement)),
    transaction: (work, ...opening) =>
      operations.transaction(
        (tx) => work(remembering(tx)),
        ...opening.map(remembered),
      ),
    write: (...statements) => {
      statements.forEach(remembered);
      return operations.write(...statements);
    },
    script: (work) => operations.script((tx) => work(remembering(tx))),
    inBackground: (...statements) =>
      operations.inBackground(...statements.map(remembered)),
  }));
  return Object.assign(changed, { statements });
}
