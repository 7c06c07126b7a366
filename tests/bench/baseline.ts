import type { Sent } from "./wiretap.ts";

/** The script that pgbench runs instead of a request. */
export interface Baseline {
  script: string;
  /** The values of the script's variables. `number` differs for each transaction. */
  variables: Record<string, string>;
  /** Whether the statements are prepared, as in the service. */
  prepared: boolean;
}

/** A recorded request. */
export interface Example {
  /** The statements that the service sent. */
  sent: Sent[];
  /** The number in the request's ids. Other requests have other numbers. */
  number: number;
  /** The id of the created product. */
  created?: string | undefined;
}

/** Assigns a variable name to each value in a script. */
export class Variables {
  readonly #names = new Map<string, string>();

  nameOf(value: string): string {
    const name = this.#names.get(value) ?? `v${this.#names.size}`;
    this.#names.set(value, name);
    return name;
  }

  get values(): Record<string, string> {
    return Object.fromEntries(
      [...this.#names].map(([value, name]) => [name, value]),
    );
  }
}

/** The text with each parameter replaced, by its index. */
export function withParameters(
  text: string,
  replace: (index: number) => string,
) {
  return text.replace(/\$(\d+)/g, (_, number) => replace(number - 1));
}
