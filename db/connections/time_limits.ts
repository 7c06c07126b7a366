import { sql, type Statement } from "./sql.ts";

/** Removes the time limits of a transaction. `transaction_timeout` is new in PostgreSQL 17. */
export const noTimeLimits: readonly Statement[] = [
  sql`set local statement_timeout = 0`,
  sql`set local lock_timeout = 0`,
  sql`
    select set_config(s.name, '0', true)
    from pg_settings s
    where s.name = 'transaction_timeout'
  `,
];
