import type { Driver } from "./driver.ts";
import { Json } from "./sql.ts";

/** Sends a text to the server, as a simple query unless it has `parameters`. */
type Execute = <Result>(
  text: string,
  parameters?: readonly unknown[],
  prepare?: boolean,
) => Promise<Result>;

/** A query of postgres.js 3.4.9, with the fields that differ from its defaults. */
interface Query {
  strings: readonly [string];
  args: readonly unknown[];
  options: { prepare: boolean; simple: boolean };
  /** Whether the values of the reply are bytes. */
  isRaw: true;
  /** For the stack of an error. By default, the driver keeps the text of every failed query. */
  origin: "";
  resolve(reply: unknown): void;
  reject(error: unknown): void;
  /** Sends the query. */
  handler(query: Query): void;
}

/**
 * Returns the function that sends queries through a driver. Each query inherits from
 * one that is never sent, so that no constructor runs. V8 would allocate the functions
 * that the constructor assigns to fields in the old generation, and they would keep the
 * query, its parameters and its reply in memory until a full garbage collection.
 */
export function executor(driver: Driver): Execute {
  const defaults = driver.unsafe("") as unknown as Query;
  const { handler } = defaults;
  return (text, parameters, prepare = false) =>
    new Promise((resolve, reject) => {
      const args = parameters?.map((value) =>
        value instanceof Json ? driver.json(value.value as never) : value
      ) ?? [];
      handler({
        __proto__: defaults,
        strings: [text],
        args,
        options: { prepare, simple: !parameters },
        isRaw: true,
        origin: "",
        resolve,
        reject,
      } as unknown as Query);
    });
}
