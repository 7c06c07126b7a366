import type { Operation, Pool } from "./pool.ts";
import { sql } from "./sql.ts";

const distribution = sql<{ is_distributed: boolean }>`
  select to_regclass('pg_dist_partition') is not null as is_distributed
`;

/** Finds out once whether Citus distributes the database. */
export class Distribution {
  readonly #pool: Pool;
  #isDistributed: boolean | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async find(operation: Operation): Promise<boolean> {
    this.#isDistributed ??= await this.#ask(operation);
    return this.#isDistributed;
  }

  async #ask(operation: Operation): Promise<boolean> {
    const [row] = await this.#pool.operate(
      operation,
      ({ connection }) => connection.read(distribution),
    );
    return row!.is_distributed;
  }
}
