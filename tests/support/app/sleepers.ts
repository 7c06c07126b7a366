import { raw, sql } from "../../../db/connections/sql.ts";
import type { Database } from "../../../db/database.ts";
import { eventually } from "./eventually.ts";
import { SETTINGS } from "./harness.ts";

/** As many sleeping operations as the pool has connections. */
export interface Sleepers {
  /** Whether one has ended. */
  readonly isOver: boolean;
  /** Ends them all. */
  end(): Promise<void>;
}

/**
 * Fills the pool of the database with operations, each of another organization, that sleep until
 * they are ended. The embedded database runs one after the other, so there each is short.
 */
export function startSleepers(database: Database): Sleepers {
  const text = `select pg_sleep(${SETTINGS.url ? 600 : 0.2}) /* ${crypto.randomUUID()} */`;
  const operations = (name: string) =>
    database.for({
      deadline: performance.now() + 600_000,
      caller: { organizationId: name, name },
    });
  let over = 0;
  for (let i = 0; i < SETTINGS.poolSize; i++) {
    const slept = Promise.resolve(operations(`${i}`).scan(sql`${raw(text)}`));
    slept.catch(() => {}).finally(() => over++);
  }
  return {
    get isOver() {
      return over > 0;
    },
    end: () =>
      eventually(SETTINGS.poolSize, async () => {
        await operations("end").lookUp(
          sql`select pg_cancel_backend(pid) from pg_stat_activity where query = ${text}`,
        );
        return over;
      }),
  };
}
