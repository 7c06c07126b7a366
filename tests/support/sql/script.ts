import { asScript } from "../../../db/connections/transaction.ts";
import { json, names, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";

type Rows<T> = T & { readonly count: number };

/** A statement that is sent when awaited, or a fragment of another statement. */
export interface Query<T extends readonly object[]> extends Statement, PromiseLike<Rows<T>> {}

/** SQL without the service: a tag whose statements are sent when awaited. */
export interface Sql {
  // deno-lint-ignore no-explicit-any
  <T extends readonly object[] = Record<string, any>[]>(
    template: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Query<T>;
  (name: string): Statement;
  /** The columns and values of a row, for `insert`. */
  (row: Readonly<Record<string, unknown>>): Statement;
  json(value: unknown): unknown;
  unsafe(text: string): Query<object[]>;
}

/** SQL of which each statement is a transaction of its own, unless `begin` runs it. */
export interface Session extends Sql {
  /** Runs the work in one transaction. */
  begin<T>(work: (sql: Sql) => T | PromiseLike<T>): Promise<Awaited<T>>;
}

/** What runs work in a transaction like an operator's, with triggers. */
type Operator = Pick<Queries, "transaction">;

/** SQL of an operator. */
export function sessionOf(operator: Operator): Session {
  const begin: Session["begin"] = (work) => script(operator, work);
  return Object.assign(
    tagOf((...statements) =>
      operator.transaction(async (tx) => {
        const results = await tx.send(...statements);
        await tx.commit();
        return results;
      }, asScript)
    ),
    { begin },
  );
}

/** Runs SQL of an operator in one transaction. */
export async function script<T>(
  operator: Operator,
  work: (sql: Sql) => T | PromiseLike<T>,
): Promise<Awaited<T>> {
  return await operator.transaction(async (tx) => {
    const result = await work(tagOf(tx.send));
    await tx.commit();
    return result;
  }, asScript);
}

type Send = Transaction["send"];

/** The tag whose statements `send` sends. */
export function tagOf(send: Send): Sql {
  function tag(
    first: TemplateStringsArray | string | Readonly<Record<string, unknown>>,
    ...values: unknown[]
  ) {
    if (typeof first === "string") return names(first);
    if (!isTemplate(first)) return rowOf(first);
    const statement = sql(first, ...values);
    return lazy(statement, async () => (await send(statement))[0]);
  }
  return Object.assign(tag, {
    json,
    unsafe: (text: string) => lazy(raw(text), async () => (await send(raw(text)))[0]),
  }) as unknown as Sql;
}

function isTemplate(given: object): given is TemplateStringsArray {
  return "raw" in given;
}

function rowOf(row: Readonly<Record<string, unknown>>): Statement {
  const values = Object.values(row).map((value, i) => i === 0 ? sql`${value}` : sql`, ${value}`);
  return sql`(${names(...Object.keys(row))}) values (${values})`;
}

function lazy(statement: Statement, send: () => Promise<unknown>) {
  const then: Promise<unknown>["then"] = (...handlers) => send().then(...handlers);
  return { ...statement, then };
}
