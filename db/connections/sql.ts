import type postgres from "postgres";
import { RowsMissing } from "./sqlstate.ts";

/** Statements as tagged templates; what is interpolated travels as a parameter. */
export interface Sql {
  <T extends readonly object[] = postgres.Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly unknown[]
  ): postgres.PendingQuery<T & postgres.Row[]>;
  /** The names of columns or of a table; or a row with these columns, after `insert into`. */
  (names: string | readonly string[]): postgres.Helper<string[]>;
  (row: object, columns: readonly string[]): postgres.Helper<object>;
  /** A value that travels as `jsonb`. */
  json(value: unknown): postgres.Parameter;
  /** A statement out of a file of `sql/`, or a part of one; never text of anyone else. */
  unsafe(text: string): Statement;
}

declare const transactional: unique symbol;

/** The same inside a transaction: functions that need one say so by this type. */
export interface Tx extends Sql {
  readonly [transactional]: true;
}

/** A statement that is not sent yet. */
export type Statement<T extends object = postgres.Row> = postgres.PendingQuery<
  T[]
>;

/**
 * A part of statements that is always the same text: made once, for to make it
 * costs as much as to send what it is part of.
 */
export function constant<Part>(make: (sql: Sql) => Part): (sql: Sql) => Part {
  let made: Part | undefined;
  return (sql) => made ??= make(sql);
}

/** Parts of a list as they stand in a statement, such as the names of columns, with a comma between them. */
export function names(...parts: string[]): (sql: Sql) => Statement {
  return constant((sql) => sql.unsafe(parts.join(", ")));
}

/** A statement that must find exactly so many rows. */
export interface Exact {
  statement: Statement;
  rows: number;
}

/**
 * Sends the statements of a transaction in one go, and gives the last one's
 * rows. They run in their order, and the first that fails is what it throws:
 * `RowsMissing` where one found fewer rows than it must.
 */
export async function pipelined<T extends object>(
  statements: readonly [...(Statement | Exact)[], Statement<T>],
): Promise<T[]> {
  // All of them, for what comes after a failure fails too, and may be heard of first.
  const results = await Promise.allSettled(
    statements.map((statement) =>
      "rows" in statement ? exactly(statement) : statement.execute()
    ),
  );
  const failed = results.find(({ status }) => status === "rejected");
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return (results.at(-1) as PromiseFulfilledResult<unknown>).value as T[];
}

async function exactly({ statement, rows }: Exact) {
  const result = await statement.execute();
  if (result.count !== rows) throw new RowsMissing();
  return result;
}

/**
 * Has the statement planned for its own values each time. The tag has no option
 * for it.
 */
export function unprepared<S extends object>(statement: S): S {
  const { options } = statement as unknown as { options: object };
  Object.assign(options, { prepare: false });
  return statement;
}
