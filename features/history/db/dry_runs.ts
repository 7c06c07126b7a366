import { type Caller, Queue } from "../../../db/connections/queue.ts";

/*
 * Lets dry runs of restorations of one product take turns. A dry run writes the product and rolls
 * back, so it holds the lock of the product. Sixteen at once would hold as many connections, and
 * most would wait for the lock longer than the database allows. With turns they wait without a
 * connection.
 *
 *     using _ = await dryRuns.enter(organizationId + id, caller, deadline);
 */

/** The turns of dry runs, by product. */
export class DryRuns {
  readonly #queues = new Map<string, Queue>();

  /** Waits for the turn of a dry run, which its disposal ends. Throws `SERVICE_UNAVAILABLE` at the deadline. */
  async enter(product: string, caller: Caller, deadline: number): Promise<Disposable> {
    const queue = this.#queues.get(product) ?? new Queue(1, "dry run of the product", 1);
    this.#queues.set(product, queue);
    const drop = () => {
      if (queue.load.used + queue.load.waiting === 0) this.#queues.delete(product);
    };
    try {
      const permit = await queue.enter(caller, "long", deadline);
      return {
        [Symbol.dispose]() {
          permit[Symbol.dispose]();
          drop();
        },
      };
    } catch (error) {
      drop();
      throw error;
    }
  }
}
