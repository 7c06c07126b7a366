import { parametersOf, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Database } from "../../../db/database.ts";
import { withOperations } from "./operations.ts";

/**
 * The same database, which shows each statement to `note`: those of a distributed database
 * if it claims to be one.
 */
export function recorded(
  database: Database,
  note: (statement: Statement) => void,
  { isDistributed = false } = {},
): Database {
  function noted<S extends Statement>(statement: S): S {
    note(statement);
    return statement;
  }
  const noting = (tx: Transaction): Transaction => ({
    isDistributed,
    author: tx.author,
    send(...flight) {
      flight.forEach(note);
      return tx.send(...flight);
    },
    commit(...flight) {
      flight.forEach(note);
      return tx.commit(...flight);
    },
  });
  return withOperations(database, (operations) => ({
    memory: operations.memory,
    lookUp: (statement) => operations.lookUp(noted(statement)),
    scan: (statement) => operations.scan(noted(statement)),
    transaction: (work, ...opening) =>
      operations.transaction((tx) => work(noting(tx)), ...opening.map(noted)),
    write: (...statements) => {
      statements.forEach(note);
      return operations.write(...statements);
    },
    inBackground: (statements) =>
      operations.inBackground((tx) => statements(noting(tx)).map(noted)),
  }));
}

/** Adds the text of each statement to the set. */
export function textsInto(texts: Set<string>): (statement: Statement) => void {
  return (statement) => texts.add(parametersOf(statement, "").text);
}
