import type { Config } from "../../schema/config.ts";
import { connectionAdvice } from "../connections/advice.ts";
import type { Tx } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";
import { miscounted } from "../products/recount.ts";
import { splitStatements } from "../split_statements.ts";
import { DOCTOR_CHECKS, readSqlFile } from "../sql_files.ts";

/** What a check found, and what to do when it is not in order. */
export interface Finding {
  ok: boolean;
  finding: string;
  advice?: string | undefined;
}

export function ok(finding: string): Finding {
  return { ok: true, finding };
}

export function wrong(finding: string, advice?: string): Finding {
  return { ok: false, finding, advice };
}

/** By subject: the fact that sql/doctor.sql asks of the service; nothing where a check does not apply. */
const FACTS: Record<string, (sql: Tx, config: Config) => unknown> = {
  database: async (sql) => {
    const start = performance.now();
    await sql`select`;
    return Math.ceil(performance.now() - start);
  },
  "time-outs": (_, { database }) => database.prepare,
  migrations: async (sql) => {
    const { length, 0: first } = await pendingMigrations(sql);
    return length > 0 ? `${length} are pending, the first is ${first}` : "";
  },
  counters: async (sql) => {
    const ids = await miscounted(sql);
    const more = ids.length > 3 ? `, and ${ids.length - 3} more` : "";
    return ids.slice(0, 3).join(", ") + more;
  },
  keys: (_, { token }) => token !== undefined,
  distribution: async (sql, { replica }) => {
    const [citus] = await sql`select to_regclass('pg_dist_shard') as shards`;
    return citus!.shards ? replica !== undefined : undefined;
  },
};

/** Where one of these is wrong, the checks after it cannot run. */
const REQUIRED = ["database", "extensions", "migrations"];

/** Runs the checks of sql/doctor.sql in their order, and gives their findings by subject. */
export async function examine(database: Operations, config: Config) {
  const findings: Record<string, Finding> = {};
  const { text } = await readSqlFile(DOCTOR_CHECKS);
  for (const statement of splitStatements(text)) {
    const subject = /^-- ([\w -]+)$/m.exec(statement)![1]!;
    const fact = FACTS[subject] ?? (() => "");
    findings[subject] = await database.transaction(async (sql) => {
      await sql`set local statement_timeout = 0`;
      return await check(sql, statement, await fact(sql, config));
    }).catch((error) => wrong(error.message, connectionAdvice(error)));
    if (!findings[subject].ok && REQUIRED.includes(subject)) break;
  }
  return findings;
}

async function check(sql: Tx, statement: string, fact: unknown) {
  if (fact === undefined) return ok("One node");
  await sql`select set_config('doctor.fact', ${String(fact)}, true)`;
  const [row] = await sql.unsafe(statement);
  return row!.wrong ? wrong(row!.wrong, row!.advice) : ok(row!.fine);
}
