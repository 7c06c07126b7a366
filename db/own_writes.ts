import { isUnavailable } from "./connections/queue.ts";
import type { Operations } from "./database.ts";
import { type Question, shared } from "./connections/gathering.ts";
import type { Reads } from "./replica.ts";
import type { Sql } from "./connections/sql.ts";

/*
 * Where there is a replica, a caller still reads what it has written, whichever
 * process it asks: a write is acknowledged once the primary has noted how far
 * its log was by then, and whoever may write asks for that before it reads from
 * a replica.
 */

/** Whoever asks for an organization. */
export interface Caller {
  organizationId: string;
  /** The public id of its API key, or the subject of its Bearer token. */
  name: string;
  mayWrite: boolean;
}

/**
 * The primary's operations; a transaction is noted before its caller hears that
 * it was committed. So is one of which nobody knows, where there is time.
 */
export function noting(primary: Operations, caller: Caller): Operations {
  const note = () => primary.run((sql) => noteWrite(sql, caller));
  const noted = async <T>(transaction: Promise<T>): Promise<T> => {
    const result = await transaction.catch(async (error) => {
      if (isUnavailable(error)) await note().catch(() => {});
      throw error;
    });
    await note();
    return result;
  };
  return {
    ...primary,
    write: (question) => noted(primary.write(question)),
    transaction: (work) => noted(primary.transaction(work)),
  };
}

/**
 * The same operations, but what the replica can answer is read there: where it
 * is not away, and has replayed all that the caller has written.
 */
export function replicated(
  primary: Operations,
  replica: Reads,
  caller: Caller,
): Operations {
  const through =
    (kind: keyof Reads): Operations["read"] => async (question) => {
      // Who may only read has written nothing.
      const written = caller.mayWrite
        ? await primary.lookUp(lastWrite(caller))
        : undefined;
      const found = await replica[kind](after(written, question));
      return found ? found.answer : await primary[kind](question);
    };
  return { ...primary, read: through("read"), lookUp: through("lookUp") };
}

async function noteWrite(
  sql: Sql,
  { organizationId, name }: Caller,
): Promise<void> {
  await sql`
    insert into last_writes as w (organization_id, caller, wal_position)
    values (${organizationId}, ${name}, pg_current_wal_insert_lsn())
    on conflict (organization_id, caller)
    do update set wal_position = greatest(w.wal_position, excluded.wal_position)
  `;
}

/** How far a replica must have replayed; nothing where the caller has never written. */
function lastWrite({ organizationId, name }: Caller) {
  return shared(`last write ${organizationId} ${name}`, async (sql) => {
    // A row out of another server's dump may lie in the future.
    const [write] = await sql<{ position: string }[]>`
      select least(w.wal_position, pg_current_wal_insert_lsn())::text as position
      from last_writes w
      where w.organization_id = ${organizationId} and w.caller = ${name}
    `;
    return write?.position;
  });
}

/** The question to a replica: answered by one that has replayed so much, if any is asked for. */
function after<Ask, Answer>(
  position: string | undefined,
  { topic, answer, ...question }: Question<Ask, Answer>,
): Question<Ask, { answer: Answer } | undefined> {
  return {
    ...question,
    topic: `after ${position} ${topic}`,
    answer: async (sql, asks) => {
      if (position && !await hasReplayed(sql, position)) {
        return asks.map(() => undefined);
      }
      const answers = await answer(sql, asks);
      return answers.map((answer) => ({ answer }));
    },
  };
}

async function hasReplayed(sql: Sql, position: string): Promise<boolean> {
  // A server that never was a replica has replayed nothing.
  const [row] = await sql<{ has_replayed: boolean }[]>`
    select coalesce(pg_last_wal_replay_lsn() >= ${position}::pg_lsn, false) as has_replayed
  `;
  return row!.has_replayed;
}
