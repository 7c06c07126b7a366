import type { Sent } from "./wiretap.ts";

/** What pgbench runs in place of a request. */
export interface Baseline {
  script: string;
  /** The values of the script's variables; `number` is another each time. */
  variables: Record<string, string>;
  /** Whether its statements are planned once, as the service has them planned. */
  prepared: boolean;
}

/** A request that was watched. */
export interface Example {
  /** What the service sent to the database. */
  sent: Sent[];
  /** What is a number in its ids is another number in those of the next request. */
  number: number;
  /** The id of what it created. */
  created?: string | undefined;
}

/** Gives each value that a script sends a name. */
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

/** The text with something else in place of each parameter, by its index. */
export function withParameters(
  text: string,
  replace: (index: number) => string,
) {
  return text.replace(/\$(\d+)/g, (_, number) => replace(number - 1));
}
