import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { withDeadline } from "../../../db/connections/deadline.ts";
import { Queue } from "../../../db/connections/queue.ts";
import { hostOf } from "../../../schema/targets.ts";

/*
 * Resolves the names of hosts to which webhooks are sent. The number of look-ups at once is limited,
 * and each organization has a part of them.
 */

/**
 * The number of look-ups at once. Each holds one of the 32 threads of Deno that new connections and
 * the verification of tokens need as well. It holds it until the system's resolver gives up, which
 * takes longer than an attempt if the name servers are silent.
 */
const LOOK_UPS_AT_ONCE = 20;

/**
 * The part of the queue that one organization may have. All look-ups of an organization have the same
 * caller, who may have half of that: five.
 */
const ORGANIZATION_PART = 1 / 2;

/** Resolves the names of receivers. */
export class NameResolver {
  readonly #lookUp: (host: string) => Promise<LookupAddress[]>;
  readonly #queue = new Queue(
    LOOK_UPS_AT_ONCE,
    "name resolver",
    ORGANIZATION_PART,
  );

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
    const caller = { organizationId, name: "names" };
    const permit = await this.#queue.enter(caller, "short", deadline);
    const addresses = this.#lookUp(host)
      .finally(() => permit[Symbol.dispose]());
    const late = () => new Error("The name has not been resolved in time");
    return await withDeadline(deadline, addresses, late);
  }
}
