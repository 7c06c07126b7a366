import type { Database } from "../../db/database.ts";
import type { Question } from "../../db/connections/gathering.ts";
import { script, type Sql } from "../support/script.ts";
import { withOperations } from "../support/operations.ts";

/** A database that remembers the text of every statement it is asked to run. */
export interface Recording extends Database {
  /** The statements until now, each once. */
  statements(): Set<string>;
}

/** What postgres.js writes onto a statement that it sends; a fragment of one has no text of its own. */
interface Sent {
  string?: string;
}

/** Remembers what goes through the database; everything else is its own. */
export function recorded(database: Database): Recording {
  const made: Sent[] = [];

  function remembering<S extends Sql>(sql: S): S {
    const tag = (...call: Parameters<Sql>) => {
      const query = sql(...call);
      made.push(query as unknown as Sent);
      return query;
    };
    return Object.assign(tag, {
      json: sql.json,
      unsafe: sql.unsafe,
    }) as unknown as S;
  }

  function remembered<Ask, Answer, S extends Sql>(
    { answer, ...question }: Question<Ask, Answer, S>,
  ): Question<Ask, Answer, S> {
    return {
      ...question,
      answer: (sql, asks) => answer(remembering(sql), asks),
    };
  }

  const changed = withOperations(database, (operations) => ({
    lookUp: (question) => operations.lookUp(remembered(question)),
    read: (question) => operations.read(remembered(question)),
    run: (work) => script(operations, (sql) => work(remembering(sql))),
    write: (question) => operations.write(remembered(question)),
    transaction: (work) =>
      operations.transaction((sql) => work(remembering<Tx>(sql))),
  }));
  return Object.assign(changed, {
    statements: () =>
      new Set(made.flatMap(({ string }) => string === undefined ? [] : string)),
  });
}
