import type { Sql } from "./sql.ts";

/** Who is told what happens on the way to the database, and nothing of what travels there. */
export interface Watch {
  /** An operation waited so many milliseconds for a connection. */
  waited(ms: number): void;
  /** A statement such as `select products` is sent; what it returns is called when that is over. */
  sent(name: string): (error?: unknown) => void;
}

/** The same handle, but `watch` is told of its statements. */
export function watched<S extends Sql>(sql: S, watch: Watch): S {
  function tag(...call: [TemplateStringsArray | string, ...unknown[]]) {
    const [first, ...values] = call;
    const made = (sql as unknown as (...call: unknown[]) => Lazy)(...call);
    if (typeof first !== "string" && "raw" in first) {
      onSending(made, () => {
        const over = watch.sent(nameOf(first, values));
        // Not by `then` of the statement, which would send it.
        Promise.prototype.then.call(made, () => over(), over);
      });
    }
    return made;
  }
  return Object.assign(tag, {
    json: sql.json,
    unsafe: sql.unsafe,
  }) as unknown as S;
}

/** A statement of postgres.js, or a part of one: whichever is awaited is sent, by `handle`. */
interface Lazy extends Promise<unknown> {
  handle(): Promise<void>;
}

function onSending(statement: Lazy, begin: () => void): void {
  const { handle } = statement;
  statement.handle = () => {
    statement.handle = handle;
    begin();
    return statement.handle();
  };
}

/** What a statement does and to which table, by its text with the names put into it. */
function nameOf(
  strings: TemplateStringsArray,
  values: readonly unknown[],
): string {
  const text = strings.map((string, i) => string + namesIn(values[i])).join(
    " ",
  );
  const [, verb, written] =
    /^\s*(insert|update|delete)\s+(?:(?:into|from)\s+)?(\w+)/.exec(text) ?? [];
  if (verb) return `${verb} ${written}`;
  const own = Array.from(
    text.matchAll(/(\w+)(?: \([\w, ]+\))? as (?:materialized )?\(/g),
    ([, name]) => name,
  );
  const read = Array.from(
    text.matchAll(/\bfrom (\w+)(?!\w*\()/g),
    ([, name]) => name,
  )
    .find((name) => !own.includes(name));
  return read ? `select ${read}` : "select";
}

/** The text of a part that is names and nothing else. */
function namesIn(value: unknown): string {
  const { strings, tagged } = Object(value) as {
    strings?: string[];
    tagged?: boolean;
  };
  return strings && !tagged ? strings[0]! : "";
}
