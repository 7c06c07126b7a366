import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { withDeadline } from "../../db/connections/deadline.ts";
import { hostOf } from "../../schema/targets.ts";

/**
 * Look-ups at once. Each holds one of the 32 threads of Deno on which connections of the
 * database and signatures of tokens depend, too. It holds it until the system's resolver
 * gives up, which takes longer than an attempt if the servers of the name are silent.
 */
const AT_ONCE = { process: 20, organization: 4 };

/** A look-up that waits for others. */
interface Waiting {
  organizationId: string;
  /** In milliseconds of `performance.now()`. After that, nobody wants the addresses. */
  deadline: number;
  begin: () => void;
}

/** Resolves the names of receivers, a few at once. */
export class NameResolver {
  readonly #lookUp: (host: string) => Promise<LookupAddress[]>;
  /** The number of look-ups that have not returned, by organization. */
  readonly #running = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  constructor(lookUp = (host: string) => lookup(host, { all: true })) {
    this.#lookUp = lookUp;
  }

  /**
   * The addresses of the URL's host. Throws if its name does not resolve until
   * `deadline`, in milliseconds of `performance.now()`.
   */
  async resolve(
    organizationId: string,
    url: URL,
    deadline: number,
  ): Promise<LookupAddress[]> {
    const host = hostOf(url);
    const family = isIP(host);
    if (family > 0) return [{ address: host, family }];
    const addresses = new Promise<LookupAddress[]>((resolve) => {
      const begin = () => resolve(this.#run(organizationId, host));
      this.#waiting.push({ organizationId, deadline, begin });
      this.#beginNext();
    });
    return await withDeadline(
      deadline,
      addresses,
      () => new Error("The name has not been resolved in time"),
    );
  }

  async #run(organizationId: string, host: string): Promise<LookupAddress[]> {
    try {
      return await this.#lookUp(host);
    } finally {
      this.#count(organizationId, -1);
      this.#beginNext();
    }
  }

  /** Begins look-ups while there is room, that of the organization with the fewest first. */
  #beginNext(): void {
    const runningOf = ({ organizationId }: Waiting) =>
      this.#running.get(organizationId) ?? 0;
    const now = performance.now();
    this.#waiting = this.#waiting.filter(({ deadline }) => deadline > now);
    while (this.#total < AT_ONCE.process) {
      const next = this.#waiting
        .filter((waiting) => runningOf(waiting) < AT_ONCE.organization)
        .reduce<Waiting | undefined>(
          (least, waiting) =>
            least && runningOf(least) <= runningOf(waiting) ? least : waiting,
          undefined,
        );
      if (!next) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#count(next.organizationId, 1);
      next.begin();
    }
  }

  #count(organizationId: string, change: number): void {
    const running = (this.#running.get(organizationId) ?? 0) + change;
    if (running > 0) this.#running.set(organizationId, running);
    else this.#running.delete(organizationId);
    this.#total += change;
  }
}
