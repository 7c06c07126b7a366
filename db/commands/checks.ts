import type { Config } from "../../schema/config.ts";
import { connectionAdvice } from "../connections/errors.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import { noTimeLimits } from "../connections/transaction.ts";
import { type Queries, readiness } from "../database.ts";
import { pendingMigrations } from "../migrate.ts";
import { isAtOrigin } from "../origin.ts";
import { miscounted } from "../products/counts.ts";
import { splitStatements } from "../split_statements.ts";
import { DOCTOR_CHECKS, readSqlFile } from "../sql_files.ts";

/** The result of a check, with advice if something is wrong. */
export interface Finding {
  ok: boolean;
  finding: string;
  advice?: string;
}

export function ok(finding: string): Finding {
  return { ok: true, finding };
}

export function wrong(finding: string, advice?: string): Finding {
  return { ok: false, finding, advice };
}

type Fact = string | number | boolean;

/** The value of `doctor.fact` for each check, or the finding of a check that does not apply. */
const FACTS: Record<
  string,
  (
    database: Queries,
    config: Config,
  ) => Finding | Fact | Promise<Finding | Fact>
> = {
  database: async (database) => {
    const start = performance.now();
    await database.lookUp(readiness);
    return Math.ceil(performance.now() - start);
  },
  "time-outs": (_, { database }) => database.prepare,
  migrations: async (database) => {
    const { length, 0: first } = await pendingMigrations(database);
    return length > 0 ? `${length} are pending, the first is ${first}` : "";
  },
  counters: async (database) => {
    const [rows] = await database.transaction(async (tx) => {
      await tx.send(...noTimeLimits);
      return await tx.commit(miscounted);
    });
    const ids = rows.map(({ organization_id }) => organization_id);
    const more = ids.length > 3 ? `, and ${ids.length - 3} more` : "";
    return ids.slice(0, 3).join(", ") + more;
  },
  changes: isAtOrigin,
  keys: (_, { token }) => token !== undefined,
  distribution: async (database, { replica }) => {
    const [citus] = await database.lookUp(
      sql<{ shards?: string }>`select to_regclass('pg_dist_shard') as shards`,
    );
    return citus!.shards ? replica !== undefined : ok("One node");
  },
};

/** Runs the checks of sql/doctor.sql in order, and returns their findings by name. */
export async function examine(database: Queries, config: Config) {
  async function check(subject: string, statement: string): Promise<Finding> {
    const fact = await (FACTS[subject] ?? (() => ""))(database, config);
    if (typeof fact === "object") return fact;
    const [, [row]] = await database.transaction(async (tx) => {
      await tx.send(...noTimeLimits);
      return await tx.commit(
        sql`select set_config('doctor.fact', ${String(fact)}, true)`,
        raw(statement) as Statement<
          { wrong: string | null; advice: string; fine: string }
        >,
      );
    });
    return row!.wrong ? wrong(row!.wrong, row!.advice) : ok(row!.fine);
  }

  const findings: Record<string, Finding> = {};
  const { text } = await readSqlFile(DOCTOR_CHECKS);
  for (const statement of splitStatements(text)) {
    const subject = /^-- ([\w -]+)$/m.exec(statement)![1]!;
    const finding = await check(subject, statement)
      .catch((error) => wrong(error.message, connectionAdvice(error)));
    findings[subject] = finding;
    // The later checks depend on these.
    if (!finding.ok && /^(database|extensions|migrations)$/.test(subject)) {
      break;
    }
  }
  return findings;
}
