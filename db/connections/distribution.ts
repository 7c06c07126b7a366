import type { Operation, Pool } from "./pool.ts";
import { sql } from "./sql.ts";

/** The extension alone distributes nothing. `sql/citus.sql` creates this domain. */
const distribution = sql<{ is_distributed: boolean }>`
  select to_regtype('product_json') is not null as is_distributed
`;

/** Finds out once whether Citus distributes the database. */
export class Distribution {
  readonly #pool: Pool;
  #isDistributed: boolean | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async find(operation: Operation): Promise<boolean> {
    if (this.#isDistributed === undefined) {
      const [row] = await this.#pool.operate(
        operation,
        ({ connection }) => connection.read(distribution),
      );
      this.#isDistributed = row!.is_distributed;
    }
    return this.#isDistributed;
  }
}
